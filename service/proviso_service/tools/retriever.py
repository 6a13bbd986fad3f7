"""The tool `retriever`: passages of the tenant's documentation, as numbered references with file names."""

from dataclasses import dataclass, replace

from pydantic import Field

from proviso_service.matters import DOCUMENTATION, Documentation
from proviso_service.tool_results import RETRIEVER_TOOL, FoundPassage, FoundPassages
from proviso_service.tools.base import Number, Rendered, SourcePassage, ToolArgs, ToolScope
from proviso_service.tools.rendering import MIN_EXCERPT_CHARS, MIN_TEXT_CHARS, best_part, excerpt_of, stems_of
from proviso_service.tools.search import SearchResult, hit_passage

EMPTY = "DOCUMENTATION_SEARCH_RESULT: EMPTY"
"""What the model reads when nothing was found."""

_INDENT = "    "
_MAX_HEADING_CHARS = 120
_WIDEST_NUMBER = 999


class RetrieverArgs(ToolArgs):
    query: str = Field(min_length=1, max_length=2_000, description="What to look for, in natural language.")
    max_results: int = Field(5, ge=1, le=20, description="Most passages to return.")


@dataclass(frozen=True, slots=True)
class DocumentationResult(SearchResult):
    """The result of a search of the documentation, best passage first. The model reads it as numbered text instead of
    JSON."""

    def render(self, number: Number, max_chars: int) -> Rendered:
        """One block for each passage, best first: `[2] handbook.md, page 3, Leave:`, and below it the text, indented so
        that no text can look like a reference.

        As many passages are shown as fit. Each is cut to the part that matches the query where that makes room for
        others, and a last line counts those that are left out. The text is EMPTY where nothing was found."""
        hits = self.outcome.hits
        if not hits:
            return Rendered(EMPTY, truncated=False)
        stems = stems_of(self.outcome.query.query)
        room = max_chars - len(_left_out(len(hits)))
        blocks: list[str] = []
        shown: list[FoundPassage] = []
        is_whole = True
        for position, hit in enumerate(hits):
            passage = replace(hit_passage(hit, self.outlines), matter_id=DOCUMENTATION)
            part = _part(passage, stems, _share(passage, room, len(hits) - position), is_first=not blocks)
            if part is None:
                break
            is_whole = is_whole and part == passage
            ref = number(part)
            shown.append(FoundPassage(ref=ref, filename=_place(part), text=part.text))
            blocks.append(f"{_head(ref, part)}\n{_indented(part.text)}\n\n")
            room -= len(blocks[-1])
        left_out = len(hits) - len(blocks)
        text = "".join(blocks) + (_left_out(left_out) if left_out else "")
        found = FoundPassages(total_found=len(hits), results=tuple(shown))
        return Rendered(text.rstrip("\n"), truncated=left_out > 0 or not is_whole, artifact=found.as_json())


class DocumentationRetriever:
    """Searches the documentation of the caller's tenant."""

    name = RETRIEVER_TOOL
    description = (
        "Search the organisation's own documentation: handbooks, policies and guides that belong to no matter. Returns "
        f"passages as numbered references with file names, to be cited by both, or {EMPTY}. Use it for how things are "
        "done and what the rules of the house are, never for what a matter's documents say."
    )
    args = RetrieverArgs
    needs_matter = False
    is_retrieval = True

    def __init__(self, documentation: Documentation) -> None:
        self._documentation = documentation

    async def run(self, scope: ToolScope, args: RetrieverArgs) -> DocumentationResult:
        tenant = scope.caller.tenant
        outcome = await self._documentation.search(tenant, args.query, args.max_results)
        return DocumentationResult(outcome, await self._documentation.outlines(tenant, outcome))


def _share(passage: SourcePassage, room: int, waiting: int) -> int:
    """How many characters of text a passage may show, so that as many as are `waiting` get a fair share of the
    `room`."""
    around = len(_head(_WIDEST_NUMBER, passage.empty())) + len("\n\n\n")
    shares = max(1, min(waiting, room // (around + MIN_EXCERPT_CHARS)))
    return room // shares - around


def _part(passage: SourcePassage, stems: frozenset[str], max_chars: int, *, is_first: bool) -> SourcePassage | None:
    """The part of a passage that matches the query best; None where there is no room. The first passage always shows
    something."""
    return excerpt_of(
        passage,
        lambda limit: best_part(passage.text, stems, limit),
        max(max_chars, 2 * MIN_TEXT_CHARS) if is_first else max_chars,
        1 if is_first else MIN_EXCERPT_CHARS,
        length_of=lambda text: len(_indented(text)),
    )


def _head(number: int, passage: SourcePassage) -> str:
    return f"[{number}] {_place(passage)}:"


def _place(passage: SourcePassage) -> str:
    """Where a passage stands, for example `handbook.md, page 3, Leave`."""
    page = f"page {passage.page}" if passage.page else ""
    heading = " ".join(passage.heading.split())[:_MAX_HEADING_CHARS]
    return ", ".join(part for part in (passage.filename, page, heading) if part)


def _indented(text: str) -> str:
    return "\n".join(f"{_INDENT}{line}" if line.strip() else "" for line in text.splitlines())


def _left_out(count: int) -> str:
    return f"({count} more found, not shown for want of room)"
