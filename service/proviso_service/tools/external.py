"""The tools of other servers, used like the service's own; also those whose server has not listed them yet, as happens
after a restart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from proviso_service.context.model import ItemRef
from proviso_service.mcp.model import ServerTool, ToolOutput, ToolServerFailed
from proviso_service.mcp.schemas import ArgumentValidator
from proviso_service.tools.base import ExternalTool, Number, Rendered, Tool, ToolResult, ToolScope, UncheckedArgs
from proviso_service.tools.rendering import fitting_length, to_json

_MAX_ERROR_CHARS = 1_000


class ToolCaller(Protocol):
    """Where the calls go."""

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """ToolServerFailed, in words."""
        ...


@dataclass(frozen=True, slots=True)
class ExternalToolResult:
    """What a server's tool gave. It is no passage of a document: nothing in it can be quoted by number."""

    server: str
    output: ToolOutput

    @property
    def found(self) -> bool:
        return True

    def data(self) -> dict[str, Any]:
        typed = {} if self.output.structured is None else {"structured": dict(self.output.structured)}
        return {"server": self.server, "text": self.output.text} | typed | {"truncated": self.output.truncated}

    def render(self, number: Number, max_chars: int) -> Rendered:
        """The typed result where it fits whole, else the text, cut where it must be. The frame keeps what a server says
        apart from what the model is told."""
        del number
        whole = self.data()
        if self.output.structured is not None:
            typed = to_json({name: value for name, value in whole.items() if name != "text" or value})
            if len(typed) <= max_chars:
                return Rendered(typed, self.output.truncated)
        text = self.output.text or to_json(self.output.structured)
        framed = {"server": self.server, "text": text, "truncated": self.output.truncated}
        length = fitting_length(framed, "text", max_chars)
        is_cut = self.output.truncated or length < len(text)
        return Rendered(to_json(framed | {"text": text[:length], "truncated": is_cut}), is_cut)


class McpTool:
    """A tool of a server that speaks the Model Context Protocol. It brings its own schema."""

    args = UncheckedArgs
    needs_matter = False
    is_retrieval = False

    def __init__(self, tool: ServerTool, caller: ToolCaller) -> None:
        self.name = tool.shown_name
        self.server_name = tool.server_name
        self.name_on_server = tool.name
        self.description = tool.description
        self.shown_schema = tool.shown_schema
        self._arguments = ArgumentValidator(tool.schema)
        self._caller = caller

    def problems(self, given: Mapping[str, Any]) -> list[str]:
        return self._arguments.problems(given)

    async def run(self, scope: ToolScope, args: UncheckedArgs) -> ExternalToolResult:
        """The server is told the arguments and nothing else: neither who asks nor about which matter."""
        del scope
        output = await self._caller.call(self.server_name, self.name_on_server, args.given())
        if output.is_error:
            said = output.text[:_MAX_ERROR_CHARS] or "it does not say what."
            raise ToolServerFailed(f"The tool {self.name_on_server!r} of {self.server_name!r} failed: {said}")
        return ExternalToolResult(self.server_name, output)


class ToolFinder(Protocol):
    def find(self, ref: ItemRef) -> Tool | None:
        """None for a tool that nobody offers."""
        ...


class UnlistedTool:
    """A tool that the model was shown before, as `shown`: name, description and parameters. It is looked for when it is
    called; by then its server may be back."""

    args = UncheckedArgs
    needs_matter = False
    is_retrieval = False

    def __init__(self, ref: ItemRef, shown: Mapping[str, Any], tools: ToolFinder) -> None:
        self.name = str(shown["name"])
        self.server_name = ref.server_name
        self.name_on_server = ref.name
        self.description = str(shown["description"])
        self.shown_schema: Mapping[str, Any] = shown["parameters"]
        self._ref = ref
        self._tools = tools

    def problems(self, given: Mapping[str, Any]) -> list[str]:
        """None: whether they fit is known when it is called."""
        del given
        return []

    async def run(self, scope: ToolScope, args: UncheckedArgs) -> ToolResult:
        """Raises ToolServerFailed where its server is not back, or wants other arguments by now."""
        tool = self._tools.find(self._ref)
        if not isinstance(tool, ExternalTool):
            raise ToolServerFailed(
                f"The tool {self.name_on_server!r} is not available: its server {self.server_name!r} does not list it."
            )
        if problems := tool.problems(args.given()):
            raise ToolServerFailed(f"The arguments do not fit the tool's schema: {'; '.join(problems)}")
        return await tool.run(scope, args)
