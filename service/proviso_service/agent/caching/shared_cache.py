"""A cache that many turns use at once: of those that need the same value one makes it, and the others wait for it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from proviso_service.agent.caching.ports import Cache, CacheKey, CacheScope

V = TypeVar("V")


class Visit(Generic[V]):
    """One use of a cache: `found` is what it held. Where that is None, the visitor makes the value itself, and may have
    it kept if that is `wanted`."""

    __slots__ = ("found", "made", "wanted")

    def __init__(self, found: V | None = None, *, wanted: bool = False) -> None:
        self.found = found
        self.wanted = wanted
        self.made: V | None = None

    def keep(self, value: V) -> None:
        """Has `value` kept when the visit ends well."""
        self.made = value


@dataclass(slots=True)
class _Queue:
    """Those who want the same value: the one that holds the lock is making it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    visitors: int = 0


class SharedCache(Generic[V]):
    """Counts `hits` and `misses`; whoever waited and was served is a hit."""

    def __init__(self, cache: Cache[V], size_bytes: Callable[[V], int]) -> None:
        self.hits = 0
        self.misses = 0
        self._cache = cache
        self._size_bytes = size_bytes
        self._queues: dict[CacheKey, _Queue] = {}

    @property
    def in_progress(self) -> int:
        """Values that are being made."""
        return len(self._queues)

    @asynccontextmanager
    async def visit(self, key: CacheKey) -> AsyncIterator[Visit[V]]:
        """Waits while another visitor makes the value. Where that one fails, is cancelled or keeps nothing, the next in
        the queue makes it, one at a time. There is no time limit but the caller's own."""
        found = await self._cache.get(key)
        if found is not None:
            self.hits += 1
            yield Visit(found)
            return
        async with self._queued(key):
            found = await self._cache.get(key)
            self.hits += found is not None
            self.misses += found is None
            visit = Visit(found, wanted=found is None)
            yield visit
            if visit.made is not None:
                await self._cache.put(key, visit.made, self._size_bytes(visit.made))

    async def forget_other_versions(self, scope: CacheScope) -> None:
        """Drops what is kept of the scope's matter under other versions."""
        await self._cache.forget_other_versions(scope)

    @asynccontextmanager
    async def _queued(self, key: CacheKey) -> AsyncIterator[None]:
        queue = self._queues.setdefault(key, _Queue())
        queue.visitors += 1
        try:
            async with queue.lock:
                yield
        finally:
            queue.visitors -= 1
            if not queue.visitors:
                del self._queues[key]
