"""A connection to Redis of which a test can see how much was asked through it."""

import asyncio
from collections.abc import Callable
from typing import Any

from redis.asyncio.client import Pipeline

from proviso_service.backends.redis.link import RedisLink


class SeenLink(RedisLink):
    """Counts the answers, and lets a test wait for some more."""

    def __init__(self, url: str, owner: str, lease_s: float, prefix: str) -> None:
        super().__init__(url, owner, lease_s, prefix)
        self._answered = 0
        self._more = asyncio.Event()

    async def run(self, fill: Callable[["Pipeline"], object]) -> list[Any]:
        answers = await super().run(fill)
        self._answered += 1
        self._more.set()
        return answers

    async def answers(self, more: int) -> None:
        """Returns once so many more answers have come."""
        wanted = self._answered + more
        async with asyncio.timeout(60):
            while self._answered < wanted:
                self._more.clear()
                await self._more.wait()
