"""Converts the results of IQL queries, and what is known of a query and of templates without running one."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from proviso_client.v1 import tools_pb2 as pb
from proviso_service.analysis.model import (
    DocumentResult,
    Explanation,
    Inspection,
    IqlOutcome,
    IqlProgress,
    IqlSummary,
    PageStart,
)
from proviso_service.api.convert.search import cite
from proviso_service.api.convert.values import LIKELIHOODS, MAX_ANSWER_BYTES, failure_cause, fit
from proviso_service.iql import (
    And,
    Average,
    Comparator,
    Comparison,
    Edit,
    Expression,
    Not,
    Or,
    Problem,
    Statement,
    Template,
    TemplateDefinition,
    canonical_text,
    statements,
)
from proviso_service.paging import PageRequest, offset_in, offset_token

_INT32_MAX = 2**31 - 1
_NODE_TYPES = {
    Statement: pb.IQL_NODE_TYPE_STATEMENT,
    Template: pb.IQL_NODE_TYPE_TEMPLATE,
    Not: pb.IQL_NODE_TYPE_NOT,
    And: pb.IQL_NODE_TYPE_AND,
    Or: pb.IQL_NODE_TYPE_OR,
    Average: pb.IQL_NODE_TYPE_AVERAGE,
    Comparison: pb.IQL_NODE_TYPE_COMPARISON,
}
_COMPARATORS = {Comparator.GREATER: pb.IQL_COMPARATOR_GREATER, Comparator.LESS: pb.IQL_COMPARATOR_LESS}


def iql_response(outcome: IqlOutcome) -> pb.ExecuteIqlResponse:
    """The response. If it would be too large, every document shows only the best of its matches."""
    answer = _summary(outcome.summary)
    for result in outcome.results:
        _add_matches(answer.document_results.add(**_fields(result, outcome.summary)), result, outcome.summary)
    most = max((len(result.matches) for result in outcome.results), default=0)
    while (size_bytes := answer.ByteSize()) > MAX_ANSWER_BYTES and most:
        most = most * 3 // 4
        _keep_best(answer.document_results, most)
    answer.truncated = any(result.truncated for result in answer.document_results)
    _set_tokens(outcome.summary.scope, answer.document_results, outcome.results)
    fit(answer, "document_results", size_bytes=None if answer.truncated else size_bytes)  # tokens add to it
    if rest := outcome.results[len(answer.document_results) :]:
        start = PageStart(rest[0].document_id, upload_time=rest[0].upload_time)
        answer.next_page_token = start.token(outcome.summary.scope)
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
    result = _result(progress.result, progress.summary)
    while result.ByteSize() > MAX_ANSWER_BYTES and result.matches:
        _keep_best([result], len(result.matches) * 3 // 4)
    _set_tokens(progress.summary.scope, [result], [progress.result])
    return pb.StreamIqlResponse(document_result=result, totals=totals, document_index=progress.result.index)


def parse_iql_response(inspection: Inspection) -> pb.ParseIqlResponse:
    if inspection.tree is None:
        return pb.ParseIqlResponse(errors=map(_error, inspection.problems))
    return pb.ParseIqlResponse(
        tree=_tree(inspection.tree),
        canonical=canonical_text(inspection.tree),
        statements=statements(inspection.tree),
        estimated_model_calls=min(inspection.estimated_calls, _INT32_MAX),
    )


def iql_templates_response(templates: Sequence[TemplateDefinition], page: PageRequest) -> pb.ListIqlTemplatesResponse:
    """A page of the templates, which is never too large, because a file of templates has at most a million bytes."""
    scope = ["templates", *(one.name for one in templates)]
    first = offset_in(page.token, scope)
    end = first + page.size
    return pb.ListIqlTemplatesResponse(
        templates=[
            pb.IqlTemplate(name=one.name, arguments=one.arguments, statement=one.statement, meaning=one.meaning)
            for one in templates[first:end]
        ],
        next_page_token=offset_token(scope, end) if end < len(templates) else "",
        total_size=len(templates),
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


def _result(result: DocumentResult, summary: IqlSummary) -> pb.IqlDocumentResult:
    answer = pb.IqlDocumentResult(**_fields(result, summary))
    _add_matches(answer, result, summary)
    return answer


def _fields(result: DocumentResult, summary: IqlSummary) -> dict[str, Any]:
    """All but the matches."""
    return {
        "document_id": result.document_id,
        "filename": result.filename,
        "score": result.score,
        "likelihood": None if result.error else LIKELIHOODS[summary.bands.of(result.score)],
        "match_count": result.match_count,
        "error": result.error,
        "failure_cause": failure_cause(result.cause),
        "truncated": result.truncated,
        "statement_scores": [
            pb.IqlStatementScore(statement=one.statement, score=one.score) for one in result.statement_scores
        ],
        "explanation": _explained(result.explanation),
    }


def _add_matches(answer: pb.IqlDocumentResult, result: DocumentResult, summary: IqlSummary) -> None:
    """Makes the matches in their place: a message that is put into another is copied with its text."""
    for match in result.matches:
        chunk, explanation = match.chunk, _explained(match.explanation)
        shown = answer.matches.add(
            text=chunk.text,
            start_index=chunk.start,
            end_index=chunk.end,
            score=match.score,
            likelihood=LIKELIHOODS[summary.bands.of(match.score)],
            explanation=explanation,
        )
        cite(shown.citation, result.document_id, result.filename, chunk)


def _explained(explanation: Explanation | None) -> pb.IqlNode | None:
    return _tree(explanation.tree, explanation.nodes) if explanation else None


def _tree(tree: Expression, scores: Sequence[float] = ()) -> pb.IqlNode:
    """The tree as a message. `scores` are those of its nodes in pre-order, if there are any."""
    return _node(tree, iter(scores))


def _node(tree: Expression, scores: Iterator[float]) -> pb.IqlNode:
    node = pb.IqlNode(type=_NODE_TYPES[type(tree)], start=tree.span.start, end=tree.span.end, score=next(scores, None))
    match tree:
        case Statement() | Template():
            node.statement = tree.text
        case Not():
            node.operands.append(_node(tree.operand, scores))
        case _:
            node.operands.extend(_node(operand, scores) for operand in tree.operands)
    if isinstance(tree, Template):
        node.template = tree.name
        node.arguments.extend(tree.arguments)
    if isinstance(tree, Comparison):
        node.comparators.extend(_COMPARATORS[comparator] for comparator in tree.comparators)
    return node


def _set_tokens(scope: Sequence[str], shown: Sequence[pb.IqlDocumentResult], results: Sequence[DocumentResult]) -> None:
    """Sets the token for the next matches of each document that has more than it shows."""
    for answer, result in zip(shown, results, strict=False):
        if answer.truncated:
            answer.next_page_token = PageStart(result.document_id, result.first + len(answer.matches)).token(scope)


def _keep_best(results: Iterable[pb.IqlDocumentResult], count: int) -> None:
    """Keeps the best `count` matches of each document, in order of their position."""
    for result in results:
        best_last = sorted(range(len(result.matches)), key=lambda index: (result.matches[index].score, -index))
        for index in sorted(best_last[: max(0, len(best_last) - count)], reverse=True):
            del result.matches[index]
            result.truncated = True


def iql_faults(problems: Sequence[Problem], max_bytes: int) -> pb.IqlFaults:
    """The faults of a query in their order, as many as fit into so many bytes. Edits give way first."""
    answer = pb.IqlFaults(errors=map(_error, problems))
    for index in range(len(answer.errors) - 1, -1, -1):
        if answer.ByteSize() > max_bytes:
            del answer.errors[index].edits[:]
    while answer.ByteSize() > max_bytes and len(answer.errors) > 1:
        answer.errors.pop()
        answer.truncated = True
    return answer


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
