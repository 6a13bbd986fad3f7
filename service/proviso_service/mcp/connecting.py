"""Opens a session with an MCP server, over the transport that its configuration names."""

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

from proviso_service.mcp.model import ConnectionFailed, HttpTransport, McpServerConfig, ServerConnection, StdioTransport
from proviso_service.mcp.session import McpConnection, SessionSignals, ToolDispatcher
from proviso_service.mcp.stdio import stdio_streams

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""The longest message from a server. A longer one ends the session."""

_CLIENT = Implementation(name="proviso", version="1")
_MAX_MESSAGE_CHARS = 300
_CONNECT_S = 10.0
_SILENCE_S = 300.0
"""Longest silence of a stream before it is closed; the package opens it again."""

_SSE = "text/event-stream"


@asynccontextmanager
async def connect(config: McpServerConfig) -> AsyncIterator[ServerConnection]:
    """A session with one server. It must be left in the task that entered it, to which the tasks of the protocol's
    package belong. Raises ConnectionFailed."""
    signals = SessionSignals()
    try:
        async with _streams(config, signals) as streams:
            dispatcher = ToolDispatcher(streams, signals.ended)
            session = ClientSession(dispatcher=dispatcher, message_handler=signals.on_message, client_info=_CLIENT)
            async with session:
                await _agree_on_version(session)
                connection = McpConnection(session, dispatcher, signals, config.max_output_chars)
                async with connection.listening():
                    yield connection
    except Exception as error:
        reason = signals.reason or _failure_reason(config, error) or signals.end
        if not reason:
            raise
        raise ConnectionFailed(reason) from error


def _streams(config: McpServerConfig, signals: SessionSignals) -> AbstractAsyncContextManager[TransportStreams]:
    if isinstance(config.transport, StdioTransport):
        return stdio_streams(config, config.transport, MAX_MESSAGE_BYTES, signals.ended)
    return http_streams(config.transport, MAX_MESSAGE_BYTES)


@asynccontextmanager
async def http_streams(transport: HttpTransport, max_message_bytes: int) -> AsyncIterator[TransportStreams]:
    """The streams of a server at a URL. Redirects are followed within the server's own origin only, so that the
    headers, which hold secrets, go nowhere else."""
    client = httpx2.AsyncClient(
        headers={name: value.get_secret_value() for name, value in transport.headers.items()},
        timeout=httpx2.Timeout(_CONNECT_S, read=_SILENCE_S),
        transport=_BoundedTransport(max_message_bytes),
    )
    async with (
        client,
        streamable_http_client(transport.url, http_client=client, max_sse_event_size=max_message_bytes) as streams,
    ):
        yield streams


class MessageTooLong(httpx2.TransportError):
    """The body of a response is too long. The message follows the server's name in a sentence."""


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    """Limits the size of response bodies. It leaves out streams of events, which have no end: the package limits each
    event of them."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__()
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if isinstance(response.stream, httpx2.AsyncByteStream) and not _is_event_stream(response):
            response.stream = _BoundedStream(response.stream, self._max_bytes)
        return response


def _is_event_stream(response: httpx2.Response) -> bool:
    return bool(response.headers.get("content-type", "").lower().startswith(_SSE))


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._bytes_left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._bytes_left -= len(part)
            if self._bytes_left < 0:
                raise MessageTooLong("sent a message that is too long")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _agree_on_version(session: ClientSession) -> None:
    """Agrees on the newest version of the protocol that both sides know.

    The protocol does not say how a server that knows only older versions answers `discover`. So `initialize`, the older
    versions' way, is tried after any answer but a successful one."""
    try:
        await session.discover()
    except (MCPError, RuntimeError, ValidationError):
        try:
            await session.initialize()
        except MCPError as error:
            if error.code != UNSUPPORTED_PROTOCOL_VERSION:
                raise
            # A server that was slow to start has accepted `discover` meanwhile, and refuses anything older.
            await session.discover()


def _failure_reason(config: McpServerConfig, error: Exception) -> str:
    """Why there is no session, in words like those of ConnectionFailed; empty for an unexpected exception."""
    return next((reason for one in _single_errors(error) if (reason := _reason_of(config, one))), "")


def _single_errors(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, also in groups inside it; else the exception itself."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for one in error.exceptions:
        yield from _single_errors(one)


def _reason_of(config: McpServerConfig, error: BaseException) -> str:
    match error:
        case MCPError():
            return f"refused the session: {error.message[:_MAX_MESSAGE_CHARS]}"
        case ValidationError() | RuntimeError():
            return "does not speak a version of the protocol that is known here"
        case MessageTooLong():
            return str(error)
        case httpx2.HTTPError() | OSError() | ValueError():
            return _transport_reason(config.transport, error)
    return ""


def _transport_reason(transport: StdioTransport | HttpTransport, error: BaseException) -> str:
    if isinstance(transport, HttpTransport):
        parts = urlsplit(transport.url)
        return f"cannot be reached at {parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}"
    if isinstance(error, FileNotFoundError):
        return f"cannot be started: there is no command {transport.command!r}, or no folder to run it in"
    return f"cannot be started: the command {transport.command!r} cannot be run"
