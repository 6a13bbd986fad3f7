"""Numbered clauses without a title in the outline of a text, and what is none."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading.formats import read_document
from proviso_service.reading.model import Heading, ReadDocument, ReadingLimits
from proviso_service.reading.plain import parse_plain
from proviso_service.reading.untitled import complete_with_clauses


def _read(text: str) -> ReadDocument:
    return read_document("text/plain", text.encode(), ReadingLimits())


def _outline(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in _completed(text)]


def _completed(text: str) -> tuple[Heading, ...]:
    parsed = parse_plain(text.encode(), ReadingLimits())
    return complete_with_clauses(parsed.text, parsed.headings, parsed.furniture)


def test_a_clause_without_a_title_stands_beside_its_siblings_under_its_parent() -> None:
    text = (
        "12. General\n\n12.1 Notices. In writing.\n\n12.2 This Agreement is governed by the laws of Oregon.\n\n"
        "12.2.1 The courts of Portland decide.\n\n13. In the event of a dispute the parties meet.\n\n"
        "13.1 They meet in Portland.\n"
    )
    assert _outline(text) == [
        (3, "12. General"),
        (4, "12.1 Notices"),
        (4, "12.2"),
        (5, "12.2.1"),
        (3, "13"),
        (4, "13.1"),
    ]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("1.1 The first ends. 1.2 The second begins in the same line.", ["1.1", "1.2"]),
        ("Section 1. The parties agree.\n\nSection 2. They do so again.", ["Section 1", "Section 2"]),
        ("1. Taxes 1.1 The taxes are paid. 1.2 They are paid late.", ["1. Taxes", "1.1", "1.2"]),
        ("**1.** The party pays.\n\n**2.** It pays again.", ["1", "2"]),
        ("3.0 Fees\n\n3.1 The fee is due.\n\n3.2 It is due at once.", ["3.0 Fees", "3.1", "3.2"]),
        ("7.1 The goods; and\n7.2 The services.", ["7.1", "7.2"]),
        ("A foot of a page 44 9.4 Foo", []),
    ],
)
def test_numbers_open_clauses_where_a_line_or_a_sentence_begins(text: str, titles: list[str]) -> None:
    assert [title for _, title in _outline(text)] == titles


@pytest.mark.parametrize(
    "text",
    [
        "The fee is set out in\nSection 12.3 The parties know it.",
        "It is due under clauses\n4.1 and 4.2. They are long.",
        "The price is USD\n2.5 Million of the currency.",
        "It began on 12.05.2019 The parties met.",
        "They met at 9.30 Mondays.",
        "A rate of\n\n0.5 The lowest one",
        "See page 12. 14 The rest.",
        "1.1 Definitions ........ 4\n1.2 Interpretation ........ 5\n",
        "12.5% Notes of the Company",
    ],
)
def test_references_amounts_dates_and_contents_open_none(text: str) -> None:
    assert _outline(text) == []


def test_items_of_a_list_inside_a_clause_are_no_clauses() -> None:
    text = (
        "1. The Supplier shall deliver these goods:\n\n1. Engines\n\n2. Wheels and tyres of all sizes\n\n"
        "3. The papers that go with them\n\n2. The Buyer pays for them.\n\n2.1 It pays in time for:\n1. The goods\n"
        "2. The services\n\n3. Both keep this to themselves.\n"
    )
    assert [title for _, title in _outline(text)] == ["1", "2", "2.1", "3"]


def test_the_numbering_begins_anew_in_a_schedule() -> None:
    text = "1. The only clause of all.\n\nSCHEDULE 1\n\n1. The price is USD 5.\n\n2. It rises each year.\n"
    assert _outline(text) == [(3, "1"), (1, "SCHEDULE 1"), (3, "1"), (3, "2")]


@pytest.mark.parametrize(
    ("opening", "title"),
    [
        ("SCHEDULE A     1. The Supplier delivers.", "SCHEDULE A"),
        ("Exhibit B The services that the Supplier provides.", "Exhibit B"),
        ("Schedule 1.1(e)\n\nThe words mean this.", "Schedule 1.1(e)"),
        ("Appendix \u201cA\u201d\nTERMS OF USE", "Appendix A TERMS OF USE"),
    ],
)
def test_an_annex_begins_where_its_label_opens_a_line(opening: str, title: str) -> None:
    text = f"8. General\n\n8.1 The parties have signed.\n\n5\n\n\n\n{opening}\n\n1. The first of them.\n"
    assert title in [title for level, title in _outline(text) if level == 1]


@pytest.mark.parametrize(
    "text",
    [
        "8.1 The goods are those of\n\nExhibit A The parties know them.",
        "8.1 The exhibits are these:\n\nExhibit A Prices Exhibit B Places of delivery",
        "8.1 These go on:\n\nSchedule B (records);\n\nSchedule C to the end.",
        "The prices of\nSchedule B The parties know them.",
    ],
)
def test_a_reference_to_an_annex_and_a_list_of_them_begin_none(text: str) -> None:
    assert [title for level, title in _outline(text) if level == 1] == []


def test_a_number_alone_in_its_line_opens_the_clause_that_comes_next() -> None:
    text = "7.1 Fees are due.\n\n7.2\n\n\n\nThey are paid late.\n\n9.9\n\n\n\nA figure of a table.\n\n7.\n\n\n\nMore"
    assert [title for _, title in _outline(text)] == ["7.1", "7.2"]


def test_a_table_of_contents_is_no_part_of_the_outline() -> None:
    clauses = ["Definitions", "Supply", "Price", "Delivery", "Term", "Notices"]
    entries = "\n".join(f"{number}. {title} {number + 2}" for number, title in enumerate(clauses, 1))
    body = "\n\n".join(
        f"{number}. {title}\n\n" + f"The parties agree on {title.lower()} as they have before. " * 4
        for number, title in enumerate(clauses, 1)
    )
    text = f"CONTENTS\n\n{entries}\n\nThis Agreement is made today.\n\n{body}"
    starts = [heading.start for heading in _completed(text)]
    assert [text[start : start + 2] for start in starts] == ["CO", "1.", "2.", "3.", "4.", "5.", "6."]
    assert min(starts[1:]) > text.index("This Agreement")


def test_titles_that_begin_with_the_same_word_are_no_table_of_contents() -> None:
    text = "\n\n".join(f"# Part {number}\n\nText {number}." for number in range(10))
    read = read_document("text/markdown", text.encode(), ReadingLimits())
    assert [heading.title for heading in read.parsed.headings] == [f"Part {number}" for number in range(10)]


def test_a_passage_is_labelled_by_the_clause_that_it_begins_with() -> None:
    sentence = "The parties have agreed on this at length and keep to it. "
    text = "ARTICLE 4\nTERM\n\n" + "\n\n".join(f"4.{number} {sentence * 6}" for number in range(1, 4))
    assert [chunk.section_path for chunk in _read(text).chunks] == [
        ("ARTICLE 4 TERM",),
        ("ARTICLE 4 TERM", "4.2"),
        ("ARTICLE 4 TERM", "4.3"),
    ]


def test_short_clauses_share_a_passage() -> None:
    text = "1. Terms\n\n1.1 A day is a day.\n\n1.2 A week is a week.\n\n1.3 A month is a month.\n"
    [chunk] = _read(text).chunks
    assert (chunk.section_path, chunk.clause_numbers) == (("1. Terms",), ("1", "1.1", "1.2", "1.3"))


_PIECES = [
    "12.3 The ",
    "1. ",
    "2. A",
    "Section 4.2 ",
    "word ",
    "\n",
    "\n\n",
    ". ",
    ": ",
    "ARTICLE V\n",
    "1.0 ",
    "(a) ",
    "**",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=60).map("".join))
def test_headings_stay_in_order_and_apart(text: str) -> None:
    end = 0
    for heading in _completed(text):
        assert end <= heading.start < heading.end <= len(text)
        assert heading.level > 0
        assert heading.title
        end = heading.end


@pytest.mark.parametrize(
    "unit", ["1.1 A ", "1. A ", "1. A\n", "1.1 ", "1.1\n", "Section 1. A", ". 2.1 B", "1.1.1.1.1 A\n", "*"]
)
def test_time_does_not_explode_on_repetition(unit: str) -> None:
    started = time.process_time()
    _completed(unit * (200_000 // len(unit)))
    assert time.process_time() - started < 5
