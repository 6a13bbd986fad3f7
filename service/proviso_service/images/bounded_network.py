"""TCP and TLS for answers whose head is bounded.

An HTTP client reads on while a server sends interim answers (1xx), for ever; and as these come by the thousand in one
read, nothing else would run meanwhile."""

import ssl
from collections.abc import Iterable
from typing import Any

import httpcore
from httpcore import AsyncNetworkBackend, AsyncNetworkStream

SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]

_HEAD_BYTES = 32 * 1024
_READ_BYTES = 4 * 1024


class HeadTooLong(Exception):
    """The server sent more than a head takes, and the answer has not begun."""


class BoundedNetwork(AsyncNetworkBackend):
    """For the connections of one request. Until `begun` is called no more than 32 KiB are read, a little at a time."""

    def __init__(self) -> None:
        self._network = httpcore.AnyIOBackend()
        self._left: int | None = _HEAD_BYTES

    def begun(self) -> None:
        """The head is here: what follows is bounded by who reads it."""
        self._left = None

    async def read(self, stream: AsyncNetworkStream, max_bytes: int, timeout_s: float | None) -> bytes:
        """Raises HeadTooLong."""
        if self._left is None:
            return await stream.read(max_bytes, timeout_s)
        if not self._left:
            raise HeadTooLong
        read = await stream.read(min(max_bytes, _READ_BYTES, self._left), timeout_s)
        self._left -= len(read)
        return read

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the names are httpcore's
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> AsyncNetworkStream:
        stream = await self._network.connect_tcp(host, port, timeout, local_address, socket_options)
        return _Stream(stream, self)


class _Stream(AsyncNetworkStream):
    def __init__(self, stream: AsyncNetworkStream, network: BoundedNetwork) -> None:
        self._stream = stream
        self._network = network

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        return await self._network.read(self._stream, max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> AsyncNetworkStream:
        return _Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout), self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
