"""What the model reads of a search: parts of many passages within the budget, each citable where it stands."""

import json

import pytest

from proviso_service.matters.model import FoundSize, SearchHit, SearchOutcome, SearchQuery, Snippet, StoredChunk
from proviso_service.reading.model import Chunk
from proviso_service.tools.base import SourcePassage
from proviso_service.tools.search import SearchResult

BUDGET = 2_500
FILLER = "The parties have agreed on the following in good faith. " * 8
ANSWER = "This Agreement is governed by the laws of Singapore. "


def _hit(number: int, text: str) -> SearchHit:
    chunk = Chunk(number, 1_000, 1_000 + len(text), text, 1, ("18. Law",))
    stored = StoredChunk(f"c{number}", f"d{number}", f"agreement-{number}.md", chunk)
    return SearchHit(stored, 0.5, 0.1, lexical_match=True, snippet=Snippet(text[:300], 1_000))


def _rendered(hits: int, text: str) -> tuple[dict[str, object], list[SourcePassage]]:
    numbered: list[SourcePassage] = []

    def number(passage: SourcePassage) -> int:
        numbered.append(passage)
        return len(numbered)

    query = SearchQuery("m", "governing law governed by the laws of")
    found = tuple(_hit(n, text) for n in range(hits))
    result = SearchResult(SearchOutcome(query, found, size=FoundSize(total=30)))
    rendered = result.render(number, BUDGET)
    assert len(rendered.text) <= BUDGET
    read = json.loads(rendered.text)
    assert read["truncated"] is rendered.truncated
    assert read["documents_found"] == hits
    assert read["total_found"] == result.data()["total_found"] == 30
    return read, numbered


def test_parts_of_several_passages_fit_where_two_whole_ones_would_not() -> None:
    read, _ = _rendered(8, FILLER + ANSWER + FILLER)
    results = read["results"]
    assert isinstance(results, list)
    assert len(results) >= 4
    assert all(ANSWER.strip() in one["text"] for one in results)


def test_a_part_is_cited_where_it_stands_in_the_document() -> None:
    whole = FILLER + ANSWER + FILLER
    read, numbered = _rendered(8, whole)
    results = read["results"]
    assert isinstance(results, list)
    for one, passage in zip(results, numbered, strict=True):
        assert one["text"] == passage.text
        assert whole[passage.start - 1_000 :].startswith(passage.text)


@pytest.mark.parametrize("text", [ANSWER, FILLER + ANSWER])
def test_a_single_passage_is_shown_whole(text: str) -> None:
    read, _ = _rendered(1, text)
    assert read["truncated"] is False
    assert read["results"] == [
        {"ref": 1, "document_id": "d0", "filename": "agreement-0.md", "heading": "18. Law", "text": text}
    ]
