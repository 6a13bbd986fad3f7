"""A TCP proxy that breaks connections after so many bytes of answers, or lets them fall silent."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress

from tests.support.connections import Connections

_PIECE_BYTES = 64 * 1024

Heard = Callable[[], bool]
"""Whether a connection still carries anything."""


class CuttingProxy:
    """Passes bytes on to `service_port`, which may change between connections. `answered_bytes` counts those of
    answers, `cuts_made` the connections that `cut_after` has broken."""

    def __init__(self, service_port: int) -> None:
        self.service_port = service_port
        self.port = 0
        self.cuts_made = 0
        self.answered_bytes = 0
        self._cuts: Iterator[int] = iter(())
        self._made = 0
        self._hushed = 0
        self.connections = Connections(self._join)

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    def cut_after(self, cuts: Iterable[int]) -> None:
        """Says for each connection to come after how many bytes of answers it is broken, wherever in a frame that is;
        later ones are left alone. Replaces what was said before."""
        self._cuts = iter(cuts)

    def hush(self) -> None:
        """Connections that are open stay so, but carry nothing any more: as if the other end had lost its power."""
        self._hushed = self._made

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        limit = next(self._cuts, None)
        number, self._made = self._made, self._made + 1

        def is_heard() -> bool:
            return number >= self._hushed

        try:
            from_service, to_service = await asyncio.open_connection("127.0.0.1", self.service_port)
        except OSError:
            return  # as if nobody listened
        asking = asyncio.create_task(_pass_on(reader, to_service, is_heard))
        try:
            await self._answer(from_service, writer, is_heard, limit)
        finally:
            # At once: whoever breaks the connection while this one ends by itself must not keep it from being closed.
            to_service.transport.abort()
            writer.transport.abort()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_heard: Heard, limit: int | None
    ) -> None:
        """Until one side is gone, or the limit is reached."""
        left = limit
        with suppress(ConnectionError):
            while data := await reader.read(_PIECE_BYTES if left is None else min(left + 1, _PIECE_BYTES)):
                if not is_heard():
                    continue
                passed = data if left is None else data[:left]
                writer.write(passed)
                await writer.drain()
                self.answered_bytes += len(passed)
                if left is not None and len(passed) < len(data):
                    self.cuts_made += 1
                    return
                left = left - len(passed) if left is not None else None


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_heard: Heard) -> None:
    """Until one side is gone."""
    with suppress(ConnectionError):
        while data := await reader.read(_PIECE_BYTES):
            if is_heard():
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def cutting_proxy(service_port: int) -> AsyncIterator[CuttingProxy]:
    """On a free port; all its connections are broken at the end."""
    proxy = CuttingProxy(service_port)
    server = await asyncio.start_server(proxy.connections.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.connections.close()
        await server.wait_closed()
