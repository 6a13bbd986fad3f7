"""Opening a session with a server of tools."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import urlsplit

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION, Implementation
from pydantic import ValidationError

from proviso_service.mcp.model import Connection, ConnectionFailed, HttpTransport, McpServerConfig, StdioTransport
from proviso_service.mcp.session import McpConnection, Signals, ToolDispatcher
from proviso_service.mcp.stdio import stdio_streams

_CONNECT_S = 10.0
_SILENCE_S = 300.0
"""After which a stream is given up; the package opens it again."""

_SSE = "text/event-stream"


@asynccontextmanager
async def http_streams(transport: HttpTransport, max_message_bytes: int) -> AsyncIterator[TransportStreams]:
    """Redirects are followed within the server's own origin only, so its headers go nowhere else."""
    client = httpx2.AsyncClient(
        headers={name: value.get_secret_value() for name, value in transport.headers.items()},
        timeout=httpx2.Timeout(_CONNECT_S, read=_SILENCE_S),
        transport=_Bounded(max_message_bytes),
    )
    async with (
        client,
        streamable_http_client(transport.url, http_client=client, max_sse_event_size=max_message_bytes) as streams,
    ):
        yield streams


class MessageTooLong(httpx2.TransportError):
    """The message ends a sentence after the server's name."""


class _Bounded(httpx2.AsyncHTTPTransport):
    """Bodies of a bounded size; of a stream of events, which has no end, the package bounds each event."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__()
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if isinstance(response.stream, httpx2.AsyncByteStream) and not _is_endless(response):
            response.stream = _BoundedStream(response.stream, self._max_bytes)
        return response


def _is_endless(response: httpx2.Response) -> bool:
    return bool(response.headers.get("content-type", "").lower().startswith(_SSE))


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise MessageTooLong("sent a message that is too long")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Of one message from a server. A longer one ends the session."""

_CLIENT = Implementation(name="proviso", version="1")
_MAX_SAID_CHARS = 300


@asynccontextmanager
async def connect(config: McpServerConfig) -> AsyncIterator[Connection]:
    """A session with one server, as context.mcp.ports.Connect wants it. It is to be left in the task that entered it:
    the package's own tasks belong to that one."""
    signals = Signals()
    try:
        async with _streams(config, signals) as streams:
            dispatcher = ToolDispatcher(streams, signals.ended)
            session = ClientSession(dispatcher=dispatcher, message_handler=signals.on_message, client_info=_CLIENT)
            async with session:
                await _agree(session)
                connection = McpConnection(session, dispatcher, signals, config.max_output_chars)
                async with connection.listening():
                    yield connection
    except Exception as error:
        reason = signals.reason or _said(config, error) or signals.end
        if not reason:
            raise
        raise ConnectionFailed(reason) from error


def _streams(config: McpServerConfig, signals: Signals) -> AbstractAsyncContextManager[TransportStreams]:
    if isinstance(config.transport, StdioTransport):
        return stdio_streams(config, config.transport, MAX_MESSAGE_BYTES, signals.ended)
    return http_streams(config.transport, MAX_MESSAGE_BYTES)


async def _agree(session: ClientSession) -> None:
    """On the newest version of the protocol that both know. What a server that knows only older ones answers to the
    first question is not settled, so the older way is tried after any answer but the newer one's."""
    try:
        await session.discover()
    except (MCPError, RuntimeError, ValidationError):
        try:
            await session.initialize()
        except MCPError as error:
            if error.code != UNSUPPORTED_PROTOCOL_VERSION:
                raise
            # A server that was slow to start has answered the first question meanwhile, and holds to it.
            await session.discover()


def _said(config: McpServerConfig, error: Exception) -> str:
    """Why there is no session, in words as those of ConnectionFailed; empty for what nobody foresaw."""
    return next((said for one in _leaves(error) if (said := _said_one(config, one))), "")


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for one in error.exceptions:
        yield from _leaves(one)


def _said_one(config: McpServerConfig, error: BaseException) -> str:
    match error:
        case MCPError():
            return f"refused the session: {error.message[:_MAX_SAID_CHARS]}"
        case ValidationError() | RuntimeError():
            return "does not speak a version of the protocol that is known here"
        case MessageTooLong():
            return str(error)
        case httpx2.HTTPError() | OSError() | ValueError():
            return _said_of_transport(config.transport, error)
    return ""


def _said_of_transport(transport: StdioTransport | HttpTransport, error: BaseException) -> str:
    if isinstance(transport, HttpTransport):
        parts = urlsplit(transport.url)
        return f"cannot be reached at {parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}"
    if isinstance(error, FileNotFoundError):
        return f"cannot be started: there is no command {transport.command!r}, or no folder to run it in"
    return f"cannot be started: the command {transport.command!r} cannot be run"
