"""The part of a passage that is about a query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading import Span
from proviso_service.tools.rendering import best_part, part_around, stems_of

CLAUSE = (
    "## 11. Limitation of Liability\n\n"
    "11.1 Nothing in this Agreement limits anything for which the law allows no limit.\n\n"
    "11.2 Neither party is liable for loss of profit.\n\n"
    "11.3 The total liability of each party shall not exceed 125 per cent of the Fees."
)


def _part(text: str, query: str, max_chars: int) -> str:
    span = best_part(text, stems_of(query), max_chars)
    return text[span.start : span.end]


@given(st.text(max_size=600), st.text(max_size=40), st.integers(1, 700))
def test_a_part_fits_and_is_the_text_itself(text: str, query: str, max_chars: int) -> None:
    span = best_part(text, stems_of(query), max_chars)
    assert 0 <= span.start <= span.end <= len(text)
    assert span.end - span.start <= max_chars
    assert span.end > span.start or not text.strip()


def test_what_fits_is_kept_whole() -> None:
    assert _part(CLAUSE, "liability", len(CLAUSE)) == CLAUSE


def test_the_sentence_with_the_words_of_the_query_is_chosen() -> None:
    assert _part(CLAUSE, "aggregate liability shall not exceed", 90).startswith("11.3 The total liability")


def test_neighbours_come_along_as_far_as_there_is_room() -> None:
    assert _part(CLAUSE, "aggregate liability shall not exceed", 140).startswith("11.2 Neither party")


def test_a_sentence_that_is_too_long_is_cut_around_the_words() -> None:
    sentence = "The Tenant shall " + "keep the Property clean, " * 20 + "and insure the contents against theft."
    part = _part(sentence, "insurance of contents", 80)
    assert "insure the contents" in part
    assert part[0].isalpha()


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("goods", "The Supplier shall insure"),
        ("supplier, theft and loss", "The Supplier shall insure"),
        ("supplier, theft, loss and cover", "Loss by theft has cover."),
        ("loss by theft", "Loss by theft has cover."),
    ],
)
def test_an_answer_without_room_is_shown_from_its_beginning_unless_another_part_has_far_more_of_the_words(
    query: str, part: str
) -> None:
    answer = f"The Supplier shall insure all. {'Nothing else is agreed on here. ' * 9}Loss by theft has cover."
    text = f"## 5. Insurance\n\n{answer} The Buyer pays for it."
    start = text.index(answer)
    span = part_around(text, Span(start, start + len(answer)), stems_of(query), 80)
    assert part in text[span.start : span.end]
    assert start <= span.start <= span.end <= span.start + 80


def test_forms_of_a_word_meet_and_grammar_does_not_count() -> None:
    assert stems_of("Which terminations?") == stems_of("terminating")
    assert stems_of("what is the") == frozenset()


def test_a_part_of_a_long_sentence_is_worth_more_than_the_heading_above_it() -> None:
    text = (
        "## 2. Confidential Information\n\n"
        "2.1 Confidential Information means all information that is not public and that the discloser makes known to "
        "the recipient for the purpose, whether orally, in writing or by inspection of things, including designs, "
        "firmware, source code, test results, price lists, product plans and names of customers."
    )
    span = best_part(text, stems_of("confidential information"), 200)
    assert text[span.start : span.end].startswith("2.1 Confidential Information means")


def test_an_answer_of_short_lines_without_room_is_cut_between_them() -> None:
    text = "fee\n" * 300 + "liability\nof\nthe\nparties"
    span = part_around(text, Span(4, len(text)), stems_of("fee"), 80)
    assert text[span.start : span.end] == "\n".join(["fee"] * 20)
