"""Converts the results of clause classification and of answer extraction."""

from proviso_client.v1 import tools_pb2 as pb
from proviso_service.analysis.classification import ClassifyOutcome, Clause
from proviso_service.analysis.extraction import NOT_FOUND, AnswerCitation, CitedAnswer, ExtractOutcome
from proviso_service.analysis.likelihood import Bands
from proviso_service.api.convert.search import citation, document_error
from proviso_service.api.convert.values import LIKELIHOODS, MAX_ANSWER_BYTES, VALUE_KINDS, fit
from proviso_service.matters import chunk_id
from proviso_service.paging import offset_token

_MAX_REST_BYTES = MAX_ANSWER_BYTES // 4
"""Most bytes that are kept free for everything in a response that is no clause."""

_FRAME_BYTES = 6
"""Most bytes that an item of a list takes beside its own."""


def classify_response(outcome: ClassifyOutcome) -> pb.ClassifyResponse:
    """The response. If it would be too large, it holds fewer clauses, the best of each type, and fewer errors."""
    answer = pb.ClassifyResponse(
        total_size=outcome.total_found,
        clause_types_searched=[count.clause_type for count in outcome.counts],
        document_errors=[document_error(target) for target in outcome.failed],
        model=outcome.model,
        counts=[
            pb.ClauseTypeCount(clause_type=one.clause_type, clauses=one.clauses, documents=one.documents)
            for one in outcome.counts
        ],
    )
    kept, end = _fitting(outcome, MAX_ANSWER_BYTES - min(answer.ByteSize(), _MAX_REST_BYTES))
    answer.clauses.extend(kept)
    if end < outcome.total_found:
        answer.truncated = True
        answer.next_page_token = offset_token(outcome.scope, end)
    fit(answer, "document_errors")
    return answer


def _clause(clause: Clause, bands: Bands) -> pb.ClassifiedClause:
    chunk = clause.chunk
    return pb.ClassifiedClause(
        clause_type=clause.clause_type,
        score=clause.confidence,
        likelihood=LIKELIHOODS[bands.of(clause.confidence)],
        text_excerpt=chunk.text,
        document_id=clause.document_id,
        filename=clause.filename,
        start=chunk.start,
        end=chunk.end,
        chunk_id=chunk_id(clause.document_id, chunk.ordinal),
        citation=citation(clause.document_id, clause.filename, chunk),
    )


def _fitting(outcome: ClassifyOutcome, room: int) -> tuple[list[pb.ClassifiedClause], int]:
    """As many clauses as fit into `room` bytes, the best of each type, in the order in which they came; and the rank of
    the first clause after them."""
    kept: dict[int, pb.ClassifiedClause] = {}
    end = outcome.end
    for clause in sorted(outcome.clauses, key=lambda clause: clause.rank):
        kept[clause.rank] = _clause(clause, outcome.bands)
        room -= kept[clause.rank].ByteSize() + _FRAME_BYTES
        if room < 0:
            del kept[clause.rank]
            end = clause.rank
            break
    return [kept[clause.rank] for clause in outcome.clauses if clause.rank in kept], end


def extract_response(outcome: ExtractOutcome) -> pb.ExtractResponse:
    found = outcome.answer
    answer = pb.ExtractResponse(
        answer=found.text if found else NOT_FOUND,
        score=found.confidence if found else 0,
        likelihood=LIKELIHOODS[outcome.bands.of(found.confidence)] if found else None,
        citations=[_citation(outcome, one) for one in found.citations] if found else [],
        question=outcome.query.question,
        found=found is not None,
        alternatives=[_alternative(outcome, one) for one in outcome.alternatives],
        model=outcome.model,
        document_errors=[document_error(target) for target in outcome.failed],
    )
    fit(answer, "document_errors", "alternatives", "citations")
    return answer


def _alternative(outcome: ExtractOutcome, answer: CitedAnswer) -> pb.ExtractAlternative:
    return pb.ExtractAlternative(
        answer=answer.text,
        score=answer.confidence,
        likelihood=LIKELIHOODS[outcome.bands.of(answer.confidence)],
        citation=_citation(outcome, answer.citations[0]),
    )


def _citation(outcome: ExtractOutcome, found: AnswerCitation) -> pb.ExtractCitation:
    stored = found.stored
    return pb.ExtractCitation(
        document_id=stored.document_id,
        chunk_id=stored.chunk_id,
        filename=stored.filename,
        text_excerpt=stored.chunk.text,
        passage_score=found.relevance,
        answer_start=found.start,
        answer_end=found.end,
        citation=citation(stored.document_id, stored.filename, outcome.passage(found)),
        values=[
            pb.ExtractedValue(
                kind=VALUE_KINDS[one.kind],
                value=one.value,
                unit=one.unit,
                start=found.start + one.start,
                end=found.start + one.end,
            )
            for one in found.values
        ],
    )
