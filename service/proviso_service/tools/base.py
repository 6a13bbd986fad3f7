"""What a tool is: typed arguments in, a typed result out that can be rendered for the model within a budget."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from proviso_service.context.model import OWN_SERVER, ItemRef, ItemType
from proviso_service.identity import Caller
from proviso_service.reading import Place


class ToolArgs(BaseModel):
    """Base of the arguments of a tool; the matter is never among them: it comes from the turn."""

    model_config = ConfigDict(extra="forbid")


class UncheckedArgs(ToolArgs):
    """Arguments as the model gave them, of a tool that brings its own schema."""

    model_config = ConfigDict(extra="allow")

    def given(self) -> dict[str, Any]:
        return dict(self.__pydantic_extra__ or {})


@dataclass(frozen=True, slots=True)
class ToolScope:
    """On whose behalf, and on what, a tool runs. `matter_id` is None in a turn without a matter."""

    caller: Caller
    matter_id: str | None
    document_id: str | None = None


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A source: `text` is the document's text from `start` on, in code points. It begins on `page` and under `heading`;
    `places` are the pages and sections that begin inside it, in order."""

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
"""Gives a passage the number by which the model cites it; the same passage keeps its number."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A result as the model reads it; `truncated` when something was left out to fit. `artifact` is its JSON form where
    `text` has another one: it goes along with the message and is not shown to a model of a provider."""

    text: str
    truncated: bool
    artifact: dict[str, Any] | None = None


class ToolResult(Protocol):
    @property
    def found(self) -> bool:
        """False when a retrieval found nothing."""
        ...

    def data(self) -> dict[str, Any]:
        """The typed result, JSON-serialisable, whole."""
        ...

    def render(self, number: Number, max_chars: int) -> Rendered:
        """The result as text of at most `max_chars` code points (a little more only where not even the frame fits):
        JSON, but for `retriever`."""
        ...


@runtime_checkable
class MaybePartial(Protocol):
    """A result of which a part may be missing. Such a one is not kept for later."""

    @property
    def partial(self) -> bool:
        """Whether something failed, or could not be looked at yet."""
        ...


class Tool(Protocol):
    """One of the agent's tools. `run` raises ProvisoError for what the model or the caller can mend."""

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
        """Whether an answer rests on what this tool finds."""
        ...

    async def run(self, scope: ToolScope, args: Any) -> ToolResult:
        """Runs with validated `args`, an instance of `self.args`."""
        ...


@runtime_checkable
class ExternalTool(Tool, Protocol):
    """A tool of another server than our own. Its arguments are UncheckedArgs, described and checked by the schema that
    the server gives rather than by a type."""

    @property
    def server_name(self) -> str: ...

    @property
    def name_on_server(self) -> str:
        """`name` is the one that the model is shown."""
        ...

    @property
    def shown_schema(self) -> Mapping[str, Any]:
        """JSON schema of an object, as every provider of models takes it."""
        ...

    def problems(self, given: Mapping[str, Any]) -> Sequence[str]:
        """What is wrong with arguments, each with its path; empty when they fit."""
        ...


def server_of(tool: Tool) -> str:
    """The name of the server that offers a tool."""
    return tool.server_name if isinstance(tool, ExternalTool) else OWN_SERVER


def item_of(tool: Tool) -> ItemRef:
    """A tool as a context item: under the name that its server has for it."""
    name = tool.name_on_server if isinstance(tool, ExternalTool) else tool.name
    return ItemRef(ItemType.TOOL, name, server_of(tool))


def matter_of(scope: ToolScope) -> str:
    """The scope's matter; the agent never runs a tool that needs one without it."""
    if scope.matter_id is None:
        raise ValueError("this tool needs a matter")
    return scope.matter_id
