"""A cache that many turns use at once: of those that need the same value one makes it, and the others wait for it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
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
class _Making:
    """A value that several visitors want: the one that holds the lock makes it, until that `is_over`."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    visitors: int = 0
    is_over: bool = False


class SharedCache(Generic[V]):
    """Counts `hits` and `misses`; whoever waited and was served is a hit."""

    def __init__(self, cache: Cache[V], size_bytes: Callable[[V], int]) -> None:
        self.hits = 0
        self.misses = 0
        self._cache = cache
        self._size_bytes = size_bytes
        self._making: dict[CacheKey, _Making] = {}

    @property
    def in_progress(self) -> int:
        """Values that visitors wait for, or would wait for."""
        return len(self._making)

    @asynccontextmanager
    async def visit(self, key: CacheKey) -> AsyncIterator[Visit[V]]:
        """Waits while another visitor makes the value. Where that one fails or keeps nothing, all that wait go on at
        once, and each makes the value for itself: nobody waits for one failure after another. Where it is cancelled,
        the one that has waited longest takes its place. There is no time limit but the caller's own."""
        found = await self._cache.get(key)
        if found is not None:
            self.hits += 1
            yield Visit(found)
            return
        async with self._after_the_maker(key):
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
    async def _after_the_maker(self, key: CacheKey) -> AsyncIterator[None]:
        """Entered by the maker alone, and by the others once it is done."""
        making = self._making.setdefault(key, _Making())
        making.visitors += 1
        try:
            async with making.lock:
                if not making.is_over:
                    with _over_unless_cancelled(making):
                        yield
                    return
        finally:
            making.visitors -= 1
            # Who comes later does not belong to those who waited.
            if (making.is_over or not making.visitors) and self._making.get(key) is making:
                del self._making[key]
        yield


@contextmanager
def _over_unless_cancelled(making: _Making) -> Iterator[None]:
    is_cancelled = False
    try:
        yield
    except asyncio.CancelledError:
        is_cancelled = True
        raise
    finally:
        making.is_over = not is_cancelled
