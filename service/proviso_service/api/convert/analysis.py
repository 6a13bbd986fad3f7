"""Converts the results of clause classification and of answer extraction."""

from collections.abc import Sequence
from itertools import chain

from proviso_client.v1 import tools_pb2 as pb
from proviso_service.analysis.classification import ClassifyOutcome, Clause, by_turns
from proviso_service.analysis.extraction import NOT_FOUND, AnswerCitation, CitedAnswer, ExtractOutcome
from proviso_service.api.convert.search import citation, document_error
from proviso_service.api.convert.values import MAX_ANSWER_BYTES, fit
from proviso_service.matters import chunk_id

_MAX_REST_BYTES = MAX_ANSWER_BYTES // 4
"""Most bytes that are kept free for everything in a response that is no clause."""

_FRAME_BYTES = 6
"""Most bytes that an item of a list takes beside its own."""


def classify_response(outcome: ClassifyOutcome) -> pb.ClassifyResponse:
    """The response. If it would be too large, it holds fewer clauses, the best of each type, and fewer errors."""
    answer = pb.ClassifyResponse(
        total_found=outcome.total_found,
        clause_types_searched=[count.clause_type for count in outcome.counts],
        truncated=len(outcome.clauses) < outcome.total_found,
        document_errors=[document_error(target) for target in outcome.failed],
        model=outcome.model,
        counts=[
            pb.ClauseTypeCount(clause_type=one.clause_type, clauses=one.clauses, documents=one.documents)
            for one in outcome.counts
        ],
    )
    kept = _fitting(outcome.clauses, MAX_ANSWER_BYTES - min(answer.ByteSize(), _MAX_REST_BYTES))
    answer.clauses.extend(kept)
    answer.truncated |= len(kept) < len(outcome.clauses)
    fit(answer, "document_errors")
    return answer


def _clause(clause: Clause) -> pb.ClassifiedClause:
    chunk = clause.chunk
    return pb.ClassifiedClause(
        clause_type=clause.clause_type,
        confidence=clause.confidence,
        text_excerpt=chunk.text,
        document_id=clause.document_id,
        filename=clause.filename,
        start=chunk.start,
        end=chunk.end,
        chunk_id=chunk_id(clause.document_id, chunk.ordinal),
        citation=citation(clause.document_id, clause.filename, chunk),
    )


def _fitting(clauses: Sequence[Clause], room: int) -> list[pb.ClassifiedClause]:
    """As many clauses as fit into `room` bytes, the best of each type, in the order in which they came."""
    kept: dict[int, pb.ClassifiedClause] = {}
    for clause in chain.from_iterable(by_turns(clauses)):
        kept[id(clause)] = _clause(clause)
        room -= kept[id(clause)].ByteSize() + _FRAME_BYTES
        if room < 0:
            del kept[id(clause)]
            break
    return [kept[id(clause)] for clause in clauses if id(clause) in kept]


def extract_response(outcome: ExtractOutcome) -> pb.ExtractResponse:
    found = outcome.answer
    answer = pb.ExtractResponse(
        answer=found.text if found else NOT_FOUND,
        confidence=found.confidence if found else 0,
        citations=[_citation(one) for one in found.citations] if found else [],
        question=outcome.query.question,
        found=found is not None,
        alternatives=[_alternative(one) for one in outcome.alternatives],
        model=outcome.model,
        document_errors=[document_error(target) for target in outcome.failed],
    )
    fit(answer, "document_errors", "alternatives", "citations")
    return answer


def _alternative(answer: CitedAnswer) -> pb.ExtractAlternative:
    return pb.ExtractAlternative(
        answer=answer.text, confidence=answer.confidence, citation=_citation(answer.citations[0])
    )


def _citation(found: AnswerCitation) -> pb.ExtractCitation:
    stored = found.stored
    return pb.ExtractCitation(
        document_id=stored.document_id,
        chunk_id=stored.chunk_id,
        filename=stored.filename,
        text_excerpt=stored.chunk.text,
        relevance_score=found.relevance,
        answer_start=found.start,
        answer_end=found.end,
        citation=citation(stored.document_id, stored.filename, stored.chunk),
    )
