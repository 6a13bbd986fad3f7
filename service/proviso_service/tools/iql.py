"""The tool `isaacus_iql`: passages that satisfy an IQL query, and the score of each document."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pydantic import Field

from proviso_service.analysis.evaluation import KANON
from proviso_service.analysis.model import DocumentResult, IqlMatch, IqlOutcome, IqlQuery
from proviso_service.analysis.service import IqlAnalysis
from proviso_service.matters import MatterStore
from proviso_service.tool_results import IQL_TOOL, AnalysedDocument, FailedDocument, FoundPassage, QueryMatches
from proviso_service.tools.base import (
    LookedIn,
    Number,
    Outlines,
    Rendered,
    SourcePassage,
    ToolArgs,
    ToolScope,
    matter_of,
    passage_of,
)
from proviso_service.tools.rendering import (
    MIN_EXCERPT_CHARS,
    best_part,
    excerpt_of,
    fair_share,
    first_fitting,
    stems_of,
    to_json,
)
from proviso_service.tools.search import MAX_DOCUMENT_IDS

MAX_MATCHES_IN_ALL = 100
"""The most matches of a result. The whole result is part of the turn's events; the model is shown fewer of them."""

MAX_TEMPLATES_NAMED = 60
MAX_QUERY_SHOWN = 300
MAX_ERRORS_SHOWN = 3
_DOCUMENTS_SHARE = 0.45
_SCORE_DIGITS = 3


DESCRIPTION = """\
Execute an IQL (Isaacus Query Language) query against documents in a matter. Use this tool to analyze legal documents \
using IQL queries for clause identification, obligation analysis, and complex legal criteria matching.
Use it when users ask to:
- find specific clause types: "Find termination clauses" is {IS termination clause}
- search with criteria: "Find clauses obligating the Customer" is {IS clause obligating "Customer"}
- complex analysis: "Find unilateral clauses that limit liability" is {IS unilateral clause} AND {IS clause that \
"limits liability"}
- compare relevance: "Which is more about confidentiality?" is {IS confidentiality clause}, comparing document scores
Do not use it for "What types of clauses are here?" (isaacus_classify), "Search for references to payment" \
(isaacus_search), "What is the notice period?" (isaacus_extract) or "Show me the full document" (get_document_text).
When [CONTEXT] includes document_id, use document_ids=[document_id]; when it has matter_id only, omit document_ids.
A statement stands in braces, in plain words ({The Customer may assign.}) or as a template. Operators: AND, OR, NOT, \
>, <, + and parentheses. Scores are 0 to 1; passages above 0.5 match. Cite a match by its ref."""


class IsaacusIqlArgs(ToolArgs):
    query: str = Field(max_length=100_000, description="IQL query string (e.g., '{IS confidentiality clause}')")
    document_ids: list[str] | None = Field(
        default=None,
        max_length=MAX_DOCUMENT_IDS,
        description="Optional list of specific document IDs to analyze. If not provided, analyzes all documents in the "
        "matter.",
    )
    model: str | None = Field(
        default=KANON,
        max_length=128,
        description="Classification model: kanon-universal-classifier (more accurate) or "
        "kanon-universal-classifier-mini (faster)",
    )
    skip: int = Field(
        default=0,
        ge=0,
        le=MAX_MATCHES_IN_ALL,
        description="So many of the best matches are left out, because they were shown before.",
    )


@dataclass(frozen=True, slots=True)
class IqlResult:
    """The result of an IQL query, with the outlines of the documents that have matches."""

    outcome: IqlOutcome
    outlines: Outlines = field(default_factory=dict)
    skip: int = 0

    @property
    def found(self) -> bool:
        return self.outcome.summary.total_matches > 0

    def looked_in(self) -> LookedIn:
        results = self.outcome.results
        return LookedIn(
            asked=frozenset(result.document_id for result in results),
            found=frozenset(result.document_id for result in results if result.match_count),
            failed=frozenset(result.document_id for result in results if result.error),
        )

    def data(self) -> dict[str, Any]:
        return {
            **_totals(self.outcome),
            "document_results": [_document(result) for result in self.outcome.results],
        }

    def render(self, number: Number, max_chars: int) -> Rendered:
        """The documents with their scores. Then, while there is room, the best match of each document, cut to the part
        that fits the query, then the second best, and so on."""
        results = sorted(self.outcome.results, key=lambda result: (bool(result.error), -result.score, result.index))
        totals = _totals(self.outcome)
        failed = [_brief_error(result) for result in results if result.error][:MAX_ERRORS_SHOWN]
        totals["query"] = totals["query"][:MAX_QUERY_SHOWN]
        frame = QueryMatches(**totals, document_results=(), errors=tuple(failed), truncated=False).as_json()
        room = max_chars - len(to_json(frame))
        analysed = [result for result in results if not result.error]
        shown = first_fitting([_brief(result) for result in analysed], int(room * _DOCUMENTS_SHARE))
        room -= sum(len(to_json(one)) + 1 for one in shown)
        is_whole = self._add_matches(analysed, shown, number, room)
        is_whole = is_whole and len(shown) + len(failed) == len(results)
        return Rendered(to_json(frame | {"document_results": shown, "truncated": not is_whole}), not is_whole)

    def _add_matches(
        self, results: Sequence[DocumentResult], shown: Sequence[dict[str, Any]], number: Number, room: int
    ) -> bool:
        """Adds matches while there is room. Returns whether every match was added as a whole."""
        waiting = list(_by_turns(results[: len(shown)]))[self.skip :]
        stems = stems_of(self.outcome.summary.query)
        is_whole = True
        for position, (index, match) in enumerate(waiting):
            source = passage_of(results[index].document_id, results[index].filename, match.chunk, self.outlines)
            passage = _excerpt(source, match, stems, room, len(waiting) - position)
            if passage is None:
                return False
            is_whole = is_whole and passage.text == match.chunk.text
            shown[index]["matches"].append(_cited(number(passage), match, passage))
            room -= len(to_json(shown[index]["matches"][-1])) + 1
        return is_whole and not any(result.truncated for result in results)


class IsaacusIql:
    """Runs IQL queries on the matter's documents."""

    name = IQL_TOOL
    args = IsaacusIqlArgs
    needs_matter = True
    is_retrieval = False

    def __init__(self, analysis: IqlAnalysis, store: MatterStore) -> None:
        self._analysis = analysis
        self._store = store
        templates = ", ".join(template.signature for template in islice(analysis.templates, MAX_TEMPLATES_NAMED))
        self._description = f"{DESCRIPTION} Templates: {templates}."

    @property
    def description(self) -> str:
        return self._description

    async def run(self, scope: ToolScope, args: IsaacusIqlArgs) -> IqlResult:
        query = IqlQuery(
            matter_id=matter_of(scope),
            query=args.query,
            document_ids=tuple(args.document_ids or ()),
            model=args.model or "",
            max_matches_in_all=MAX_MATCHES_IN_ALL,
        )
        outcome = await self._analysis.execute(scope.caller.tenant, query)
        matched = [result.document_id for result in outcome.results if result.matches]
        return IqlResult(outcome, await self._store.outlines(scope.caller.tenant, matched), args.skip)


def _totals(outcome: IqlOutcome) -> dict[str, Any]:
    summary = outcome.summary
    return {
        "query": summary.query,
        "total_matches": summary.total_matches,
        "average_score": round(summary.average_score, _SCORE_DIGITS),
        "document_count": summary.document_count,
        "model": summary.model,
        **({"warnings": list(summary.warnings)} if summary.warnings else {}),
    }


def _document(result: DocumentResult) -> dict[str, Any]:
    return {
        "document_id": result.document_id,
        "filename": result.filename,
        "score": result.score,
        "matches": [_match(match) for match in result.matches],
        "match_count": result.match_count,
        "truncated": result.truncated,
        **({"error": result.error} if result.error else {}),
    }


def _match(match: IqlMatch) -> dict[str, Any]:
    chunk = match.chunk
    return {
        "text": chunk.text,
        "start_index": chunk.start,
        "end_index": chunk.end,
        "score": match.score,
        "page": chunk.page,
        "heading": chunk.heading,
    }


def _brief(result: DocumentResult) -> dict[str, Any]:
    return AnalysedDocument(
        document_id=result.document_id,
        filename=result.filename,
        score=round(result.score, _SCORE_DIGITS),
        match_count=result.match_count,
        matches=(),
    ).as_json()


def _brief_error(result: DocumentResult) -> FailedDocument:
    return FailedDocument(document_id=result.document_id, filename=result.filename, error=result.error)


def _cited(ref: int, match: IqlMatch, passage: SourcePassage) -> dict[str, Any]:
    place = {"page": passage.page} if passage.page else {}
    score = round(match.score, _SCORE_DIGITS)
    return FoundPassage(ref=ref, heading=passage.heading, **place, score=score, text=passage.text).as_json()


def _by_turns(results: Sequence[DocumentResult]) -> Iterator[tuple[int, IqlMatch]]:
    """The matches, each with the index of its document: first the best match of each document, then the second best of
    each, and so on."""
    ranked = [sorted(result.matches, key=lambda match: -match.score) for result in results]
    for turn in range(max(map(len, ranked), default=0)):
        yield from ((index, matches[turn]) for index, matches in enumerate(ranked) if turn < len(matches))


def _excerpt(
    passage: SourcePassage, match: IqlMatch, stems: frozenset[str], room: int, waiting: int
) -> SourcePassage | None:
    """The part of a match that fits the query best. It is as long as a fair share of the `room` allows when as many
    matches are still `waiting`; None where it would be too short."""
    share = fair_share(room, waiting, _cited(1_000, match, passage.empty()), MIN_EXCERPT_CHARS)
    return excerpt_of(passage, lambda limit: best_part(passage.text, stems, limit), share)
