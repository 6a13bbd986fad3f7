"""An open session with a server of tools: the protocol's messages, and what an answer says as text."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import structlog
from mcp.client._transport import TransportStreams
from mcp.client.session import ClientSession, IncomingMessage
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.dispatcher import CallOptions, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CONNECTION_CLOSED,
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    PaginatedRequestParams,
    RequestId,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from proviso_service.mcp.model import CallRefused, ConnectionFailed, ListedTool, News, ToolOutput


def read_result(result: CallToolResult, max_chars: int) -> ToolOutput:
    """The answer in at most `max_chars` code points: a typed one that is longer is given as text, and text is cut."""
    structured = result.structured_content if isinstance(result.structured_content, dict) else None
    typed = "" if structured is None else json.dumps(structured, ensure_ascii=False)
    text, is_cut = _text(result.content, max_chars)
    if structured is None:
        return ToolOutput(text, None, bool(result.is_error), is_cut)
    if len(typed) > max_chars:
        return ToolOutput(text or typed[:max_chars], None, bool(result.is_error), True)
    # Servers repeat a typed answer as text for clients that know no other.
    if is_cut or len(text) + len(typed) > max_chars or _same(text, structured):
        return ToolOutput("", structured, bool(result.is_error), is_cut)
    return ToolOutput(text, structured, bool(result.is_error))


def _text(content: Sequence[ContentBlock], max_chars: int) -> tuple[str, bool]:
    """The blocks in their order, and whether something was left out."""
    parts: list[str] = []
    left = max_chars
    for block in content:
        said = _shown(block)
        if left <= 0 and said:
            return "\n\n".join(parts), True
        parts.append(said[:left])
        if len(said) > left:
            return "\n\n".join(parts), True
        left -= len(said) + 2
    return "\n\n".join(parts), False


def _shown(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            kind = "An image" if isinstance(block, ImageContent) else "A sound"
            return f"[{kind} of type {block.mime_type}, {_size(block.data)}: it cannot be shown.]"
        case ResourceLink():
            return f"[A link to {block.title or block.name}: {block.uri}]"
        case EmbeddedResource():
            return _said_resource(block)


def _said_resource(block: EmbeddedResource) -> str:
    resource = block.resource
    if isinstance(resource, TextResourceContents):
        return f"[From {resource.uri}]\n{resource.text}"
    kind = resource.mime_type or "application/octet-stream"
    return f"[A file {resource.uri} of type {kind}, {_size(resource.blob)}: it cannot be shown.]"


def _size(base64: str) -> str:
    size = len(base64) * 3 // 4
    return f"{size} bytes" if size < 1_024 else f"{size / 1_024:,.0f} KB"


def _same(text: str, structured: dict[str, object]) -> bool:
    try:
        read = json.loads(text)
    except ValueError:
        return False
    return read in (structured, *structured.values())


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


_log = structlog.get_logger(__name__)

MAX_PAGES = 20
_MAX_SAID_CHARS = 500
_LISTEN_AGAIN_S = 5.0
_CLOSED = "closed the session"
_TERMINATED = "Session terminated"
"""What the package says for HTTP status 404 in a session: the server does not know it any more."""


class Signals:
    """What is to be known of a session from outside of it: that the tools have changed, or why it has ended."""

    def __init__(self) -> None:
        self.reason = ""
        self._is_over = False
        self._stirred = asyncio.Event()

    @property
    def end(self) -> str:
        """Why the session has ended; empty while it goes on."""
        return self.reason or (_CLOSED if self._is_over else "")

    def changed(self) -> None:
        self._stirred.set()

    def ended(self, reason: str = "") -> None:
        """The first reason that is given counts."""
        self.reason = self.reason or reason
        self._is_over = True
        self._stirred.set()

    async def next(self) -> News:
        await self._stirred.wait()
        if self._is_over:
            return News.ENDED
        self._stirred.clear()
        return News.TOOLS_CHANGED

    async def on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.changed()


class McpConnection:
    """context.mcp.ports.Connection, by the protocol's own package."""

    def __init__(
        self, session: ClientSession, dispatcher: ToolDispatcher, signals: Signals, max_output_chars: int
    ) -> None:
        self._session = session
        self._dispatcher = dispatcher
        self._signals = signals
        self._max_output_chars = max_output_chars

    @property
    def end(self) -> str:
        return self._signals.end

    async def news(self) -> News:
        return await self._signals.next()

    async def list_tools(self) -> Sequence[ListedTool]:
        capabilities = self._session.server_capabilities
        if capabilities is None or capabilities.tools is None:
            return []
        cursor: str | None = None
        self._dispatcher.take_listed()
        try:
            for _ in range(MAX_PAGES):
                page = await self._session.list_tools(params=PaginatedRequestParams(cursor=cursor))
                cursor = page.next_cursor
                if not cursor:
                    break
        except MCPError as error:
            raise ConnectionFailed(self.end or f"did not list its tools: {_said(error)}") from error
        except ValidationError as error:
            raise ConnectionFailed("listed its tools in a form that is not the protocol's") from error
        return self._dispatcher.take_listed()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        try:
            result = await self._session.call_tool(tool, dict(arguments))
        except MCPError as error:
            if error.code == CONNECTION_CLOSED or error.message == _TERMINATED:
                self._signals.ended()
            if self.end:
                raise ConnectionFailed(self.end) from error
            raise CallRefused(_said(error)) from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            self._signals.ended()
            raise ConnectionFailed(self.end) from error
        except ValidationError as error:
            raise CallRefused("its answer is not in the protocol's form") from error
        except RuntimeError as error:  # among them that it asks for more input, which nobody here could give
            raise CallRefused("its answer is of a kind that is not supported") from error
        return read_result(result, self._max_output_chars)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Older servers send their notices unasked; newer ones have to be asked."""
        tools = self._session.server_capabilities.tools if self._session.server_capabilities else None
        if tools is None or not tools.list_changed or self._session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            yield
            return
        task = asyncio.create_task(self._listen())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _listen(self) -> None:
        while not self.end:
            try:
                async with listen(self._session, tools_list_changed=True) as events:
                    async for _ in events:
                        self._signals.changed()
            except (MCPError, SubscriptionLost, TimeoutError) as error:
                _log.info("mcp_listening_interrupted", reason=str(error))
            await asyncio.sleep(_LISTEN_AGAIN_S)
            self._signals.changed()  # nothing is sent again that was missed


def _said(error: MCPError) -> str:
    return error.message[:_MAX_SAID_CHARS].rstrip(". ")
