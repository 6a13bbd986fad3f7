"""A TCP proxy that drops connections."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

_PIECE_BYTES = 4 * 1024


def never() -> int:
    """The bytes after which a connection is dropped, where none is."""
    return 1 << 62


class CuttingProxy:
    """Forwards to a port of this machine, which may change between connections. Each connection is dropped when the
    client has got as many bytes as `allowance` gave for it, wherever in a frame that is."""

    def __init__(self, target_port: int, allowance: Callable[[], int]) -> None:
        self.target_port = target_port
        self.drops = 0
        self._allowance = allowance
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        await self.drop_all()

    async def drop_all(self) -> None:
        """Drops the connections that there are; new ones are accepted."""
        dropped = list(self._connections)
        for connection in dropped:
            connection.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._connect(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                await self._forward_both(reader, writer)
        finally:
            writer.transport.abort()

    async def _forward_both(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        service_reader, service_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        upward = asyncio.create_task(_forward(reader, service_writer, never()))
        try:
            if await _forward(service_reader, writer, self._allowance()):
                self.drops += 1
        finally:
            upward.cancel()
            await asyncio.gather(upward, return_exceptions=True)
            service_writer.transport.abort()


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, allowance: int) -> bool:
    """Whether it ended because the allowance was used up, rather than because the sender had ended."""
    while allowance > 0:
        piece = await reader.read(min(_PIECE_BYTES, allowance))
        if not piece:
            return False
        allowance -= len(piece)
        writer.write(piece)
        await writer.drain()
    return True


@asynccontextmanager
async def cutting_proxy(target_port: int, allowance: Callable[[], int] = never) -> AsyncIterator[CuttingProxy]:
    """Open inside; all its connections are dropped at the end."""
    proxy = CuttingProxy(target_port, allowance)
    await proxy.open()
    try:
        yield proxy
    finally:
        await proxy.close()
