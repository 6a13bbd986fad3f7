"""A TCP proxy that breaks connections after so many bytes of answers."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress

_PIECE_BYTES = 64 * 1024


class CuttingProxy:
    """Passes bytes on to `service_port`, which may change between connections. `answered_bytes` counts those of
    answers, `cuts_made` the connections that `cut_after` has broken."""

    def __init__(self, service_port: int) -> None:
        self.service_port = service_port
        self.port = 0
        self.cuts_made = 0
        self.answered_bytes = 0
        self._cuts: Iterator[int] = iter(())
        self._closed = False
        self._open: set[asyncio.Task[None]] = set()

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    def cut_after(self, cuts: Iterable[int]) -> None:
        """Says for each connection to come after how many bytes of answers it is broken, wherever in a frame that is;
        later ones are left alone. Replaces what was said before."""
        self._cuts = iter(cuts)

    async def break_all(self) -> None:
        """Breaks every connection that is open."""
        broken = list(self._open)
        for connection in broken:
            connection.cancel()
        await asyncio.gather(*broken, return_exceptions=True)

    async def close(self) -> None:
        """Breaks every connection, and those that are still to come."""
        self._closed = True
        await self.break_all()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closed:
            writer.transport.abort()
            return
        connection = asyncio.create_task(self._join(reader, writer, next(self._cuts, None)))
        self._open.add(connection)
        connection.add_done_callback(self._open.discard)
        connection.add_done_callback(lambda _: writer.transport.abort())

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int | None) -> None:
        try:
            from_service, to_service = await asyncio.open_connection("127.0.0.1", self.service_port)
        except OSError:
            return  # as if nobody listened
        asking = asyncio.create_task(_pass_on(reader, to_service))
        try:
            await self._answer(from_service, writer, limit)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            to_service.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int | None) -> None:
        """Until one side is gone, or the limit is reached."""
        left = limit
        with suppress(ConnectionError):
            while data := await reader.read(_PIECE_BYTES if left is None else min(left + 1, _PIECE_BYTES)):
                passed = data if left is None else data[:left]
                writer.write(passed)
                await writer.drain()
                self.answered_bytes += len(passed)
                if left is not None and len(passed) < len(data):
                    self.cuts_made += 1
                    return
                left = left - len(passed) if left is not None else None


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one side is gone."""
    with suppress(ConnectionError):
        while data := await reader.read(_PIECE_BYTES):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def cutting_proxy(service_port: int) -> AsyncIterator[CuttingProxy]:
    """On a free port; all its connections are broken at the end."""
    proxy = CuttingProxy(service_port)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()
