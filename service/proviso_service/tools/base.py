"""Defines what a tool is: it takes typed arguments and returns a typed result, which can be written as text of a
limited length for the model."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from proviso_service.context.model import OWN_SERVER, ItemRef, ItemType
from proviso_service.identity import Caller
from proviso_service.matters import Outline
from proviso_service.reading import Chunk, Place, Span


class ToolArgs(BaseModel):
    """Base of the arguments of all tools. The matter is never among them, because it comes from the turn."""

    model_config = ConfigDict(extra="forbid")

    @property
    def room(self) -> int:
        """How many times the usual room of a result for the model this one may take."""
        return 1


class UncheckedArgs(ToolArgs):
    """Arguments exactly as the model gave them, for a tool that brings its own schema."""

    model_config = ConfigDict(extra="allow")

    def given(self) -> dict[str, Any]:
        return dict(self.__pydantic_extra__ or {})


@dataclass(frozen=True, slots=True)
class ToolScope:
    """The caller for whom a tool runs, the matter that it works on, and the document on view with its file name.
    `matter_id` is None in a turn without a matter, `document_id` where no document is on view."""

    caller: Caller
    matter_id: str | None
    document_id: str | None = None
    document_name: str = ""


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A passage that the model may cite. `text` is the document's text from position `start`, in code points. It begins
    on `page` and under `heading`, that of its clause; `places` are the pages and clauses that begin inside it, in
    order. `matter_id` is DOCUMENTATION for one of the documentation, and empty for one of the turn's matter."""

    document_id: str
    filename: str
    start: int
    text: str
    page: int = 0
    heading: str = ""
    places: tuple[Place, ...] = ()
    matter_id: str = ""

    def place_at(self, position: int) -> Place:
        """The page and heading of a position in the document's text."""
        index = bisect_right(self.places, position, key=lambda place: place.start) - 1
        return self.places[index] if index >= 0 else Place(self.start, self.page, self.heading)

    def part(self, span: Span) -> "SourcePassage":
        """The part of the passage from `span.start` to `span.end` in its text."""
        start, text = self.start + span.start, self.text[span.start : span.end]
        place = self.place_at(start)
        return replace(self, start=start, text=text, page=place.page, heading=place.heading)

    def empty(self) -> "SourcePassage":
        """The passage without its text, and with the longest of its headings: what a part of it takes beside text."""
        headings = (self.heading, *(place.heading for place in self.places))
        return replace(self, text="", heading=max(headings, key=len))


Outlines = Mapping[str, Outline]
"""The outlines of documents, by their ids."""


def passage_of(document_id: str, filename: str, chunk: Chunk, outlines: Outlines) -> SourcePassage:
    """The passage of a chunk. Without the document's outline, all of it counts as of the clause that it begins in."""
    outline = outlines.get(document_id)
    places = outline.places_within(Span(chunk.start, chunk.end)) if outline else ()
    return SourcePassage(document_id, filename, chunk.start, chunk.text, chunk.page, chunk.heading, places)


Number = Callable[[SourcePassage], int]
"""Returns the number by which the model cites a passage. The same passage always has the same number."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A result in the form that the model reads. `truncated` says that something was left out so that it fits.
    `artifact` is the result as JSON where `text` has another form: it stays with the message, and models of a provider
    are not shown it."""

    text: str
    truncated: bool
    artifact: dict[str, Any] | None = None


class ToolResult(Protocol):
    @property
    def found(self) -> bool:
        """Whether a retrieval found anything; True for other tools."""
        ...

    def data(self) -> dict[str, Any]:
        """The whole typed result, as values that can be written as JSON."""
        ...

    def render(self, number: Number, max_chars: int) -> Rendered:
        """The result as text of at most `max_chars` code points; it is only longer where not even its frame fits. The
        text is JSON, except for the tool `retriever`."""
        ...


@runtime_checkable
class MaybePartial(Protocol):
    """A result that may be incomplete. An incomplete result is not kept in the cache."""

    @property
    def partial(self) -> bool:
        """Whether something failed or could not be searched yet."""
        ...


@dataclass(frozen=True, slots=True)
class LookedIn:
    """The documents that a tool looked in, by their ids: those that it was `asked` about, all of the matter where there
    are none; those of which it `found` something; and those that `failed`, which it could not read."""

    asked: frozenset[str] = frozenset()
    found: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()


@runtime_checkable
class LooksInDocuments(Protocol):
    """A result of looking in documents of the matter."""

    def looked_in(self) -> LookedIn: ...


class Tool(Protocol):
    """A tool that the agent may call. `run` raises ProvisoError for a problem that the model or the caller can
    solve."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def args(self) -> type[ToolArgs]: ...

    @property
    def needs_matter(self) -> bool: ...

    @property
    def is_retrieval(self) -> bool:
        """Whether this tool retrieves what an answer rests on."""
        ...

    async def run(self, scope: ToolScope, args: Any) -> ToolResult:
        """Runs the tool with validated `args`, an instance of `self.args`."""
        ...


@runtime_checkable
class ExternalTool(Tool, Protocol):
    """A tool of another server. Its arguments are UncheckedArgs: the schema that the server gives describes and checks
    them, not a type."""

    @property
    def server_name(self) -> str: ...

    @property
    def name_on_server(self) -> str:
        """The name that the server uses; `name` is the one that the model is shown."""
        ...

    @property
    def is_repeatable(self) -> bool:
        """Whether its server says that calling it again does no harm."""
        ...

    @property
    def shown_schema(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments, an object in the form that every provider of models accepts."""
        ...

    def problems(self, given: Mapping[str, Any]) -> Sequence[str]:
        """Describes what is wrong with arguments, each fault with its path; empty where they fit."""
        ...


def may_be_repeated(tool: Tool) -> bool:
    """Whether a call may be made again where nobody knows what became of it. The service's own tools only read."""
    return not isinstance(tool, ExternalTool) or tool.is_repeatable


def server_of(tool: Tool) -> str:
    """The name of the server that offers a tool."""
    return tool.server_name if isinstance(tool, ExternalTool) else OWN_SERVER


def item_of(tool: Tool) -> ItemRef:
    """The tool as a context item, under the name that its server uses."""
    name = tool.name_on_server if isinstance(tool, ExternalTool) else tool.name
    return ItemRef(ItemType.TOOL, name, server_of(tool))


def matter_of(scope: ToolScope) -> str:
    """The matter of the scope. The agent never runs a tool that needs a matter without one."""
    if scope.matter_id is None:
        raise ValueError("this tool needs a matter")
    return scope.matter_id
