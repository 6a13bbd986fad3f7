"""The tools of other servers, as the agent's own are used."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from proviso_service.mcp.model import ServerTool, ToolOutput, ToolServerFailed
from proviso_service.mcp.schemas import Arguments
from proviso_service.tools.base import GivenArgs, Number, Rendered, ToolScope
from proviso_service.tools.rendering import fitting_length, to_json

_MAX_ERROR_CHARS = 1_000


class ToolCaller(Protocol):
    """Where the calls go."""

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """ToolServerFailed, in words."""
        ...


@dataclass(frozen=True, slots=True)
class ServedResult:
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

    args = GivenArgs
    needs_matter = False
    is_retrieval = False

    def __init__(self, tool: ServerTool, caller: ToolCaller) -> None:
        self.name = tool.shown_name
        self.server_name = tool.server_name
        self.name_on_server = tool.name
        self.description = tool.description
        self.shown_schema = tool.shown_schema
        self._arguments = Arguments(tool.schema)
        self._caller = caller

    def problems(self, given: Mapping[str, Any]) -> list[str]:
        return self._arguments.problems(given)

    async def run(self, scope: ToolScope, args: GivenArgs) -> ServedResult:
        """The server is told the arguments and nothing else: neither who asks nor about which matter."""
        del scope
        output = await self._caller.call(self.server_name, self.name_on_server, args.given())
        if output.is_error:
            said = output.text[:_MAX_ERROR_CHARS] or "it does not say what."
            raise ToolServerFailed(f"The tool {self.name_on_server!r} of {self.server_name!r} failed: {said}")
        return ServedResult(self.server_name, output)
