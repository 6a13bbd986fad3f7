"""A TCP proxy that breaks connections after so many bytes of answers."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress

_PIECE_BYTES = 64 * 1024


class CuttingProxy:
    """Passes bytes on to `upstream_port`, which may change. `answered_bytes` counts those of answers, `broken` the
    connections that `cut_after` has broken."""

    def __init__(self, upstream_port: int) -> None:
        self.upstream_port = upstream_port
        self.port = 0
        self.broken = 0
        self.answered_bytes = 0
        self._cuts: list[int] = []
        self._open: set[asyncio.Task[None]] = set()

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    def cut_after(self, cuts: Iterable[int]) -> None:
        """Says for each connection to come after how many bytes of answers it is broken; later ones are left alone.
        Replaces what was said before."""
        self._cuts = list(cuts)

    async def break_all(self) -> None:
        """Breaks every connection that is open."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        limit = self._cuts.pop(0) if self._cuts else None
        try:
            await self._join(reader, writer, limit)
        except asyncio.CancelledError:
            pass  # broken on purpose, or the proxy closes
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int | None) -> None:
        try:
            to_service = await asyncio.open_connection("127.0.0.1", self.upstream_port)
        except OSError:
            return  # as if nobody listened
        asking = asyncio.create_task(_pass_on(reader, to_service[1]))
        try:
            await self._answer(to_service[0], writer, limit)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            to_service[1].transport.abort()

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
                    self.broken += 1
                    return
                left = left - len(passed) if left is not None else None


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one side is gone."""
    with suppress(ConnectionError):
        while data := await reader.read(_PIECE_BYTES):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def cutting_proxy(upstream_port: int) -> AsyncIterator[CuttingProxy]:
    proxy = CuttingProxy(upstream_port)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.break_all()
        await server.wait_closed()
