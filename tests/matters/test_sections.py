"""Sections of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.matters.document_text import find_heading, nearest_titles, section_of
from proviso_service.matters.model import Outline
from proviso_service.reading.model import Heading, PageSpan, Span

TITLES = [
    (1, "Master Services Agreement"),
    (2, "1. Definitions"),
    (2, "2. Fees and Payment:"),
    (3, "2.1 Fees"),
    (3, "2.2. Late Payment"),
    (2, "ARTICLE IV - GOVERNING LAW"),
    (2, "Schedule 2 – Prices"),
    (3, "1. Definitions"),
    (2, "Exhibit A"),
]
HEADINGS = [Heading(level, title, n * 100, n * 100 + len(title)) for n, (level, title) in enumerate(TITLES)]


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        ("  fees AND\npayment", 2),
        ("2. Fees and Payment", 2),
        ("Definitions", 1),
        ("1. definitions.", 1),
        ("2.1", 3),
        ("clause 2.2", 4),
        ("section 2", 2),
        ("Article IV", 5),
        ("article 4", 5),
        ("clause IV", 5),
        ("Schedule 2", 6),
        ("EXHIBIT A", 8),
        ("late", 4),
        ("governing law", 5),
        ("master services", 0),
        ("payment", None),
        ("Schedule 1", None),
        ("clause 9", None),
        ("termination", None),
        (" . ", None),
    ],
)
def test_a_heading_is_found_by_title_number_or_part(wanted: str, index: int | None) -> None:
    assert find_heading(HEADINGS, wanted) == (None if index is None else HEADINGS[index])


def test_the_nearest_titles_are_those_that_read_alike() -> None:
    assert nearest_titles(HEADINGS, "fee payments")[0] == "2. Fees and Payment:"
    assert nearest_titles(HEADINGS, "late paymants")[0] == "2.2. Late Payment"
    assert nearest_titles(HEADINGS, "ω") == []


def test_a_section_reaches_to_the_next_heading_of_its_level_or_above() -> None:
    assert section_of(HEADINGS, HEADINGS[2], 1_000) == Span(200, 500)
    assert section_of(HEADINGS, HEADINGS[3], 1_000) == Span(300, 400)
    assert section_of(HEADINGS, HEADINGS[0], 1_000) == Span(0, 1_000)
    assert section_of(HEADINGS, HEADINGS[8], 1_000) == Span(800, 1_000)


@pytest.mark.parametrize(
    ("position", "path"),
    [
        (0, ("Master Services Agreement",)),
        (300, ("Master Services Agreement", "2. Fees and Payment:", "2.1 Fees")),
        (599, ("Master Services Agreement", "ARTICLE IV - GOVERNING LAW")),
    ],
)
def test_the_path_is_that_of_the_headings_above(position: int, path: tuple[str, ...]) -> None:
    assert Outline(HEADINGS).path_at(position) == path


def test_a_position_is_on_the_page_that_holds_it() -> None:
    pages = [PageSpan(1, 0, 10), PageSpan(3, 10, 20)]
    assert [Outline(pages=pages).page_at(position) for position in (0, 9, 10, 19, 25)] == [1, 1, 3, 3, 3]
    assert Outline().page_at(5) == 0


@given(st.lists(st.text(max_size=30), max_size=20), st.text(max_size=30))
def test_any_titles_and_any_wish_have_an_answer(titles: list[str], wanted: str) -> None:
    headings = [Heading(1 + n % 3, title, n, n) for n, title in enumerate(titles)]
    found = find_heading(headings, wanted)
    assert found is None or found in headings
    assert set(nearest_titles(headings, wanted)) <= set(titles)
