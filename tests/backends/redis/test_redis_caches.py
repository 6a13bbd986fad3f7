"""What a cache in Redis keeps for all processes, for how long, and what is gone from it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import Redis

from proviso_service.agent.caching import CacheKey, CacheScope
from proviso_service.backends.redis.caches import MAX_ENTRY_BYTES, RedisCache
from proviso_service.backends.redis.computations import Computations
from proviso_service.backends.redis.link import RedisLink
from proviso_service.errors import Unavailable
from tests.support.redis_server import RedisServer
from tests.support.replicas import new_prefix

BEFORE, NOW = CacheScope("acme", "m1", (1, 7)), CacheScope("acme", "m1", (2, 7))
TEXT = "The rent is USD 900."


def key(name: str, scope: CacheScope = NOW) -> CacheKey:
    return CacheKey(scope, name)


def written(value: str) -> bytes:
    if value == "not to be written":
        raise TypeError
    return value.encode()


@asynccontextmanager
async def process(
    server: RedisServer, prefix: str, owner: str = "one", **bounds: Any
) -> AsyncIterator[RedisCache[str]]:
    link = RedisLink(server.url, owner, 15.0, prefix)
    async with link.open():
        yield RedisCache(link, Computations(link), "replies", 60, written, bytes.decode, **bounds)


@asynccontextmanager
async def two(server: RedisServer) -> AsyncIterator[tuple[RedisCache[str], RedisCache[str], str]]:
    prefix = new_prefix()
    async with process(server, prefix) as first, process(server, prefix, "two") as second:
        yield first, second, prefix


async def kept(server: RedisServer, prefix: str) -> list[str]:
    """All texts that Redis has, whatever they belong to."""
    async with Redis.from_url(server.url) as redis:
        names = [name async for name in redis.scan_iter(f"{prefix}:*", _type="string")]
        values = [await redis.get(name) for name in names]
    return sorted(bytes(value).decode() for value in values if isinstance(value, bytes) and value != b"1")


async def test_what_one_process_keeps_the_other_finds_under_its_own_key_only(redis_server: RedisServer) -> None:
    async with two(redis_server) as (first, second, _):
        for scope in (NOW, CacheScope("acme", "", (2, 7))):
            await first.forget_other_versions(scope)
        await first.put(key("a"), TEXT, 1)
        assert await second.get(key("a")) == TEXT
        others = [
            key("b"),
            key("a", BEFORE),
            key("a", CacheScope("other", "m1", (2, 7))),
            key("a", CacheScope("acme", "m2", (2, 7))),
            key("a", CacheScope("acme", "", (2, 7))),
            key("a", CacheScope("acme/m1", "", (2, 7))),
        ]
        assert [await second.get(other) for other in others] == [None] * len(others)


async def test_an_entry_has_its_time(redis_server: RedisServer) -> None:
    async with two(redis_server) as (first, _, prefix), Redis.from_url(redis_server.url) as redis:
        await first.forget_other_versions(NOW)
        await first.put(key("a"), TEXT, 1)
        names = [name async for name in redis.scan_iter(f"{prefix}:replies*")]
        left_ms = {name.decode().removeprefix(prefix): await redis.pttl(name) for name in names}
        assert {name for name, left in left_ms.items() if 0 < left <= 60_000} == {
            ":replies:acme/m1/2.7/a",
            ":replies-index:expiry",
            ":replies-index:sizes",
        }
        assert all(left > 0 for left in left_ms.values())


async def test_entries_of_other_versions_are_gone_for_all_processes(redis_server: RedisServer) -> None:
    async with two(redis_server) as (first, second, prefix):
        elsewhere = CacheScope("acme", "m10", (1, 7))
        for scope in (BEFORE, elsewhere):
            await first.forget_other_versions(scope)
            await first.put(key("a", scope), f"{TEXT} {scope.matter_id}", 1)
        await second.forget_other_versions(NOW)
        await second.put(key("a"), "new", 1)
        assert [await first.get(key("a", scope)) for scope in (BEFORE, NOW)] == [None, "new"]
        assert await kept(redis_server, prefix) == [f"{TEXT} m10", "new"]


async def test_a_turn_that_still_sees_the_documents_before_keeps_nothing(redis_server: RedisServer) -> None:
    async with two(redis_server) as (first, second, prefix):
        await first.forget_other_versions(BEFORE)
        await second.forget_other_versions(NOW)
        await first.put(key("a", BEFORE), TEXT, 1)
        assert await kept(redis_server, prefix) == []


async def test_of_a_tenant_that_deletes_something_no_text_is_left_and_none_comes_later(
    redis_server: RedisServer,
) -> None:
    other = CacheScope("acme2", "m1", (1, 7))
    async with two(redis_server) as (first, second, prefix):
        for scope in (BEFORE, CacheScope("acme", "", (0, 7)), other):
            await first.forget_other_versions(scope)
            await first.put(key("a", scope), f"{TEXT} {scope.tenant}", 1)
        assert len(await kept(redis_server, prefix)) == 3
        await second.forget_tenant("acme")
        assert await kept(redis_server, prefix) == [f"{TEXT} acme2"]
        # A turn that began before the deletion comes to its end.
        await first.put(key("b", BEFORE), TEXT, 1)
        assert await kept(redis_server, prefix) == [f"{TEXT} acme2"]
        await first.forget_other_versions(NOW)
        await first.put(key("b"), "new", 1)
        assert await second.get(key("b")) == "new"


async def test_the_oldest_make_room_where_there_are_too_many_or_too_large_ones(redis_server: RedisServer) -> None:
    prefix = new_prefix()
    async with process(redis_server, prefix, max_entries=3, max_bytes=10) as cache:
        await cache.forget_other_versions(NOW)
        for name in "abcd":
            await cache.put(key(name), name, 1)
        assert await kept(redis_server, prefix) == ["b", "c", "d"]
        await cache.put(key("b"), "b" * 8, 1)
        assert await kept(redis_server, prefix) == ["b" * 8, "c", "d"]
        await cache.put(key("e"), "e" * 2, 1)
        assert await kept(redis_server, prefix) == ["b" * 8, "ee"]
        await cache.put(key("f"), "f" * 11, 1)
        assert await kept(redis_server, prefix) == []


async def test_what_is_too_large_or_cannot_be_written_or_read_is_not_kept_and_not_found(
    redis_server: RedisServer,
) -> None:
    async with two(redis_server) as (first, _, prefix), Redis.from_url(redis_server.url) as redis:
        await first.forget_other_versions(NOW)
        await first.put(key("a"), "a" * (MAX_ENTRY_BYTES + 1), 1)
        await first.put(key("b"), "not to be written", 1)
        assert await kept(redis_server, prefix) == []
        await redis.set(f"{prefix}:replies:acme/m1/2.7/c", b"\xff")
        assert await first.get(key("c")) is None


async def test_without_redis_it_is_an_empty_cache_that_says_only_that_a_deletion_has_to_wait(
    own_redis: RedisServer,
) -> None:
    async with two(own_redis) as (first, _, _prefix):
        await first.forget_other_versions(NOW)
        await first.put(key("a"), TEXT, 1)
        own_redis.kill()
        assert await first.get(key("a")) is None
        await first.put(key("a"), TEXT, 1)
        await first.forget_other_versions(NOW)
        async with first.computing(key("a")) as is_mine:
            assert is_mine
        with pytest.raises(Unavailable):
            await first.forget_tenant("acme")
