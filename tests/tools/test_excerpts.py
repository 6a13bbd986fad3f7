"""The part of a passage that is about a query."""

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.tools.rendering import best_part, stems_of

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
