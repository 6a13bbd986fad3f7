"""The tool `isaacus_search`: passages of a matter, by meaning and by words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import Field

from proviso_service.matters import (
    DEFAULT_SEMANTIC_WEIGHT,
    DEFAULT_THRESHOLD,
    MatterStore,
    Retriever,
    SearchHit,
    SearchOutcome,
    SearchQuery,
)
from proviso_service.tool_results import SEARCH_TOOL, FoundPassage, FoundPassages, MatchingDocument, ResultShape
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
    best_part,
    check_any_read,
    error_of,
    stems_of,
    to_json,
)

T = TypeVar("T")

MAX_DOCUMENT_IDS = 1_000
MAX_MATCHING_SHOWN = 12
MIN_EXCERPT_CHARS = 360
# The share of a result's characters that a list of names may take; more where passages need little room.
_NAMES_SHARE = 0.16
_NAMES_SHARE_OF_FEW = 0.5
_FEW_PASSAGES = 2


class IsaacusSearchArgs(ToolArgs):
    query: str = Field(min_length=1, max_length=2_000, description="What to look for, in natural language.")
    max_results: int = Field(5, ge=1, le=20, description="Most passages to return.")
    threshold: float = Field(DEFAULT_THRESHOLD, ge=0, le=1, description="Lowest similarity.")
    semantic_weight: float = Field(DEFAULT_SEMANTIC_WEIGHT, ge=0, le=1, description="Weight of meaning against words.")
    include_context: bool = Field(False, description="Whether to add the passages before and after each one.")
    max_per_document: int = Field(
        0, ge=0, le=20, description="Most passages of one document, the best of each first; 0 for no limit."
    )
    document_ids: list[str] = Field(
        default_factory=list, max_length=MAX_DOCUMENT_IDS, description="Documents to search; all when empty."
    )


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search, best passage first, with the outlines of the documents found."""

    outcome: SearchOutcome
    outlines: Outlines = field(default_factory=dict)

    @property
    def found(self) -> bool:
        return bool(self.outcome.hits)

    @property
    def partial(self) -> bool:
        return self.outcome.rerank_failed or any(
            one.document and not one.document.status.is_final for one in self.outcome.not_searched
        )

    def looked_in(self) -> LookedIn:
        found = {hit.stored.document_id for hit in self.outcome.hits}
        found |= {document.document_id for document in self.outcome.documents_matching}
        failed = frozenset(one.document_id for one in self.outcome.not_searched)
        return LookedIn(frozenset(self.outcome.query.document_ids), frozenset(found), failed)

    def data(self) -> dict[str, Any]:
        outcome = self.outcome
        return {
            "query": outcome.query.query,
            "total_found": outcome.size.total,
            "results": [_hit(hit) for hit in outcome.hits],
            "documents_matching": [
                {"document_id": d.document_id, "filename": d.filename, "passages": d.passages}
                for d in outcome.documents_matching
            ],
            "documents_available": list(outcome.documents_available),
            "documents_processing": list(outcome.documents_processing),
            "not_searched": [error_of(one).as_json() for one in outcome.not_searched],
        }

    def render(self, number: Number, max_chars: int) -> Rendered:
        """As many passages as fit, best first. Each is cut to the part that matches the query where that makes room for
        others, so the fewer passages were asked for, the more of each is shown."""
        names_share = _NAMES_SHARE if len(self.outcome.hits) > _FEW_PASSAGES else _NAMES_SHARE_OF_FEW
        frame = self._frame(int(max_chars * names_share))
        room = max_chars - len(to_json(frame))
        hits = self.outcome.hits
        stems = stems_of(self.outcome.query.query)
        shown: list[dict[str, Any]] = []
        for position, hit in enumerate(hits):
            passage = hit_passage(hit, self.outlines)
            limit = _limit(passage, room, len(hits) - position)
            part = _part(passage, stems, limit, MIN_EXCERPT_CHARS if shown else 0)
            if part is None:
                break
            shown.append(_brief(number(part), part))
            room -= len(to_json(shown[-1])) + 1
        is_whole = len(shown) == len(hits) and all(
            one["text"] == hit.stored.chunk.text for one, hit in zip(shown, hits, strict=True)
        )
        return Rendered(to_json(frame | {"results": shown, "truncated": not is_whole}), not is_whole)

    def _frame(self, max_chars: int) -> dict[str, Any]:
        """The result without its passages. Each list of names is cut to what fits into `max_chars`."""
        outcome = self.outcome
        matching = [MatchingDocument(filename=d.filename, passages=d.passages) for d in outcome.documents_matching]
        return FoundPassages(
            query=outcome.query.query,
            total_found=outcome.size.total,
            documents_found=len({hit.stored.document_id for hit in outcome.hits}),
            results=(),
            documents_matching=_fitting(matching, max_chars),
            documents_matching_count=len(matching),
            documents_available=_fitting(outcome.documents_available, max_chars),
            documents_processing=_fitting(outcome.documents_processing, max_chars),
            **self._not_searched(),
            truncated=False,
        ).as_json()

    def _not_searched(self) -> dict[str, Any]:
        """The first documents that were not searched; nothing where there are none, so that no room is lost."""
        unread = self.outcome.not_searched[:MAX_ERRORS_SHOWN]
        return {"not_searched": tuple(map(error_of, unread))} if unread else {}


class IsaacusSearch:
    """Searches the matter's documents."""

    name = SEARCH_TOOL
    description = (
        "Search the matter's documents by meaning and by words. Returns the closest passages, each with a ref to cite "
        "it by, and the list of all documents that hold the query's words. Use it for questions about content."
    )
    args = IsaacusSearchArgs
    needs_matter = True
    is_retrieval = True

    def __init__(self, retriever: Retriever, store: MatterStore) -> None:
        self._retriever = retriever
        self._store = store

    async def run(self, scope: ToolScope, args: IsaacusSearchArgs) -> SearchResult:
        query = SearchQuery(
            matter_id=matter_of(scope),
            query=args.query,
            max_results=args.max_results,
            threshold=args.threshold,
            semantic_weight=args.semantic_weight,
            include_context=args.include_context,
            document_ids=tuple(args.document_ids),
            max_per_document=args.max_per_document,
        )
        outcome = await self._retriever.search(scope.caller.tenant, query)
        if outcome.not_searched and not outcome.hits and not outcome.documents_available:
            check_any_read(query.document_ids, outcome.not_searched)
        return SearchResult(outcome, await outlines_of(self._store, scope.caller.tenant, outcome))


async def outlines_of(store: MatterStore, tenant: str, outcome: SearchOutcome) -> Outlines:
    """The outlines of the documents that a search found."""
    return await store.outlines(tenant, sorted({hit.stored.document_id for hit in outcome.hits}))


def hit_passage(hit: SearchHit, outlines: Outlines) -> SourcePassage:
    return passage_of(hit.stored.document_id, hit.stored.filename, hit.stored.chunk, outlines)


def _fitting(items: Sequence[T], max_chars: int) -> tuple[T, ...]:
    """The first items that fit as JSON, at most twelve."""
    kept = list(items[:MAX_MATCHING_SHOWN])
    while kept and len(to_json({"": [_plain(one) for one in kept]})) > max_chars:
        kept.pop()
    return tuple(kept)


def _plain(item: object) -> Any:
    return item.as_json() if isinstance(item, ResultShape) else item


def _limit(passage: SourcePassage, room: int, waiting: int) -> int:
    """How many characters of text a hit may show, so that as many as are `waiting` get a fair share of the `room`."""
    frame = len(to_json(_brief(1_000, passage.empty()))) + 1
    shares = max(1, min(waiting, room // (frame + MIN_EXCERPT_CHARS)))
    return room // shares - frame


def _part(passage: SourcePassage, stems: frozenset[str], max_chars: int, min_chars: int) -> SourcePassage | None:
    """The part of a hit's text that matches the query best, at most `max_chars` long as JSON; None where it would have
    to be shorter than `min_chars`."""
    limit = max(max_chars, 0 if min_chars else MIN_EXCERPT_CHARS)
    if limit < min(min_chars, len(passage.text)):
        return None
    span = best_part(passage.text, stems, limit)
    # JSON escapes make a text longer than its code points.
    while (over := len(to_json({"": passage.text[span.start : span.end]})) - len('{"":""}') - limit) > 0:
        limit_now = span.end - span.start - over
        if limit_now < MIN_EXCERPT_CHARS // 2:
            break
        span = best_part(passage.text, stems, limit_now)
    return passage.part(span)


def _hit(hit: SearchHit) -> dict[str, Any]:
    chunk = hit.stored.chunk
    found = {
        "document_id": hit.stored.document_id,
        "chunk_id": hit.stored.chunk_id,
        "filename": hit.stored.filename,
        "chunk_text": chunk.text,
        "similarity": round(hit.similarity, 4),
        "lexical_match": hit.lexical_match,
        "lexical_score": round(hit.lexical_score, 4),
        "heading": chunk.heading,
        "section_path": list(chunk.section_path),
        "page": chunk.page,
        "start": chunk.start,
        "end": chunk.end,
        "permalink": f"cite:{hit.stored.document_id}@{chunk.start}-{chunk.end}",
        "snippet": {
            "text": hit.snippet.text,
            "start": hit.snippet.start,
            "highlights": [{"start": span.start, "end": span.end} for span in hit.snippet.highlights],
        },
    }
    if hit.rerank_score is not None:
        found["rerank_score"] = round(hit.rerank_score, 4)
    if hit.context_before or hit.context_after:
        found |= {"context_before": hit.context_before, "context_after": hit.context_after}
    return found


def _brief(ref: int, part: SourcePassage) -> dict[str, Any]:
    """The fields of a hit that the model needs. The others are left out to save characters."""
    return FoundPassage(
        ref=ref,
        document_id=part.document_id,
        filename=part.filename,
        heading=part.heading,
        text=part.text,
    ).as_json()
