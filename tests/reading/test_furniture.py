"""Running headers, footers and page numbers, and what is none."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading.furniture import recurring_lines, running_lines
from proviso_service.reading.model import ReadingLimits
from proviso_service.reading.plain import parse_plain

_BODY = ["The seller shall deliver", "the goods of the day", "at the door of the buyer", "and no other place,"]


def _body(page: int) -> list[str]:
    """Lines that do not repeat from page to page."""
    return [f"{line} {'abcdefghijklmnopqrstuvwxyz'[page % 26] * 3}" for line in _BODY * 2]


def _running(line: Callable[[int], str], pages: int = 6, *, at_foot: bool = True) -> set[str]:
    """What is recognised of a document with one line more on each page."""
    lines = [[*_body(page), line(page)] if at_foot else [line(page), *_body(page)] for page in range(1, pages + 1)]
    return {lines[page][index] for page, index in running_lines(lines)}


@pytest.mark.parametrize("at_foot", [True, False])
@pytest.mark.parametrize(
    "line",
    [
        lambda page: "Northwind Lease",
        lambda page: f"- {page + 7} -",
        lambda page: f"{page}",
        lambda page: f"Page {page} of 6",
        lambda page: f"A-{page}",
        lambda page: ["", "i", "ii", "iii", "iv", "v", "vi"][page],
        lambda page: f"Northwind Lease {page} (draft of 3 May 2020)",
        lambda page: "Source: NORTHWIND INC., 10-K, 3/2/2020",
        lambda page: "Left header" if page % 2 else "Right header",
    ],
)
def test_lines_at_the_edges_of_pages_that_come_back_are_furniture(line: Callable[[int], str], at_foot: bool) -> None:
    assert _running(line, at_foot=at_foot) == {line(page) for page in range(1, 7)}


@pytest.mark.parametrize(
    "line",
    [
        lambda page: f"{page}.",
        lambda page: f"4.{page}",
        lambda page: f"{page}. Definitions",
        lambda page: f"SCHEDULE {page}",
        lambda page: f"Article {page}",
        lambda page: f"USD {page * 31} USD {page * 17}",
        lambda page: f"{page * 31}",
        lambda page: "Signed by:",
        lambda page: "[***]",
        lambda page: "------",
        lambda page: f"{'words that differ ' * page}",
    ],
)
def test_other_lines_at_the_edges_of_pages_are_text(line: Callable[[int], str]) -> None:
    assert _running(line) == set()


def test_two_pages_are_not_enough() -> None:
    assert _running(lambda page: "Northwind Lease", pages=2) == set()


def test_what_returns_in_the_middle_of_pages_is_text() -> None:
    pages = [[*_body(page), "Northwind Lease", *_body(page + 7)] for page in range(1, 7)]
    assert running_lines(pages) == frozenset()


def _unpaged(*lines: Callable[[int], str], pages: int = 8, page_lines: int = 10) -> set[str]:
    """What is recognised of a text without page breaks, with lines more after each 1,200 characters."""
    text: list[str] = []
    for page in range(1, pages + 1):
        word = "abcdefghijklmnopqrstuvwxyz"[page] * 2
        text += [f"The {line}{word} of it {'word ' * 24}and" for line in "abcdefghijklmnop"[:page_lines]]
        text += [line(page) for line in lines]
        text += [f"goes on with the {word} of the agreement."]
    return {text[index] for index in recurring_lines(text)}


def test_page_numbers_that_count_up_are_furniture_without_page_breaks_too() -> None:
    assert _unpaged(lambda page: f"- {page + 3} -") == {f"- {page + 3} -" for page in range(1, 9)}


def test_lines_beside_page_numbers_are_furniture() -> None:
    found = _unpaged(str, lambda page: "Source: NORTHWIND, 10-K, 3/2/2020")
    assert found == {"Source: NORTHWIND, 10-K, 3/2/2020", *map(str, range(1, 9))}


def test_lines_that_come_back_regularly_and_interrupt_sentences_are_furniture() -> None:
    assert _unpaged(lambda page: "Source: NORTHWIND, 10-K, 3/2/2020") == {"Source: NORTHWIND, 10-K, 3/2/2020"}


@pytest.mark.parametrize(
    "line",
    [
        lambda page: f"{page}.",
        lambda page: f"SCHEDULE {page}",
        lambda page: f"{page * 13}",
        lambda page: f"Rent of year {page}",
    ],
)
def test_other_lines_of_a_text_without_pages_are_text(line: Callable[[int], str]) -> None:
    assert _unpaged(line) == set()


def test_numbers_closer_than_pages_are_text() -> None:
    assert _unpaged(str, page_lines=2) == set()


def test_forms_that_repeat_are_text() -> None:
    """Their lines come back regularly, but between finished sentences."""
    form = [
        *(f"Sentence {number} of the form." + " It ends." * 8 for number in range(12)),
        "Very truly yours,",
        "Acme.",
    ]
    assert recurring_lines(form * 6) == frozenset()


def test_running_lines_of_a_text_are_its_furniture_and_no_headings() -> None:
    pages = [f"NORTHWIND LEASE\n\n{' '.join(_body(page))}\n\n Page {page} \n" for page in range(1, 6)]
    parsed = parse_plain("\f".join(pages).encode(), ReadingLimits())
    assert [parsed.text[span.start : span.end] for span in parsed.furniture] == [
        words for page in range(1, 6) for words in ("NORTHWIND LEASE", f"Page {page}")
    ]
    assert parsed.headings == ()


@given(
    st.lists(st.lists(st.sampled_from(["1", "2", "- 3 -", "Page 4", "header", "", "  ", "i", "4.", "x:"])), max_size=9)
)
def test_any_pages_are_read(pages: list[list[str]]) -> None:
    for page, index in running_lines(pages):
        assert pages[page][index].strip()
    lines = [line for page in pages for line in page if line.strip()]
    assert all(0 <= index < len(lines) for index in recurring_lines(lines))


@pytest.mark.parametrize("line", ["1", "Page 1", "THE TERM", "1. A", "i", "x y z", "Source: A, 1", "#"])
def test_time_does_not_explode_on_repetition(line: str) -> None:
    lines = [line] * 25_000
    started = time.process_time()
    recurring_lines(lines)
    running_lines([lines[:20]] * 1_250)
    assert time.process_time() - started < 2
