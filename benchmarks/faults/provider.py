"""The stand-in for Gemini, extended so that it can go away and come back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.gemini_replies import Reply
from tests.support.gemini_server import GeminiServer


class Provider(GeminiServer):
    """A stand-in that keeps its port. While `always` is set, every request gets it instead of an answer of the
    script."""

    def __init__(self) -> None:
        super().__init__()
        self.always: Reply | None = None
        self._listener: asyncio.Server | None = None

    def next_reply(self) -> Reply | None:
        return self.always or super().next_reply()

    async def listen(self) -> None:
        """Listens on the port that it had before; at first on a free one."""
        self._listener = await asyncio.start_server(self.connections.accept, "127.0.0.1", self.port)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def leave(self) -> None:
        """Closes the server, so that connections are refused from now on."""
        if self._listener is not None:
            self._listener.close()
            await self.connections.break_all()
            await self._listener.wait_closed()
            self._listener = None


@asynccontextmanager
async def provider() -> AsyncIterator[Provider]:
    """A listening provider. At the end it fails if it was sent anything that Gemini would refuse."""
    gemini = Provider()
    await gemini.listen()
    try:
        yield gemini
    finally:
        await gemini.leave()
    assert gemini.refused == []
