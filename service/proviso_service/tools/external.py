"""The tools of other servers, which are used like the service's own. After a restart this includes tools that their
server has not listed again yet."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from proviso_service.context.model import ItemRef
from proviso_service.errors import FailureCause
from proviso_service.mcp.model import ServerTool, ToolOutput, ToolServerFailed
from proviso_service.mcp.schemas import ArgumentValidator
from proviso_service.tools.base import ExternalTool, Number, Rendered, Tool, ToolResult, ToolScope, UncheckedArgs
from proviso_service.tools.rendering import fitting_length, to_json

_MAX_ERROR_CHARS = 1_000


class ToolCaller(Protocol):
    """Sends the calls to the servers."""

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Calls the tool and returns its output. Raises ToolServerFailed, whose message can be shown."""
        ...


@dataclass(frozen=True, slots=True)
class ExternalToolResult:
    """The result of a tool of another server. It is no passage of a document, so nothing in it can be cited by
    number."""

    server: str
    output: ToolOutput

    @property
    def found(self) -> bool:
        return True

    def data(self) -> dict[str, Any]:
        typed = {} if self.output.structured is None else {"structured": dict(self.output.structured)}
        return {"server": self.server, "text": self.output.text} | typed | {"truncated": self.output.truncated}

    def render(self, number: Number, max_chars: int) -> Rendered:
        """The typed result where it fits as a whole, else the text, cut to the length. The text stands in a field of
        its own, which keeps what a server says apart from what the service tells the model."""
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
    """A tool of a server that speaks the Model Context Protocol. The server provides its schema."""

    args = UncheckedArgs
    needs_matter = False
    is_retrieval = False

    def __init__(self, tool: ServerTool, caller: ToolCaller) -> None:
        self.name = tool.shown_name
        self.server_name = tool.server_name
        self.name_on_server = tool.name
        self.description = tool.description
        self.shown_schema = tool.shown_schema
        self.is_repeatable = tool.is_repeatable
        self._arguments = ArgumentValidator(tool.schema)
        self._caller = caller

    def problems(self, given: Mapping[str, Any]) -> list[str]:
        return self._arguments.problems(given)

    async def run(self, scope: ToolScope, args: UncheckedArgs) -> ExternalToolResult:
        """Calls the tool. The server is told the arguments and nothing else: neither who asks nor about which
        matter."""
        del scope
        output = await self._caller.call(self.server_name, self.name_on_server, args.given())
        if output.is_error:
            said = output.text[:_MAX_ERROR_CHARS] or "it does not say what."
            raise ToolServerFailed(
                f"The tool {self.name_on_server!r} of {self.server_name!r} failed: {said}", FailureCause.FAILED
            )
        return ExternalToolResult(self.server_name, output)


class ToolFinder(Protocol):
    def find(self, ref: ItemRef) -> Tool | None:
        """The tool that an item names; None where no server offers it."""
        ...


class UnlistedTool:
    """A tool that the model was shown before a restart, and that its server has not listed again yet. `shown` holds its
    name, description and parameters. The tool is looked up when it is called, since its server may be back by then."""

    args = UncheckedArgs
    needs_matter = False
    is_retrieval = False
    is_repeatable = False

    def __init__(self, ref: ItemRef, shown: Mapping[str, Any], tools: ToolFinder) -> None:
        self.name = str(shown["name"])
        self.server_name = ref.server_name
        self.name_on_server = ref.name
        self.description = str(shown["description"])
        self.shown_schema: Mapping[str, Any] = shown["parameters"]
        self._ref = ref
        self._tools = tools

    def problems(self, given: Mapping[str, Any]) -> list[str]:
        """Always empty: whether the arguments fit is only known when the tool is called."""
        del given
        return []

    async def run(self, scope: ToolScope, args: UncheckedArgs) -> ToolResult:
        """Runs the tool. Raises ToolServerFailed where its server is not back, or now wants other arguments."""
        tool = self._tools.find(self._ref)
        if not isinstance(tool, ExternalTool):
            raise ToolServerFailed(
                f"The tool {self.name_on_server!r} is not available: its server {self.server_name!r} does not list it.",
                may_repeat=True,
            )
        if problems := tool.problems(args.given()):
            raise ToolServerFailed(
                f"The arguments do not fit the tool's schema: {'; '.join(problems)}", FailureCause.INVALID
            )
        return await tool.run(scope, args)
