"""Tells in the results of tools which documents were searched, and what became of the document on view: only turns
with a document on view are told, as the answer has to say when it rests on other documents alone. Also tells where the
models do not read the language of what was asked, or of documents."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from proviso_service.concurrency import together
from proviso_service.errors import DocumentNotFound
from proviso_service.matters import Document, DocumentStatus, MatterReader
from proviso_service.tool_results import DocumentOnView, SearchedDocuments, TurnResult
from proviso_service.tools.base import (
    ExternalTool,
    LookedIn,
    LooksInDocuments,
    MaybePartial,
    Number,
    Rendered,
    Tool,
    ToolArgs,
    ToolResult,
    ToolScope,
)
from proviso_service.tools.registry import ToolRegistry
from proviso_service.tools.rendering import first_fitting, to_json

_MAX_NAMES_CHARS = 200
_ASKED = ("query", "question")
"""The arguments of tools that say what is asked."""


@dataclass(frozen=True, slots=True)
class NotedResult:
    """The result of a tool, and a note on it. Its rendering has the note before everything else, so that no cut takes
    it off. Where something of the document on view was found, the result names it, and the note does not."""

    result: ToolResult
    note: TurnResult

    @property
    def found(self) -> bool:
        return self.result.found

    @property
    def partial(self) -> bool:
        return isinstance(self.result, MaybePartial) and self.result.partial

    def data(self) -> dict[str, Any]:
        return self.note.as_json() | self.result.data()

    def render(self, number: Number, max_chars: int) -> Rendered:
        named = {"document_id", "filename"} if self.note.on_view and self.note.on_view.found else set[str]()
        note = to_json(self.note.model_dump(exclude_unset=True, exclude={"on_view": named})).removesuffix("}") + ","
        rendered = self.result.render(number, max_chars - len(note))
        return Rendered(note + rendered.text.removeprefix("{"), rendered.truncated, rendered.artifact)


@dataclass(frozen=True, slots=True)
class NotedSearch(NotedResult):
    """A noted result of looking in documents."""

    looked: LookedIn

    def looked_in(self) -> LookedIn:
        return self.looked


class _Around:
    """What a tool around another has of it."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self.name = tool.name
        self.description = tool.description
        self.args = tool.args
        self.needs_matter = tool.needs_matter
        self.is_retrieval = tool.is_retrieval


class WarnsOfLanguages(Protocol):
    async def language_warnings(
        self, tenant: str, matter_id: str, document_ids: Collection[str], asked: Sequence[str]
    ) -> tuple[str, ...]: ...


class WithLanguageWarnings(_Around):
    """A tool that looks in documents of the matter, whose results also tell where the models do not read a language."""

    def __init__(self, tool: Tool, matters: WarnsOfLanguages) -> None:
        super().__init__(tool)
        self._matters = matters

    async def run(self, scope: ToolScope, args: ToolArgs) -> ToolResult:
        result = await self._tool.run(scope, args)
        if scope.matter_id is None or not isinstance(result, LooksInDocuments):
            return result
        looked = result.looked_in()
        said = [text for name in _ASKED if (text := getattr(args, name, ""))]
        warnings = await self._matters.language_warnings(scope.caller.tenant, scope.matter_id, looked.asked, said)
        return NotedSearch(result, TurnResult(languages=warnings), looked) if warnings else result


def with_document_on_view(tools: ToolRegistry, matters: MatterReader) -> ToolRegistry:
    """The tools of a turn with a document on view: the results of those that work on the matter tell of it."""

    def telling(tool: Tool) -> Tool:
        return WithDocumentOnView(tool, matters) if tool.needs_matter and not isinstance(tool, ExternalTool) else tool

    return tools.replaced(telling)


class WithDocumentOnView(_Around):
    """A tool whose results tell what became of the document on view. Without one they are those of the tool itself."""

    def __init__(self, tool: Tool, matters: MatterReader) -> None:
        super().__init__(tool)
        self._matters = matters

    async def run(self, scope: ToolScope, args: ToolArgs) -> ToolResult:
        result = await self._tool.run(scope, args)
        if scope.matter_id is None or scope.document_id is None:
            return result
        if not isinstance(result, LooksInDocuments):
            viewed = DocumentOnView(document_id=scope.document_id, filename=scope.document_name)
            return NotedResult(result, TurnResult(on_view=viewed))
        looked_in = result.looked_in()
        searched, of = await self._searched(scope.caller.tenant, scope.matter_id, scope.document_id, looked_in)
        viewed = DocumentOnView(
            document_id=scope.document_id,
            filename=scope.document_name,
            searched=scope.document_id in searched,
            found=scope.document_id in looked_in.found,
        )
        return NotedResult(result, TurnResult(searched=_counts(searched, of, scope.document_id), on_view=viewed))

    async def _searched(
        self, tenant: str, matter_id: str, viewed_id: str, looked_in: LookedIn
    ) -> tuple[Mapping[str, str], int]:
        """The file names of the documents that were searched, by id, and how many of the matter can be searched."""
        asked = {document_id.lower() for document_id in looked_in.asked}
        if asked == {viewed_id}:  # the usual case, in which the other documents need not be listed
            matter, documents = await together(
                self._matters.get(tenant, matter_id), self._document(tenant, matter_id, viewed_id)
            )
            of = matter.ready_count
        else:
            documents = [one for one in await self._matters.all_documents(tenant, matter_id) if _is_ready(one)]
            of = len(documents)
        read = (one for one in documents if _is_ready(one) and one.document_id not in looked_in.failed)
        return {one.document_id: one.filename for one in read if not asked or one.document_id in asked}, of

    async def _document(self, tenant: str, matter_id: str, document_id: str) -> Sequence[Document]:
        try:
            return [await self._matters.get_document(tenant, matter_id, document_id)]
        except DocumentNotFound:  # deleted since the turn began
            return []


def _counts(searched: Mapping[str, str], of: int, viewed_id: str) -> SearchedDocuments:
    counts = SearchedDocuments(documents=len(searched), of=of)
    if len(searched) == of or searched.keys() <= {viewed_id}:
        return counts
    names = first_fitting(list(searched.values()), _MAX_NAMES_CHARS)
    return counts.model_copy(update={"filenames": tuple(names)})


def _is_ready(document: Document) -> bool:
    return document.status is DocumentStatus.READY
