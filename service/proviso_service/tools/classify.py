"""The tool `isaacus_classify`: which types of clauses there are, and where."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from proviso_service.analysis.classification import (
    DEFAULT_CLAUSE_TYPES,
    Classification,
    ClassifyOutcome,
    ClassifyQuery,
    Clause,
    TypeCount,
    by_turns,
)
from proviso_service.matters import MatterStore
from proviso_service.tool_results import CLASSIFY_TOOL, ClassifiedClauses, ClausesOfType, FoundPassage
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
    MAX_ERRORS_SHOWN,
    MIN_TEXT_CHARS,
    best_part,
    error_of,
    excerpt_of,
    fair_share,
    first_fitting,
    stems_of,
    to_json,
)
from proviso_service.tools.search import MAX_DOCUMENT_IDS

MAX_CLAUSES = 100
"""The most clauses of a result. The whole result is part of the turn's events; the model is shown fewer of them."""

MAX_CLAUSE_TYPES = 50
_TYPES_SHARE = 0.45
_ABSENT_SHARE = 0.15
_SCORE_DIGITS = 2

DESCRIPTION = f"""\
Find out which types of clauses the matter's documents have: how many of each type, in how many documents, and the \
passages. Every passage is judged by every type; confidences are 0 to 1, passages above 0.5 count.
Use it when users ask "What types of clauses are here?" or "Which of these clauses are in the lease?", or want an \
overview of the clauses. Without clause_types it looks for: {", ".join(DEFAULT_CLAUSE_TYPES)}.
Do not use it to find clauses of one kind or by criteria ("Find termination clauses", isaacus_iql), for "Search for \
references to payment" (isaacus_search), "What is the notice period?" (isaacus_extract) or "Show me the full document" \
(get_document_text).
When [CONTEXT] includes document_id, use document_ids=[document_id]; when it has matter_id only, omit document_ids. \
Cite a clause by its ref."""

ClauseType = Annotated[str, Field(min_length=1, max_length=200)]


class IsaacusClassifyArgs(ToolArgs):
    clause_types: list[ClauseType] | None = Field(
        default=None,
        max_length=MAX_CLAUSE_TYPES,
        description='Clause types, such as "Indemnity", or sentences; the usual types when left out.',
    )
    document_ids: list[str] | None = Field(
        default=None, max_length=MAX_DOCUMENT_IDS, description="Documents to read; all of the matter when left out."
    )


@dataclass(frozen=True, slots=True)
class ClassifyResult:
    """The clauses that were found, by type, with the outlines of their documents."""

    outcome: ClassifyOutcome
    outlines: Outlines = field(default_factory=dict)

    @property
    def found(self) -> bool:
        return self.outcome.total_found > 0

    def looked_in(self) -> LookedIn:
        outcome = self.outcome
        return LookedIn(
            asked=frozenset(outcome.query.document_ids),
            found=outcome.documents_found,
            failed=frozenset(target.document_id for target in outcome.failed),
        )

    def data(self) -> dict[str, Any]:
        outcome = self.outcome
        return {
            "clauses": [_clause(clause) for clause in outcome.clauses],
            "total_found": outcome.total_found,
            "clause_types_searched": [count.clause_type for count in outcome.counts],
            "counts": [
                {"clause_type": one.clause_type, "clauses": one.clauses, "documents": one.documents}
                for one in outcome.counts
            ],
            "truncated": len(outcome.clauses) < outcome.total_found,
            "model": outcome.model,
            "document_errors": [error_of(target).as_json() for target in outcome.failed],
        }

    def render(self, number: Number, max_chars: int) -> Rendered:
        """The types that were found with their counts. Then, while there is room, the best clause of each type, cut to
        the part that matches the type, then the second best, and so on."""
        types, frame = self._frame(max_chars)
        passages: dict[str, list[dict[str, Any]]] = {one["clause_type"]: one["passages"] for one in types}
        shown = [clause for clause in self.outcome.clauses if clause.clause_type in passages]
        is_whole = (
            len(types) + len(frame["not_found"]) == len(self.outcome.counts)
            and len(shown) == self.outcome.total_found
            and len(frame["document_errors"]) == len(self.outcome.failed)
        )
        room = max_chars - len(to_json(frame))
        for turn in by_turns(shown):
            for position, clause in enumerate(turn):
                passage = passage_of(clause.document_id, clause.filename, clause.chunk, self.outlines)
                part = _part(passage, clause, room, len(turn) - position)
                if part is None:
                    return Rendered(to_json(frame | {"truncated": True}), True)
                is_whole = is_whole and part.text == clause.chunk.text
                passages[clause.clause_type].append(_cited(number(part), clause, part))
                room -= len(to_json(passages[clause.clause_type][-1])) + 1
        return Rendered(to_json(frame | {"truncated": not is_whole}), not is_whole)

    def _frame(self, max_chars: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The types that were found, and everything of the result but their clauses. Where there are very many types,
        only the first are included."""
        counts, failed = self.outcome.counts, self.outcome.failed
        found = [_type(count) for count in counts if count.clauses]
        absent = [count.clause_type for count in counts if not count.clauses]
        shown = first_fitting(found, int(max_chars * _TYPES_SHARE))
        frame = ClassifiedClauses(
            total_found=self.outcome.total_found,
            types_searched=len(counts),
            types_found=len(found),
            not_found=tuple(first_fitting(absent, int(max_chars * _ABSENT_SHARE))),
            clause_types=(),
            document_errors=tuple(error_of(target) for target in failed[:MAX_ERRORS_SHOWN]),
            truncated=False,
        )
        return shown, frame.as_json() | {"clause_types": shown}


class IsaacusClassify:
    """Classifies the clauses of the matter's documents."""

    name = CLASSIFY_TOOL
    description = DESCRIPTION
    args = IsaacusClassifyArgs
    needs_matter = True
    is_retrieval = False

    def __init__(self, classification: Classification, store: MatterStore) -> None:
        self._classification = classification
        self._store = store

    async def run(self, scope: ToolScope, args: IsaacusClassifyArgs) -> ClassifyResult:
        query = ClassifyQuery(
            matter_id=matter_of(scope),
            clause_types=tuple(args.clause_types or ()),
            document_ids=tuple(args.document_ids or ()),
            max_clauses=MAX_CLAUSES,
        )
        outcome = await self._classification.classify(scope.caller.tenant, query)
        found = sorted({clause.document_id for clause in outcome.clauses})
        return ClassifyResult(outcome, await self._store.outlines(scope.caller.tenant, found))


def _part(passage: SourcePassage, clause: Clause, room: int, waiting: int) -> SourcePassage | None:
    """The part of a clause that matches its type best. It is as long as a fair share of the `room` allows when as many
    clauses are still `waiting`; None where it would be too short."""
    share = fair_share(room, waiting, _cited(1_000, clause, passage.empty()), MIN_TEXT_CHARS)
    stems = stems_of(clause.clause_type)
    return excerpt_of(passage, lambda limit: best_part(passage.text, stems, limit), share, MIN_TEXT_CHARS)


def _clause(clause: Clause) -> dict[str, Any]:
    chunk = clause.chunk
    return {
        "clause_type": clause.clause_type,
        "confidence": clause.confidence,
        "text_excerpt": chunk.text,
        "document_id": clause.document_id,
        "filename": clause.filename,
        "start": chunk.start,
        "end": chunk.end,
        "page": chunk.page,
        "heading": chunk.heading,
        "permalink": f"cite:{clause.document_id}@{chunk.start}-{chunk.end}",
    }


def _type(count: TypeCount) -> dict[str, Any]:
    return ClausesOfType(
        clause_type=count.clause_type, clauses=count.clauses, documents=count.documents, passages=()
    ).as_json()


def _cited(ref: int, clause: Clause, part: SourcePassage) -> dict[str, Any]:
    """The fields of a clause that the model needs. The others are left out to save characters."""
    return FoundPassage(
        ref=ref,
        filename=part.filename,
        heading=part.heading,
        confidence=round(clause.confidence, _SCORE_DIGITS),
        text=part.text,
    ).as_json()
