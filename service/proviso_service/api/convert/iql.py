"""Converts the results of IQL queries, and what is known of a query and of templates without running one."""

from collections.abc import Iterable, Sequence

from proviso_client.v1 import tools_pb2 as pb
from proviso_service.analysis.model import (
    DocumentResult,
    Inspection,
    IqlMatch,
    IqlOutcome,
    IqlProgress,
    IqlSummary,
    StatementScore,
)
from proviso_service.api.convert.search import citation
from proviso_service.api.convert.values import MAX_ANSWER_BYTES, fit
from proviso_service.iql import Edit, Problem, TemplateDefinition, canonical_text, statements, tree_json

_INT32_MAX = 2**31 - 1


def iql_response(outcome: IqlOutcome) -> pb.ExecuteIqlResponse:
    """The response. If it would be too large, every document shows only the best of its matches."""
    answer = _summary(outcome.summary)
    answer.document_results.extend(_result(result) for result in outcome.results)
    most = max((len(result.matches) for result in outcome.results), default=0)
    while answer.ByteSize() > MAX_ANSWER_BYTES and most:
        most = most * 3 // 4
        _keep_best(answer.document_results, most)
    answer.truncated = any(result.truncated for result in answer.document_results)
    fit(answer, "document_results")
    return answer


def iql_progress(progress: IqlProgress) -> pb.StreamIqlResponse:
    totals = pb.IqlTotals(
        documents_done=progress.summary.documents_done,
        document_count=progress.summary.document_count,
        total_matches=progress.summary.total_matches,
        average_score=progress.summary.average_score,
    )
    if progress.result is None:
        return pb.StreamIqlResponse(summary=_summary(progress.summary), totals=totals)
    result = _result(progress.result)
    while result.ByteSize() > MAX_ANSWER_BYTES and result.matches:
        _keep_best([result], len(result.matches) * 3 // 4)
    return pb.StreamIqlResponse(document_result=result, totals=totals, document_index=progress.result.index)


def parse_iql_response(inspection: Inspection) -> pb.ParseIqlResponse:
    if inspection.tree is None:
        return pb.ParseIqlResponse(errors=map(_error, inspection.problems))
    return pb.ParseIqlResponse(
        tree_json=tree_json(inspection.tree),
        canonical=canonical_text(inspection.tree),
        statements=statements(inspection.tree),
        estimated_model_calls=min(inspection.estimated_calls, _INT32_MAX),
    )


def iql_templates_response(templates: Iterable[TemplateDefinition]) -> pb.ListIqlTemplatesResponse:
    """The response, which is never too large, because a file of templates has at most a million bytes."""
    return pb.ListIqlTemplatesResponse(
        templates=[
            pb.IqlTemplate(name=one.name, arguments=one.arguments, statement=one.statement, meaning=one.meaning)
            for one in templates
        ]
    )


def _summary(summary: IqlSummary) -> pb.ExecuteIqlResponse:
    return pb.ExecuteIqlResponse(
        query=summary.query,
        total_matches=summary.total_matches,
        average_score=summary.average_score,
        model=summary.model,
        warnings=summary.warnings,
        document_count=summary.document_count,
    )


def _result(result: DocumentResult) -> pb.IqlDocumentResult:
    return pb.IqlDocumentResult(
        document_id=result.document_id,
        filename=result.filename,
        score=result.score,
        matches=[_match(result, match) for match in result.matches],
        match_count=result.match_count,
        error=result.error,
        truncated=result.truncated,
        statement_scores=_statement_scores(result.explanation.statements),
        node_scores=result.explanation.nodes,
    )


def _match(result: DocumentResult, match: IqlMatch) -> pb.IqlMatch:
    return pb.IqlMatch(
        text=match.chunk.text,
        start_index=match.chunk.start,
        end_index=match.chunk.end,
        score=match.score,
        citation=citation(result.document_id, result.filename, match.chunk),
        statement_scores=_statement_scores(match.explanation.statements),
        node_scores=match.explanation.nodes,
    )


def _statement_scores(scores: Sequence[StatementScore]) -> list[pb.IqlStatementScore]:
    return [pb.IqlStatementScore(statement=one.statement, score=one.score) for one in scores]


def _keep_best(results: Iterable[pb.IqlDocumentResult], count: int) -> None:
    """Keeps the best `count` matches of each document, in order of their position."""
    for result in results:
        best_last = sorted(range(len(result.matches)), key=lambda index: (result.matches[index].score, -index))
        for index in sorted(best_last[: max(0, len(best_last) - count)], reverse=True):
            del result.matches[index]
            result.truncated = True


def _error(problem: Problem) -> pb.IqlError:
    return pb.IqlError(
        start=problem.span.start,
        end=problem.span.end,
        message=problem.message,
        suggestions=problem.suggestions,
        edits=[_edit(index, edit) for index, remedy in enumerate(problem.remedies) for edit in remedy.edits],
    )


def _edit(suggestion: int, edit: Edit) -> pb.IqlEdit:
    return pb.IqlEdit(suggestion=suggestion, label=edit.label, start=edit.span.start, end=edit.span.end, text=edit.text)
