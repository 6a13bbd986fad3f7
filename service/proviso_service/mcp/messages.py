"""The exchange of messages with a server, a little more forgiving than the package's own."""

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import anyio.abc
from mcp.client._transport import TransportStreams
from mcp.shared.dispatcher import CallOptions, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import RequestId

from proviso_service.mcp.model import ListedTool

_LIST_TOOLS = "tools/list"


class ToolDispatcher(JSONRPCDispatcher[TransportContext]):
    """Says when the session has ended, and keeps a list of tools from being refused for one that is odd.

    The package refuses a whole list when one schema is not that of an object. Such tools are taken out of what it
    sees. So are the schemas of results, against which it would check, on the event loop, results of any size."""

    def __init__(self, streams: TransportStreams, on_end: Callable[[], None]) -> None:
        super().__init__(*streams)
        self._on_end = on_end
        self._listed: list[ListedTool] = []

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        try:
            await super().run(on_request, on_notify, on_notify_intercept, task_status=task_status)
        finally:
            self._on_end()

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: RequestId | None = None,
    ) -> dict[str, Any]:
        answer = await super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)
        if method == _LIST_TOOLS and isinstance(tools := answer.get("tools"), list):
            named = [tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
            self._listed += [_listed(tool) for tool in named]
            answer = answer | {"tools": [_plain(tool) for tool in named if _takes_object(tool)]}
        return answer

    def take_listed(self) -> list[ListedTool]:
        """The tools of the lists that came since the last time, odd ones too."""
        listed, self._listed = self._listed, []
        return listed


def _listed(tool: Mapping[str, Any]) -> ListedTool:
    description, schema = tool.get("description"), tool.get("inputSchema")
    return ListedTool(
        tool["name"],
        description if isinstance(description, str) else "",
        schema if isinstance(schema, dict) else {"type": "null"},
    )


def _takes_object(tool: Mapping[str, Any]) -> bool:
    schema = tool.get("inputSchema")
    return isinstance(schema, dict) and schema.get("type") == "object"


def _plain(tool: Mapping[str, Any]) -> dict[str, Any]:
    """What the package needs of a tool in order to call it."""
    return {"name": tool["name"], "inputSchema": tool["inputSchema"]}
