"""What the caches keep is the same once it was written and read again, as far as a turn can tell."""

from datetime import UTC, datetime
from typing import Any, get_type_hints

import pytest
from langchain_core.messages import AIMessage, HumanMessage, message_to_dict

from proviso_service.agent.cached_values import RESULTS, read_reply, read_result, write_reply, write_result
from proviso_service.agent.caching import CachedReply
from proviso_service.analysis.document_scoring import TargetDocument
from proviso_service.analysis.extraction import AnswerCitation, CitedAnswer, ExtractOutcome, ExtractQuery
from proviso_service.errors import FailureCause
from proviso_service.matters import (
    Document,
    DocumentHits,
    DocumentStatus,
    Outline,
    SearchHit,
    SearchOutcome,
    SearchQuery,
    Snippet,
    StoredChunk,
    UnsearchedDocument,
)
from proviso_service.reading import Chunk, Heading, PageSpan, Span
from proviso_service.tools.base import SourcePassage, Tool
from proviso_service.tools.extract import ExtractResult, IsaacusExtract
from proviso_service.tools.retriever import DocumentationResult, DocumentationRetriever
from proviso_service.tools.search import IsaacusSearch, SearchResult

DOCUMENT = Document(
    "d2",
    "m",
    "acme",
    "Brief.pdf",
    "application/pdf",
    9,
    "ab",
    DocumentStatus.FAILED,
    datetime(2026, 1, 2, tzinfo=UTC),
    failure_reason="damaged",
    failure_cause=FailureCause.FAILED,
)
TEXT = "5.1 Die Miete beträgt „900 €“. \u2028 The law is that of Ohio."
STORED = StoredChunk("d1:0", "d1", "Lease.md", Chunk(0, 7, 7 + len(TEXT), TEXT, 2, ("5. Rent",), ("5.1",)))
OUTLINES = {"d1": Outline((Heading(1, "5. Rent", 0, 7), Heading(2, "5.1", 7, 10, titled=False)), (PageSpan(2, 0, 99),))}
SEARCHED = SearchOutcome(
    SearchQuery("m", "rent", document_ids=("d1", "d2")),
    (SearchHit(STORED, 0.75, 0.1, True, Snippet("Miete", 4, (Span(0, 5),)), 0.5, "before", "after"),),
    (DocumentHits("d1", "Lease.md", 1),),
    reranked=True,
    not_searched=(UnsearchedDocument("d2", DOCUMENT), UnsearchedDocument("d3", None)),
)
CITATION = AnswerCitation(STORED, 0.5, 11, 16, 0.9)
EXTRACTED = ExtractOutcome(
    ExtractQuery("m", "Rent?"),
    "model",
    CitedAnswer((CITATION,)),
    (CitedAnswer((CITATION,)),),
    (TargetDocument(0, "d2", DOCUMENT, "damaged", FailureCause.FAILED),),
    outlines=OUTLINES,
)
TOOLS: tuple[type[Tool], ...] = (IsaacusSearch, IsaacusExtract, DocumentationRetriever)


def number(passage: SourcePassage) -> int:
    return len(passage.text)


@pytest.mark.parametrize(
    "result", [SearchResult(SEARCHED, OUTLINES), DocumentationResult(SEARCHED, OUTLINES), ExtractResult(EXTRACTED)]
)
def test_a_result_that_was_read_again_says_the_same(result: Any) -> None:
    again: Any = read_result(write_result(result))
    assert type(again) is type(result)
    assert again.data() == result.data()
    assert again.looked_in() == result.looked_in()
    assert (again.found, again.partial) == (result.found, result.partial)
    assert [again.render(number, room) for room in (300, 3_000)] == [
        result.render(number, room) for room in (300, 3_000)
    ]


def test_the_results_of_all_tools_that_retrieve_can_be_written() -> None:
    assert all(tool.is_retrieval for tool in TOOLS)
    assert {get_type_hints(tool.run)["return"].__name__ for tool in TOOLS} == set(RESULTS)


def test_a_reply_that_was_read_again_is_the_same() -> None:
    message = AIMessage(
        [{"type": "text", "text": TEXT}, {"type": "thinking", "signature": "c2ln"}],
        id="run-1",
        additional_kwargs={"signatures": ["a"]},
        response_metadata={"finish_reason": "stop"},
        tool_calls=[{"name": "isaacus_search", "args": {"query": "law"}, "id": "c-1", "type": "tool_call"}],
        invalid_tool_calls=[{"name": "x", "args": "{", "id": "c-2", "error": None, "type": "invalid_tool_call"}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    )
    for tokens in (None, 7):
        reply = CachedReply(message, tokens)
        assert read_reply(write_reply(reply)) == reply


def test_signatures_that_are_bytes_are_kept_as_base64() -> None:
    reply = CachedReply(AIMessage("Yes.", additional_kwargs={"signature": b"\xffsig"}), None)
    assert read_reply(write_reply(reply)).message.additional_kwargs == {"signature": "/3NpZw=="}


@pytest.mark.parametrize(
    "written",
    [b"", b"{}", b"[]", b'{"message": {"type": "ai"}, "input_tokens": 1}', b'{"message": 3, "input_tokens": 1}'],
)
def test_what_was_written_otherwise_is_no_reply(written: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        read_reply(written)


def test_a_message_of_a_person_is_no_reply() -> None:
    plain = str(message_to_dict(HumanMessage("Hi"))).replace("'", '"').replace("None", "null").replace("False", "false")
    with pytest.raises(TypeError):
        read_reply(f'{{"message": {plain}, "input_tokens": 1}}'.encode())


@pytest.mark.parametrize("written", [b"", b"SearchResult", b"SearchResult {}", b"OtherResult {}", b"SearchResult []"])
def test_what_was_written_otherwise_is_no_result(written: bytes) -> None:
    with pytest.raises((ValueError, KeyError)):
        read_result(written)
