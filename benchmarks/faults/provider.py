"""Gemini's stand-in as a provider that can go away and come back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.gemini_replies import Reply
from tests.support.gemini_server import GeminiServer


class Provider(GeminiServer):
    """On one port for its whole life. `always` is what every request gets while it is set, in place of the script."""

    def __init__(self) -> None:
        super().__init__()
        self.always: Reply | None = None
        self._listener: asyncio.Server | None = None

    def next_reply(self) -> Reply | None:
        return self.always or super().next_reply()

    async def listen(self) -> None:
        """On the port that it had before, a free one at first."""
        self._listener = await asyncio.start_server(self.connections.accept, "127.0.0.1", self.port)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def leave(self) -> None:
        """Closes; from then on connections are refused."""
        if self._listener is not None:
            self._listener.close()
            await self.connections.break_all()
            await self._listener.wait_closed()
            self._listener = None


@asynccontextmanager
async def provider() -> AsyncIterator[Provider]:
    """Listens. Fails at the end where it was sent anything that Gemini would refuse."""
    gemini = Provider()
    await gemini.listen()
    try:
        yield gemini
    finally:
        await gemini.leave()
    assert gemini.refused == []
