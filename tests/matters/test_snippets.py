"""Snippets of passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.matters.excerpts import MAX_CHARS, Snippets
from proviso_service.matters.model import Snippet
from proviso_service.matters.wording import parse_query
from proviso_service.reading.model import Chunk

FILLER = "The parties have agreed on the following in good faith. " * 8
ANSWER = "This Agreement terminates on the death of the Licensee."


def _snippet(query: str, text: str, start: int = 0) -> Snippet:
    return Snippets(parse_query(query)).of(Chunk(0, start, start + len(text), text))


def _marked(query: str, text: str) -> list[str]:
    snippet = _snippet(query, text)
    return [snippet.text[span.start : span.end] for span in snippet.highlights]


def test_the_snippet_is_the_part_about_the_query_where_it_stands() -> None:
    text = FILLER + ANSWER + " " + FILLER
    snippet = _snippet("termination upon death", text, start=1_000)
    assert ANSWER in snippet.text
    assert len(snippet.text) <= MAX_CHARS
    assert text[snippet.start - 1_000 :].startswith(snippet.text)


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("termination upon death", ANSWER, ["terminates", "death"]),
        ('"the death of" anyone', ANSWER, ["the death of"]),
        ('"death of" death', ANSWER, ["death of"]),
        ("clause 12.3", "12.3 Fees. See Section 12.3 and 112.3, not 12.31.", ["12.3", "12.3"]),
        ("section 4(b)", "Section 4 (b) of the Code", ["4 (b)"]),
        ("Article 4", "ARTICLE IV", ["IV"]),
        ("the of", ANSWER, []),
    ],
)
def test_words_phrases_and_numbers_of_the_query_are_marked(query: str, text: str, marked: list[str]) -> None:
    assert _marked(query, text) == marked


@given(st.text(max_size=60), st.text(max_size=700))
def test_marks_are_in_order_apart_and_inside(query: str, text: str) -> None:
    snippet = _snippet(query, text, start=5)
    assert len(snippet.text) <= MAX_CHARS
    assert text[snippet.start - 5 :].startswith(snippet.text)
    position = 0
    for span in snippet.highlights:
        assert position <= span.start < span.end <= len(snippet.text)
        position = span.end
