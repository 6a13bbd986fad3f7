"""What tenants use is counted by all processes together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import Redis

from proviso_service.access import Quota, Quotas
from proviso_service.backends.redis.counters import SharedCounters
from proviso_service.backends.redis.link import RedisLink
from proviso_service.errors import QuotaExceeded
from proviso_service.identity import Caller
from proviso_service.settings import LimitSettings
from tests.support.redis_server import RedisServer
from tests.support.replicas import new_prefix

ANN, BEN = Caller("acme", "ann"), Caller("acme", "ben")


async def nothing_stored(_tenant: str) -> tuple[int, int]:
    return 0, 0


@asynccontextmanager
async def process(server: RedisServer, prefix: str, owner: str, **limits: int) -> AsyncIterator[Quotas]:
    link = RedisLink(server.url, owner, 0.3, prefix)
    async with link.open():
        yield Quotas(LimitSettings.model_validate(limits), SharedCounters(link), nothing_stored)


@asynccontextmanager
async def two(server: RedisServer, **limits: int) -> AsyncIterator[tuple[Quotas, Quotas, str]]:
    prefix = new_prefix()
    async with (
        process(server, prefix, "first", **limits) as first,
        process(server, prefix, "second", **limits) as second,
    ):
        yield first, second, prefix


async def test_the_limit_of_a_tenant_holds_for_all_processes_together(redis_server: RedisServer) -> None:
    async with (
        two(redis_server, turns_per_day=10) as (first, second, prefix),
        Redis.from_url(redis_server.url) as redis,
    ):
        asked = [quotas.admit_turn(caller) for quotas in (first, second) for caller in (ANN, BEN) for _ in range(5)]
        outcomes = await asyncio.gather(*asked, return_exceptions=True)
        refused = [outcome for outcome in outcomes if isinstance(outcome, QuotaExceeded)]
        assert (len(outcomes), len(refused)) == (20, 10)
        assert all(86_000 < (refusal.retry_after_s or 0) <= 86_400 for refusal in refused)
        [key] = [key async for key in redis.scan_iter(f"{prefix}:used:*")]
        assert 86_000_000 < await redis.pttl(key) <= 86_400_000
        used = [(one.used, one.limit) for one in await second.usage("acme") if one.quota is Quota.TURNS]
        assert used == [(20, 10)]


async def test_while_redis_is_away_each_process_holds_the_limit_by_itself(own_redis: RedisServer) -> None:
    async with two(own_redis, requests_per_minute=3) as (first, second, _):
        for _ in range(2):
            await first.admit_request(ANN)
        own_redis.kill()
        await first.admit_request(ANN)
        for quotas in (first, second):
            with pytest.raises(QuotaExceeded):
                await asyncio.gather(*(quotas.admit_request(ANN) for _ in range(4)))
