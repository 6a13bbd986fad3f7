"""An open session with an MCP server: McpConnection lists and calls its tools, and turns results into text."""

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

from proviso_service.mcp.model import CallRefused, ConnectionFailed, ListedTool, SessionEvent, ToolOutput

_log = structlog.get_logger(__name__)

_LIST_TOOLS = "tools/list"


def read_result(result: CallToolResult, max_chars: int) -> ToolOutput:
    """The result of a call in at most `max_chars` code points. A structured result that is longer is given as text, and
    text is cut."""
    structured = result.structured_content if isinstance(result.structured_content, dict) else None
    typed = "" if structured is None else json.dumps(structured, ensure_ascii=False)
    text, truncated = _joined_text(result.content, max_chars)
    if structured is None:
        return ToolOutput(text, None, bool(result.is_error), truncated)
    if len(typed) > max_chars:
        return ToolOutput(text or typed[:max_chars], None, bool(result.is_error), True)
    # Servers repeat a structured result as text, for clients that know only text.
    if truncated or len(text) + len(typed) > max_chars or _repeats(text, structured):
        return ToolOutput("", structured, bool(result.is_error), truncated)
    return ToolOutput(text, structured, bool(result.is_error))


def _joined_text(content: Sequence[ContentBlock], max_chars: int) -> tuple[str, bool]:
    """The text of all blocks in their order, and whether something was left out."""
    parts: list[str] = []
    left = max_chars
    for block in content:
        shown = _block_text(block)
        if left <= 0 and shown:
            return "\n\n".join(parts), True
        parts.append(shown[:left])
        if len(shown) > left:
            return "\n\n".join(parts), True
        left -= len(shown) + 2
    return "\n\n".join(parts), False


def _block_text(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            kind = "An image" if isinstance(block, ImageContent) else "A sound"
            return f"[{kind} of type {block.mime_type}, {_size(block.data)}: it cannot be shown.]"
        case ResourceLink():
            return f"[A link to {block.title or block.name}: {block.uri}]"
        case EmbeddedResource():
            return _resource_text(block)


def _resource_text(block: EmbeddedResource) -> str:
    resource = block.resource
    if isinstance(resource, TextResourceContents):
        return f"[From {resource.uri}]\n{resource.text}"
    kind = resource.mime_type or "application/octet-stream"
    return f"[A file {resource.uri} of type {kind}, {_size(resource.blob)}: it cannot be shown.]"


def _size(base64: str) -> str:
    size = len(base64) * 3 // 4
    return f"{size} bytes" if size < 1_024 else f"{size / 1_024:,.0f} KB"


def _repeats(text: str, structured: dict[str, object]) -> bool:
    try:
        read = json.loads(text)
    except ValueError:
        return False
    return read in (structured, *structured.values())


class ToolDispatcher(JSONRPCDispatcher[TransportContext]):
    """The package's dispatcher of messages, which also reports the end of the session and keeps the lists of tools.

    The package refuses a whole list when the schema of one tool is not that of an object. So the package is given the
    list without such tools, and the whole list is kept here. The schemas of results are taken out, too: the package
    would check results of any size against them, on the event loop."""

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
            answer = answer | {"tools": [_minimal_entry(tool) for tool in named if _takes_object(tool)]}
        return answer

    def take_listed(self) -> list[ListedTool]:
        """All tools of the lists that have come since the last call of this method, whatever their schemas."""
        listed, self._listed = self._listed, []
        return listed


def _listed(tool: Mapping[str, Any]) -> ListedTool:
    description, schema = tool.get("description"), tool.get("inputSchema")
    hints = tool.get("annotations")
    hints = hints if isinstance(hints, dict) else {}
    return ListedTool(
        tool["name"],
        description if isinstance(description, str) else "",
        schema if isinstance(schema, dict) else {"type": "null"},
        is_repeatable=hints.get("readOnlyHint") is True or hints.get("idempotentHint") is True,
    )


def _takes_object(tool: Mapping[str, Any]) -> bool:
    schema = tool.get("inputSchema")
    return isinstance(schema, dict) and schema.get("type") == "object"


def _minimal_entry(tool: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a listed tool that the package needs in order to call it."""
    return {"name": tool["name"], "inputSchema": tool["inputSchema"]}


MAX_PAGES = 20
_MAX_MESSAGE_CHARS = 500
_LISTEN_PAUSE_S = 5.0
"""Pause before the service asks for announcements again after an interruption."""

_CLOSED = "closed the session"
_TERMINATED = "Session terminated"
"""The package's message for HTTP status 404 in a session: the server no longer knows the session."""


class SessionSignals:
    """What a session reports to its owner: that the tools have changed, or that it has ended and why."""

    def __init__(self) -> None:
        self.reason = ""
        self._is_over = False
        self._event = asyncio.Event()

    @property
    def end(self) -> str:
        """Why the session has ended; empty while it goes on."""
        return self.reason or (_CLOSED if self._is_over else "")

    def changed(self) -> None:
        self._event.set()

    def ended(self, reason: str = "") -> None:
        """Reports the end of the session. Of several reasons the first one counts."""
        self.reason = self.reason or reason
        self._is_over = True
        self._event.set()

    async def next(self) -> SessionEvent:
        await self._event.wait()
        if self._is_over:
            return SessionEvent.ENDED
        self._event.clear()
        return SessionEvent.TOOLS_CHANGED

    async def on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.changed()


class McpConnection:
    """A ServerConnection over a session of the protocol's own package."""

    def __init__(
        self, session: ClientSession, dispatcher: ToolDispatcher, signals: SessionSignals, max_output_chars: int
    ) -> None:
        self._session = session
        self._dispatcher = dispatcher
        self._signals = signals
        self._max_output_chars = max_output_chars

    @property
    def end(self) -> str:
        return self._signals.end

    async def next_event(self) -> SessionEvent:
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
            raise ConnectionFailed(self.end or f"did not list its tools: {_message_of(error)}") from error
        except ValidationError as error:
            raise ConnectionFailed("listed its tools in a form that is not the protocol's") from error
        return self._dispatcher.take_listed()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        if self.end:
            raise ConnectionFailed(self.end, carried_out=False)
        try:
            result = await self._session.call_tool(tool, dict(arguments))
        except MCPError as error:
            if error.code == CONNECTION_CLOSED or error.message == _TERMINATED:
                self._signals.ended()
            if self.end:
                raise ConnectionFailed(self.end, carried_out=error.message != _TERMINATED) from error
            raise CallRefused(_message_of(error)) from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            self._signals.ended()
            raise ConnectionFailed(self.end) from error
        except ValidationError as error:
            raise CallRefused("its answer is not in the protocol's form") from error
        except RuntimeError as error:  # such as a request for more input, which nobody is there to give
            raise CallRefused("its answer is of a kind that is not supported") from error
        return read_result(result, self._max_output_chars)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Receives announcements of changed tools while the context is open. Servers of older versions of the protocol
        send them unasked; those of newer versions have to be asked."""
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
            await asyncio.sleep(_LISTEN_PAUSE_S)
            self._signals.changed()  # an announcement that was missed is not sent again


def _message_of(error: MCPError) -> str:
    return error.message[:_MAX_MESSAGE_CHARS].rstrip(". ")
