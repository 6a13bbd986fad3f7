"""Headings and pages of plain text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading.model import PageSpan, ReadingLimits
from proviso_service.reading.plain import parse_plain


def _headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in parse_plain(text.encode(), ReadingLimits()).headings]


def test_articles_and_their_clauses_nest() -> None:
    text = (
        "ARTICLE IV\n\nTerm and Termination\n\n"
        "4.1 Term. This Agreement begins today.\n"
        "4.2 Termination for Cause. Either party may terminate it.\n\n"
        "ARTICLE V. NOTICES\n\nNotices are given in writing.\n"
    )
    assert _headings(text) == [
        (1, "ARTICLE IV Term and Termination"),
        (4, "4.1 Term"),
        (4, "4.2 Termination for Cause"),
        (1, "ARTICLE V. NOTICES"),
    ]


def test_numbered_clauses_are_found_on_their_line_and_run_into_their_text() -> None:
    text = "1.   Definitions\n\nIn this Agreement:\n\n2. Fees and Payment. The fee is USD 5. 3. Taxes. None.\n"
    assert _headings(text) == [(3, "1. Definitions"), (3, "2. Fees and Payment"), (3, "3. Taxes")]


def test_a_title_in_capitals_ends_where_its_line_was_lost() -> None:
    text = "They agree. ARTICLE V  FEES AND TERM     I As consideration for it, they pay.\n"
    assert _headings(text) == [(1, "ARTICLE V FEES AND TERM")]


def test_lines_in_capitals_are_headings_after_a_blank_line() -> None:
    text = "SERVICES AGREEMENT\n\nBetween A and B.\n\nGOVERNING LAW.\nThe laws of Oregon.\n"
    assert _headings(text) == [(2, "SERVICES AGREEMENT"), (2, "GOVERNING LAW")]


def test_exhibits_and_sections_are_labelled_headings() -> None:
    text = "SECTION 2.1 Rent\n\nUSD 5.\n\nExhibit A: Scope of Work\n\nPainting.\n"
    assert _headings(text) == [(3, "SECTION 2.1 Rent"), (1, "Exhibit A: Scope of Work")]


@pytest.mark.parametrize(
    "text",
    [
        "2 January is a holiday.",
        "10 Business Days after the notice",
        "Section 5 of this Agreement applies.",
        "section 5. This applies.",
        "1. The Company shall deliver the goods.",
        "pursuant to\nSection 2.1 and the laws of Oregon",
        "WHEREAS, THE PARTIES AGREE,\n",
        "the following.\nTHIS IS THE SECOND LINE OF A PARAGRAPH",
        "THE SERVICES ARE PROVIDED AS IS\nWITHOUT WARRANTY OF ANY KIND\n",
        "ACME ROBOTICS, INC.\n",
        "2. Mr. Smith is the director.",
        "DEFINITIONS AND TERMS 12\n",
    ],
)
def test_sentences_and_lists_are_not_taken_for_headings(text: str) -> None:
    assert _headings(text) == []


def test_a_line_on_every_page_is_no_heading() -> None:
    assert _headings("\n\nNORTHWIND LEASE\n\nText.\n\f" * 3) == []


def test_a_clause_is_never_put_under_a_number_that_is_not_its_own() -> None:
    text = "3. Delivery\n\nAt the door.\n\n4.1 Fees. Due at once.\n\n4.2 Taxes. None.\n\n5. Notices\n\nIn writing.\n"
    assert _headings(text) == [(3, "3. Delivery"), (3, "4.1 Fees"), (3, "4.2 Taxes"), (3, "5. Notices")]


def test_form_feeds_divide_pages_that_cover_the_text() -> None:
    parsed = parse_plain(b"one\ftwo\f\fthree", ReadingLimits())
    assert parsed.pages == (PageSpan(1, 0, 4), PageSpan(2, 4, 8), PageSpan(3, 8, 9), PageSpan(4, 9, 14))
    assert parse_plain(b"no pages", ReadingLimits()).pages == ()


_PIECES = [
    "ARTICLE ",
    "IV",
    "1.",
    "2.3 ",
    "Governing",
    " Law",
    ".",
    " ",
    "\n",
    "\f",
    "THE TERM",
    "\u2019",
    '"',
    ":",
    "x",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=60).map("".join))
def test_headings_are_in_order_and_stand_in_the_text(text: str) -> None:
    parsed = parse_plain(text.encode(), ReadingLimits())
    end = 0
    for heading in parsed.headings:
        assert end <= heading.start < heading.end <= len(parsed.text)
        words = " ".join(parsed.text[heading.start : heading.end].split())
        assert words.startswith(heading.title)
        end = heading.end


@pytest.mark.parametrize("unit", ["1. A ", "ARTICLE I ", "1.1 A B. ", " ", ". ", "A. B. ", "WORD ", "\n "])
def test_time_does_not_explode_on_repetition(unit: str) -> None:
    started = time.process_time()
    parse_plain((unit * (400_000 // len(unit))).encode(), ReadingLimits())
    assert time.process_time() - started < 5
