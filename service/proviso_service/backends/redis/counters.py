"""Counters of what tenants use, which processes share by Redis."""

import time
from functools import partial

from limits.aio.storage import MemoryStorage, Storage
from redis.asyncio.client import Pipeline

from proviso_service.backends.redis.link import RedisAway, RedisLink

_COUNT = """
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return count
"""


class SharedCounters(Storage):
    """A storage of the library `limits`. What this process counts it also counts in its memory: that holds while Redis
    is away."""

    STORAGE_SCHEME = None

    def __init__(self, link: RedisLink) -> None:
        super().__init__()
        self._link = link
        self._own = MemoryStorage()

    @property
    def base_exceptions(self) -> type[Exception]:
        return RedisAway

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        own: int = await self._own.incr(key, expiry, amount)
        shared = self._link.key("used", key)
        try:
            [count] = await self._link.run(lambda pipeline: pipeline.eval(_COUNT, 1, shared, amount, expiry * 1_000))
        except RedisAway:
            return own
        return int(count)

    async def get(self, key: str) -> int:
        try:
            [count] = await self._link.run(lambda pipeline: pipeline.get(self._link.key("used", key)))
        except RedisAway:
            own: int = await self._own.get(key)
            return own
        return int(count or 0)

    async def get_expiry(self, key: str) -> float:
        try:
            [left_ms] = await self._link.run(lambda pipeline: pipeline.pttl(self._link.key("used", key)))
        except RedisAway:
            own: float = await self._own.get_expiry(key)
            return own
        return time.time() + max(int(left_ms), 0) / 1_000

    async def check(self) -> bool:
        return self._link.is_up

    async def reset(self) -> int | None:
        """Begins the counts of this process anew, where its clock was set back. The others go by the clock of Redis."""
        own: int | None = await self._own.reset()
        return own

    async def clear(self, key: str) -> None:
        await self._own.clear(key)
        await self._link.run(partial(_delete, self._link.key("used", key)))


def _delete(key: str, pipeline: "Pipeline") -> None:
    pipeline.delete(key)
