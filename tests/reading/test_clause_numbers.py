"""Which clauses passages are part of."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading.chunking import chunk_document
from proviso_service.reading.clause_numbers import MAX_NUMBERS, clause_numbers
from proviso_service.reading.markdown import parse_markdown
from proviso_service.reading.model import ReadingLimits, Span
from proviso_service.reading.plain import parse_plain
from proviso_service.reading.untitled import complete_with_clauses


def _numbers(text: str, *passages: str) -> list[tuple[str, ...]]:
    """Of the passages of a plain text, by default of the whole text."""
    parsed = parse_plain(text.encode(), ReadingLimits())
    spans = [Span(text.index(words), text.index(words) + len(words)) for words in passages or (text,)]
    return clause_numbers(parsed.text, complete_with_clauses(parsed.text, parsed.headings), spans)


def test_a_passage_has_the_number_of_its_clause_and_of_those_above() -> None:
    text = "ARTICLE IV\n\nTERM\n\n4.2 Notice Period. The period is a month.\n\nIt may be longer.\n"
    assert _numbers(text, "4.2 Notice Period.", "It may") == [("IV", "4", "4.2"), ("IV", "4", "4.2")]


def test_clauses_without_titles_count_too() -> None:
    text = "12.1 The Supplier shall deliver.\n\nIt does so daily.\n\n12.2.1 The Buyer shall pay.\n"
    assert _numbers(text, "It does so") == [("12", "12.1")]
    assert _numbers(text) == [("12", "12.1", "12.2", "12.2.1")]


def test_clauses_run_into_one_another() -> None:
    assert _numbers('1.1 "Fee" means USD 5. 1.2 "Term" means a year.') == [("1", "1.1", "1.2")]


def test_items_have_the_full_number_where_their_list_is_known() -> None:
    text = (
        "12.3 Duties. The Supplier shall:\n\n(a) deliver;\n\n(b) insure:\n\n(i) the goods; and\n\n(ii) itself;\n\n"
        "(c) report.\n"
    )
    assert _numbers(text, "(a) deliver", "(ii) itself", "(c) report") == [
        ("12", "12.3", "12.3(a)", "a"),
        ("12", "12.3", "12.3(b)", "12.3(b)(ii)", "ii"),
        ("12", "12.3", "12.3(c)", "c"),
    ]


def test_the_letter_i_follows_h() -> None:
    items = "".join(f"({letter}) thing {letter};\n" for letter in "abcdefghij")
    assert _numbers(f"5.1 The goods are:\n{items}", "(i) thing", "(j) thing") == [
        ("5", "5.1", "5.1(i)", "i"),
        ("5", "5.1", "5.1(j)", "j"),
    ]


def test_items_inside_a_sentence_count_and_references_do_not() -> None:
    text = "7.2 Cure. It may (a) repair, (b) replace, and (c) pay, subject to Section 9(d) and (e) of it."
    assert _numbers(text) == [("7", "7.2", "7.2(a)", "a", "7.2(b)", "b", "7.2(c)", "c")]


def test_an_item_whose_list_is_not_known_has_its_label_only() -> None:
    assert _numbers("(c) the goods, and\n(d) the rent", "(c) the goods", "(d) the rent") == [("c",), ("d",)]
    assert _numbers("5.1 The goods:\n(a) one\n(d) two\n(e) three", "(d) two", "(e) three") == [
        ("5", "5.1", "d"),
        ("5", "5.1", "e"),
    ]


def test_simple_numbers_are_clauses_when_they_count_on_and_items_otherwise() -> None:
    text = "1. The first.\n\n2. The second:\n\n1. An item\n\n2. Another item\n\n3. The third.\n"
    assert _numbers(text, "2. The second", "2. Another", "3. The third") == [("2",), ("2", "2.2"), ("3",)]


def test_exhibits_and_articles_have_their_letter_or_numeral() -> None:
    text = "EXHIBIT A\n\nThe works.\n\n1. Painting\n\nIn white.\n\nEXHIBIT B\n\nThe price.\n"
    assert _numbers(text, "The works.", "In white.", "The price.") == [("A",), ("A", "1"), ("B",)]


def test_nested_titles_with_simple_numbers_make_one_number() -> None:
    parsed = parse_markdown(b"1. **Service.**\n    1. **Access.** The customer may use it.\n", ReadingLimits())
    [chunk] = chunk_document(parsed, 900)
    assert chunk.clause_numbers == ("1", "1.1")


@pytest.mark.parametrize(
    "text",
    [
        "The rate is 2.5 percent. It rises 3.1 points.",
        "On 2 January it ends.",
        "pursuant to clauses (a) and (b) above",
        "1.1 Definitions ........... 4",
        "1. Fees     12",
        "version 1.2.3 is current",
        "10.5% Notes",
    ],
)
def test_other_numbers_are_not_taken_for_clauses(text: str) -> None:
    assert _numbers(text) == [()]


def test_a_passage_has_a_bounded_number_of_numbers() -> None:
    [numbers] = _numbers("".join(f"{number}.1 The Thing. " for number in range(1, 100)))
    assert len(numbers) == MAX_NUMBERS
    assert numbers[:3] == ("1", "1.1", "2")


_PIECES = [
    "12.3 The ",
    "(a) ",
    "(b) ",
    "(i) ",
    "4. ",
    "A",
    "word ",
    "\n",
    "\n\n",
    ". ",
    "ARTICLE V\n",
    "Section 2(a) ",
    "a) ",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=60).map("".join))
def test_numbers_are_distinct_bounded_and_hold_their_parents(text: str) -> None:
    for chunk in chunk_document(parse_plain(text.encode(), ReadingLimits()), 100):
        numbers = chunk.clause_numbers
        assert len(set(numbers)) == len(numbers) <= MAX_NUMBERS
        for number in numbers:
            assert number.split(".")[0].split("(")[0] in numbers or len(numbers) == MAX_NUMBERS


@pytest.mark.parametrize(
    "unit", ["(a) ", "1.1 A ", "1. A\n", ". ", "(", " ", "Section 5(a) and ", "\n(a) x", "1.1   ", "#"]
)
def test_time_does_not_explode_on_repetition(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    started = time.process_time()
    clause_numbers(text, (), [Span(start, start + 900) for start in range(0, 400_000, 900)])
    assert time.process_time() - started < 5
