"""Words of a question, and their forms in texts."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading.model import Span
from proviso_service.reading.words import MAX_WORDS, WordForms, significant_words


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("What is the notice period?", ("notice", "period")),
        ("Does the tenant's insurance cover it?", ("tenant", "insurance", "cover")),
        ("Don’t they have to insure?", ("insure",)),
        ("NOTICE notice Notice", ("notice",)),
        ("non-compete clause 12.3(a)", ("non", "compete", "clause", "12.3")),
        ("snake_case", ("snake", "case")),
        ("Kündigungsfrist der Straße", ("kündigungsfrist", "der", "strasse")),
        ("USD 1,000,000.00, due in 30 days", ("usd", "1,000,000.00", "due", "30", "days")),
        ("of\ufb01ce\u00adholder", ("officeholder",)),
        ("the of and is it", ()),
    ],
)
def test_significant_words_are_what_a_question_is_about(query: str, words: tuple[str, ...]) -> None:
    assert significant_words(query) == words


def test_the_words_of_a_query_are_bounded() -> None:
    assert len(significant_words(" ".join(f"word{i}" for i in range(500)))) == MAX_WORDS


def _found(query: str, text: str) -> list[str]:
    return [text[span.start : span.end] for span, _ in WordForms(significant_words(query)).find(text)]


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("terminates", "Termination: to TERMINATE is to end.", ["Termination", "TERMINATE"]),
        ("parties' obligations", "Each party, as agreed; a Party's obligation", ["party", "Party", "obligation"]),
        ("termination", "early termi-\nnation, termi\u00adnation", ["termi-\nnation", "termi\u00adnation"]),
        ("office", "the o\ufb03ce", ["o\ufb03ce"]),
        ("12.3", "12.3, 112.3, 12.31 and 3", ["12.3"]),
        ("us", "of use to us", []),
        ("the of and", "the of and", []),
        ("", "text", []),
    ],
)
def test_forms_of_a_word_are_found_where_they_stand(query: str, text: str, found: list[str]) -> None:
    assert _found(query, text) == found


@given(st.text(max_size=60), st.text(max_size=300))
def test_what_is_found_is_in_order_and_inside_the_text(query: str, text: str) -> None:
    position = 0
    for span, _ in WordForms(significant_words(query)).find(text):
        assert position <= span.start < span.end <= len(text)
        position = span.end


def test_a_word_meets_itself_in_the_forms_that_the_full_text_index_knows() -> None:
    """The index has Porter's stemmer of its own, which differs in a few endings."""
    words = "terminate terminates terminated termination indemnify indemnities liabilities assigning assignable notices"
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(body, tokenize='porter unicode61')")
        connection.executemany("INSERT INTO words VALUES (?)", [(word,) for word in words.split()])
        for query in words.split():
            rows = connection.execute("SELECT body FROM words WHERE words MATCH ? ORDER BY rowid", (query,)).fetchall()
            assert _found(query, words) == [body for (body,) in rows]


def test_a_span_is_that_of_the_whole_word() -> None:
    [(span, _)] = WordForms(["rent"]).find("The rents are due.")
    assert span == Span(4, 9)
