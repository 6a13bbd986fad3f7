"""Tools of servers that have not listed them yet, as after a restart."""

from collections.abc import Mapping
from typing import Any, Protocol

from proviso_service.context.model import ItemRef
from proviso_service.mcp.model import ToolServerFailed
from proviso_service.tools.base import GivenArgs, ServedTool, Tool, ToolResult, ToolScope


class ToolFinder(Protocol):
    def find(self, ref: ItemRef) -> Tool | None:
        """None for a tool that nobody offers."""
        ...


class AwaitedTool:
    """A tool that the model was shown before, as `shown`: name, description and parameters. It is looked for when it is
    called; by then its server may be back."""

    args = GivenArgs
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

    async def run(self, scope: ToolScope, args: GivenArgs) -> ToolResult:
        """Raises ToolServerFailed where its server is not back, or wants other arguments by now."""
        tool = self._tools.find(self._ref)
        if not isinstance(tool, ServedTool):
            raise ToolServerFailed(
                f"The tool {self.name_on_server!r} is not available: its server {self.server_name!r} does not list it."
            )
        if problems := tool.problems(args.given()):
            raise ToolServerFailed(f"The arguments do not fit the tool's schema: {'; '.join(problems)}")
        return await tool.run(scope, args)
