"""Defines what a tool is: it takes typed arguments and returns a typed result, which can be written as text of a
limited length for the model."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from proviso_service.context.model import OWN_SERVER, ItemRef, ItemType
from proviso_service.identity import Caller
from proviso_service.reading import Place


class ToolArgs(BaseModel):
    """Base of the arguments of all tools. The matter is never among them, because it comes from the turn."""

    model_config = ConfigDict(extra="forbid")


class UncheckedArgs(ToolArgs):
    """Arguments exactly as the model gave them, for a tool that brings its own schema."""

    model_config = ConfigDict(extra="allow")

    def given(self) -> dict[str, Any]:
        return dict(self.__pydantic_extra__ or {})


@dataclass(frozen=True, slots=True)
class ToolScope:
    """The caller for whom a tool runs, and the matter and document that it works on. `matter_id` is None in a turn
    without a matter."""

    caller: Caller
    matter_id: str | None
    document_id: str | None = None


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A passage that the model may cite. `text` is the document's text from position `start`, in code points. It begins
    on `page` and under `heading`; `places` are the pages and sections that begin inside it, in order."""

    document_id: str
    filename: str
    start: int
    text: str
    page: int = 0
    heading: str = ""
    places: tuple[Place, ...] = ()

    def place_at(self, position: int) -> Place:
        """The page and heading of a position in the document's text."""
        index = bisect_right(self.places, position, key=lambda place: place.start) - 1
        return self.places[index] if index >= 0 else Place(self.start, self.page, self.heading)


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
    def shown_schema(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments, an object in the form that every provider of models accepts."""
        ...

    def problems(self, given: Mapping[str, Any]) -> Sequence[str]:
        """Describes what is wrong with arguments, each fault with its path; empty where they fit."""
        ...


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
