"""Converts results of searches in matters and in the documentation."""

from itertools import count

from proviso_client.v1 import tools_pb2 as pb
from proviso_service.analysis.document_scoring import TargetDocument
from proviso_service.api.convert.values import failure_cause, fit, table
from proviso_service.matters import DocumentHits, EmptyReason, SearchHit, SearchOutcome, Snippet, UnsearchedDocument
from proviso_service.reading import Chunk
from proviso_service.tools.base import Outlines
from proviso_service.tools.retriever import DocumentationResult

_EMPTY_REASONS = table(EmptyReason, pb.SearchEmptyReason)

MAX_ERRORS = 100
"""The most documents that a response names as not searched."""


def search_response(outcome: SearchOutcome) -> pb.SearchResponse:
    answer = pb.SearchResponse(
        results=[search_result(hit) for hit in outcome.hits],
        total_size=outcome.size.total,
        total_size_exact=outcome.size.is_exact,
        empty_reason=_EMPTY_REASONS[outcome.empty_reason] if outcome.empty_reason else None,
        best_semantic_score=outcome.size.best_similarity,
        query=outcome.query.query,
        matter_id=outcome.query.matter_id,
        reranked=outcome.reranked,
        documents_available=outcome.documents_available,
        documents_processing=outcome.documents_processing,
        documents_matching=[_document_hits(hits) for hits in outcome.documents_matching],
        document_errors=[document_error(one) for one in outcome.not_searched[:MAX_ERRORS]],
        documents_not_searched=len(outcome.not_searched),
    )
    fit(answer, "documents_available", "documents_processing", "documents_matching", "document_errors", "results")
    answer.next_page_token = outcome.token_after(len(answer.results))
    return answer


def search_result(hit: SearchHit) -> pb.SearchResult:
    stored = hit.stored
    return pb.SearchResult(
        document_id=stored.document_id,
        chunk_id=stored.chunk_id,
        filename=stored.filename,
        chunk_text=stored.chunk.text,
        semantic_score=hit.similarity,
        rerank_score=hit.rerank_score,
        citation=citation(stored.document_id, stored.filename, stored.chunk),
        context_before=hit.context_before,
        context_after=hit.context_after,
        score=hit.score,
        lexical_match=hit.lexical_match,
        lexical_score=hit.lexical_score,
        snippet=_snippet(hit.snippet),
    )


def _snippet(snippet: Snippet) -> pb.SearchSnippet:
    return pb.SearchSnippet(
        text=snippet.text,
        start=snippet.start,
        highlights=[pb.SnippetHighlight(start=span.start, end=span.end) for span in snippet.highlights],
    )


def citation(document_id: str, filename: str, chunk: Chunk) -> pb.SearchCitation:
    answer = pb.SearchCitation()
    cite(answer, document_id, filename, chunk)
    return answer


def cite(answer: pb.SearchCitation, document_id: str, filename: str, chunk: Chunk) -> None:
    """Fills in a citation where it stands."""
    answer.page = chunk.page
    answer.section_path.extend(chunk.section_path)
    answer.heading = chunk.heading
    answer.label = label(filename, chunk)
    answer.permalink = f"cite:{document_id}@{chunk.start}-{chunk.end}"
    answer.start = chunk.start
    answer.end = chunk.end


def label(filename: str, chunk: Chunk) -> str:
    """The citation as a person reads it: file name, page and heading where there are any."""
    page = f"page {chunk.page}" if chunk.page else ""
    return ", ".join(part for part in (filename, page, chunk.heading) if part)


def document_error(target: TargetDocument | UnsearchedDocument) -> pb.DocumentError:
    return pb.DocumentError(
        document_id=target.document_id,
        filename=target.filename,
        error=target.error,
        failure_cause=failure_cause(target.cause),
    )


def _document_hits(hits: DocumentHits) -> pb.DocumentHits:
    return pb.DocumentHits(document_id=hits.document_id, filename=hits.filename, passages=hits.passages)


def documentation_response(
    outcome: SearchOutcome, outlines: Outlines, max_output_chars: int
) -> pb.RetrieveDocumentationResponse:
    """The passages, and the text that the agent's tool makes of them, where the nth passage has the number n."""
    numbers = count(1)
    output = DocumentationResult(outcome, outlines).render(lambda _: next(numbers), max_output_chars)
    results = [search_result(hit) for hit in outcome.hits]
    return pb.RetrieveDocumentationResponse(
        results=results,
        output=output.text,
        next_page_token=outcome.token_after(len(results)),
        total_size=outcome.size.total,
        total_size_exact=outcome.size.is_exact,
    )
