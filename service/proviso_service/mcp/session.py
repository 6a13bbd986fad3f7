"""An open session with a server of tools."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import structlog
from mcp.client.session import ClientSession, IncomingMessage
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, PaginatedRequestParams, ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from proviso_service.mcp.content import read_result
from proviso_service.mcp.messages import ToolDispatcher
from proviso_service.mcp.model import ListedTool, ToolOutput
from proviso_service.mcp.ports import CallRefused, ConnectionFailed, News

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
