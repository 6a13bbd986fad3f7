"""The tool `isaacus_search`: passages of a matter, by meaning and by words."""

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from proviso_service.matters.model import SearchHit, SearchOutcome, SearchQuery
from proviso_service.matters.retrieval import Retriever
from proviso_service.tools.base import Number, Passage, Rendered, ToolArgs, ToolScope, matter_of
from proviso_service.tools.rendering import fit_list

MAX_DOCUMENT_IDS = 1_000
MAX_MATCHING_SHOWN = 12


class IsaacusSearchArgs(ToolArgs):
    query: str = Field(min_length=1, max_length=2_000, description="What to look for, in natural language.")
    max_results: int = Field(5, ge=1, le=20, description="Most passages to return.")
    threshold: float = Field(0.3, ge=0, le=1, description="Lowest similarity.")
    semantic_weight: float = Field(0.7, ge=0, le=1, description="Weight of meaning against words.")
    include_context: bool = Field(False, description="Whether to add the passages before and after each one.")
    document_ids: list[str] = Field(
        default_factory=list, max_length=MAX_DOCUMENT_IDS, description="Documents to search; all when empty."
    )


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The outcome of a search, best passage first."""

    outcome: SearchOutcome

    @property
    def found(self) -> bool:
        return bool(self.outcome.hits)

    def data(self) -> dict[str, Any]:
        outcome = self.outcome
        return {
            "query": outcome.query.query,
            "total_found": len(outcome.hits),
            "results": [_hit(hit) for hit in outcome.hits],
            "documents_matching": [
                {"document_id": d.document_id, "filename": d.filename, "passages": d.passages}
                for d in outcome.documents_matching
            ],
            "documents_available": list(outcome.documents_available),
            "documents_processing": list(outcome.documents_processing),
        }

    def render(self, number: Number, max_chars: int) -> Rendered:
        data = self.data()
        matching = data["documents_matching"]
        payload = data | {
            "results": [_brief(number(_passage(hit)), hit) for hit in self.outcome.hits],
            "documents_matching": matching[:MAX_MATCHING_SHOWN],
            "documents_matching_count": len(matching),
            "documents_available": data["documents_available"][:MAX_MATCHING_SHOWN],
            "documents_processing": data["documents_processing"][:MAX_MATCHING_SHOWN],
        }
        return fit_list(payload, "results", max_chars, text_key="text")


class IsaacusSearch:
    """Searches the matter's documents."""

    name = "isaacus_search"
    description = (
        "Search the matter's documents by meaning and by words. Returns the closest passages, each with a ref to cite "
        "it by, and the list of all documents that hold the query's words. Use it for questions about content."
    )
    args = IsaacusSearchArgs
    needs_matter = True
    is_retrieval = True

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    async def run(self, scope: ToolScope, args: IsaacusSearchArgs) -> SearchResult:
        query = SearchQuery(
            matter_id=matter_of(scope),
            query=args.query,
            max_results=args.max_results,
            threshold=args.threshold,
            semantic_weight=args.semantic_weight,
            include_context=args.include_context,
            document_ids=tuple(args.document_ids),
        )
        return SearchResult(await self._retriever.search(scope.caller.tenant, query))


def _passage(hit: SearchHit) -> Passage:
    chunk = hit.stored.chunk
    return Passage(hit.stored.document_id, hit.stored.filename, chunk.start, chunk.text, chunk.page, chunk.heading)


def _hit(hit: SearchHit) -> dict[str, Any]:
    chunk = hit.stored.chunk
    found = {
        "document_id": hit.stored.document_id,
        "chunk_id": hit.stored.chunk_id,
        "filename": hit.stored.filename,
        "chunk_text": chunk.text,
        "similarity": round(hit.similarity, 4),
        "lexical_match": hit.lexical_match,
        "heading": chunk.heading,
        "section_path": list(chunk.section_path),
        "page": chunk.page,
        "start": chunk.start,
        "end": chunk.end,
        "permalink": f"cite:{hit.stored.document_id}@{chunk.start}-{chunk.end}",
    }
    if hit.context_before or hit.context_after:
        found |= {"context_before": hit.context_before, "context_after": hit.context_after}
    return found


def _brief(ref: int, hit: SearchHit) -> dict[str, Any]:
    """What the model needs of a hit; characters are dear."""
    return {
        "ref": ref,
        "document_id": hit.stored.document_id,
        "filename": hit.stored.filename,
        "heading": hit.stored.chunk.heading,
        "similarity": round(hit.similarity, 2),
        "lexical_match": hit.lexical_match,
        "text": hit.stored.chunk.text,
    }
