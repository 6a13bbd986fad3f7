"""Extracted answers."""

from proviso_client.v1 import tools_pb2 as pb
from proviso_service.analysis.extraction import NOT_FOUND, AnswerCitation, CitedAnswer, ExtractOutcome
from proviso_service.api.answer_size import fit
from proviso_service.api.convert.search import citation, document_error


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
