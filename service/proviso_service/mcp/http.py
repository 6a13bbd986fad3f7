"""A server elsewhere, by streamable HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from proviso_service.mcp.config import HttpTransport

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
