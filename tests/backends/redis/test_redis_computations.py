"""Of the processes that need the same value at once one computes it; where it is not kept the others do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest
from redis.asyncio import Redis

from proviso_service.agent.caching import CacheKey, CacheScope, SharedCache
from proviso_service.backends.redis.caches import RedisCache
from proviso_service.backends.redis.computations import Computations
from tests.support.redis_server import RedisServer
from tests.support.replicas import new_prefix
from tests.support.seen_link import SeenLink

SCOPE = CacheScope("acme", "m1", (1,))
KEY = CacheKey(SCOPE, "a")
LEASE_S = 1.5


@dataclass
class Process:
    """A process with callers that all need the same value."""

    link: SeenLink
    cache: SharedCache[str]
    go: asyncio.Event = field(default_factory=asyncio.Event)
    computing: asyncio.Event = field(default_factory=asyncio.Event)
    made: int = 0
    fails: bool = False

    async def need(self) -> str:
        async with self.cache.look_up(KEY) as lookup:
            if lookup.found is not None:
                return lookup.found
            self.made += 1
            self.computing.set()
            await self.go.wait()
            if self.fails:
                raise ValueError("no")
            lookup.keep(f"of {self.link.owner}")
            return f"of {self.link.owner}"

    def callers(self, number: int) -> list[asyncio.Task[str]]:
        return [asyncio.create_task(self.need()) for _ in range(number)]

    async def waits(self, callers: int) -> None:
        """Returns once the first of so many callers has looked whether another process computes, and does so again."""
        await self.link.answers(callers + 2)


@asynccontextmanager
async def processes(server: RedisServer, number: int, lease_s: float = 15.0) -> AsyncIterator[list[Process]]:
    prefix = new_prefix()
    async with AsyncExitStack() as stack:
        started = []
        for owner in range(1, number + 1):
            link = SeenLink(server.url, str(owner), lease_s, prefix)
            await stack.enter_async_context(link.open())
            cache = RedisCache[str](link, Computations(link), "replies", 60, str.encode, bytes.decode)
            await cache.forget_other_versions(SCOPE)
            started.append(Process(link, SharedCache(cache, len)))
        yield started


async def test_one_process_computes_and_the_callers_of_all_have_its_value(redis_server: RedisServer) -> None:
    async with processes(redis_server, 3) as (first, *others):
        callers = first.callers(2)
        await first.computing.wait()
        for other in others:
            callers += other.callers(2)
            await other.waits(2)
        first.go.set()
        assert await asyncio.gather(*callers) == ["of 1"] * 6
        assert [one.made for one in (first, *others)] == [1, 0, 0]
        assert [(one.cache.hits, one.cache.misses) for one in (first, *others)] == [(1, 1), (2, 0), (2, 0)]


async def test_where_it_fails_all_that_wait_compute_at_once_and_who_comes_later_waits_for_none_of_them(
    redis_server: RedisServer,
) -> None:
    async with processes(redis_server, 3) as (first, second, third):
        first.fails = True
        [failing] = first.callers(1)
        await first.computing.wait()
        waiting = second.callers(3)
        await second.waits(3)
        first.go.set()
        with pytest.raises(ValueError, match="no"):
            await failing
        await second.computing.wait()
        while second.made < 3:  # noqa: ASYNC110 - they come to it by themselves, one after the other
            await asyncio.sleep(0)
        third.go.set()
        assert await asyncio.gather(*third.callers(2)) == ["of 3"] * 2
        assert third.made == 1
        second.go.set()
        assert await asyncio.gather(*waiting) == ["of 2"] * 3


async def test_where_it_is_cancelled_one_process_takes_its_place(redis_server: RedisServer) -> None:
    async with processes(redis_server, 3) as (first, *others):
        [cancelled] = first.callers(1)
        await first.computing.wait()
        callers = []
        for other in others:
            other.go.set()
            callers += other.callers(2)
            await other.waits(2)
        cancelled.cancel()
        [value] = set(await asyncio.gather(*callers))
        assert sorted(one.made for one in others) == [0, 1]
        assert value in {"of 2", "of 3"}


async def test_a_process_that_is_cancelled_while_it_waits_harms_nobody(redis_server: RedisServer) -> None:
    async with processes(redis_server, 3) as (first, second, third):
        computing = first.callers(1)
        await first.computing.wait()
        [impatient] = second.callers(1)
        await second.waits(1)
        impatient.cancel()
        await asyncio.wait([impatient])
        waiting = third.callers(1)
        await third.waits(1)
        first.go.set()
        assert await asyncio.gather(*computing, *waiting) == ["of 1"] * 2
        assert impatient.cancelled()


async def test_where_the_process_is_killed_another_one_takes_its_place_after_its_lease(
    redis_server: RedisServer,
) -> None:
    async with processes(redis_server, 2) as (first, second), Redis.from_url(redis_server.url) as redis:
        [computing] = first.callers(1)
        await first.computing.wait()
        waiting = second.callers(1)
        await second.waits(1)
        second.go.set()
        [lease] = [name async for name in redis.scan_iter(f"{first.link.key('computing', '')}*")]
        assert 0 < await redis.pttl(lease) <= 15_000
        await redis.delete(lease)  # as time does where nobody renews it
        assert await asyncio.gather(*waiting) == ["of 2"]
        first.go.set()
        assert await computing == "of 1"


async def test_a_lease_is_renewed_while_its_process_computes(redis_server: RedisServer) -> None:
    async with processes(redis_server, 1, LEASE_S) as [one], Redis.from_url(redis_server.url) as redis:
        callers = one.callers(1)
        await one.computing.wait()
        [lease] = [name async for name in redis.scan_iter(f"{one.link.key('computing', '')}*")]
        await redis.pexpire(lease, 600_000)
        async with asyncio.timeout(60):
            while await redis.pttl(lease) > LEASE_S * 1_000:
                await one.link.answers(1)
        one.go.set()
        assert await asyncio.gather(*callers) == ["of 1"]
        assert await redis.exists(lease) == 0


async def test_while_redis_is_away_nobody_waits_for_another_process(own_redis: RedisServer) -> None:
    async with processes(own_redis, 2) as (first, second):
        computing = first.callers(1)
        await first.computing.wait()
        waiting = second.callers(1)
        await second.waits(1)
        own_redis.kill()
        await second.computing.wait()
        for one in (first, second):
            one.go.set()
        assert await asyncio.gather(*computing, *waiting) == ["of 1", "of 2"]
