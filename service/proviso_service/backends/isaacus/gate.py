"""How many calls are under way at once, and how many may wait for that."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from proviso_service.errors import TooBusy

MAX_WAITING = 1_024

_RETRY_AFTER_S = 2.0


class CallGate:
    """Lets `at_once` calls in. Where there is more than one place, one of them is kept for urgent calls, so that no
    search waits for the end of an analysis."""

    def __init__(self, at_once: int) -> None:
        self._all = asyncio.Semaphore(at_once)
        self._bulk = asyncio.Semaphore(max(1, at_once - 1))
        self._waiting = 0

    @asynccontextmanager
    async def place(self, *, urgent: bool) -> AsyncIterator[None]:
        """Raises TooBusy when too many wait already."""
        if self._waiting >= MAX_WAITING:
            raise TooBusy("Too many calls are waiting for Isaacus's models", _RETRY_AFTER_S)
        async with AsyncExitStack() as held:
            self._waiting += 1
            try:
                if not urgent:
                    await held.enter_async_context(self._bulk)
                await held.enter_async_context(self._all)
            finally:
                self._waiting -= 1
            yield
