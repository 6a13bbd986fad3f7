"""Tests of the cache in memory: what it keeps, and for how long."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.agent.caching import CacheKey, CacheScope
from proviso_service.backends.memory import ENTRY_BYTES, MemoryCache

ONE = CacheScope("acme", "m1", (1,))


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def key(name: str, scope: CacheScope = ONE) -> CacheKey:
    return CacheKey(scope, name)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> MemoryCache[str]:
    """A cache with room for three entries, or for 10 bytes of values beside what the entries themselves take."""
    return MemoryCache(max_entries=3, max_bytes=3 * ENTRY_BYTES + 10, ttl_s=60, clock=clock)


async def test_what_was_put_is_found_under_its_own_key_only(cache: MemoryCache[str]) -> None:
    await cache.put(key("a"), "A", 1)
    assert await cache.get(key("a")) == "A"
    others = [
        key("b"),
        key("a", CacheScope("other", "m1", (1,))),
        key("a", CacheScope("acme", "m2", (1,))),
        key("a", CacheScope("acme", "m1", (2,))),
        key("a", CacheScope("acme", "m1", (1, 1))),
    ]
    assert [await cache.get(other) for other in others] == [None] * len(others)


async def test_an_entry_ends_when_its_time_is_over_however_often_it_is_used(
    cache: MemoryCache[str], clock: Clock
) -> None:
    await cache.put(key("a"), "A", 1)
    clock.now = 59.9
    assert await cache.get(key("a")) == "A"
    clock.now = 60
    assert await cache.get(key("a")) is None
    assert (len(cache), cache.held_bytes) == (0, 0)


async def test_an_entry_that_is_put_again_lives_anew(cache: MemoryCache[str], clock: Clock) -> None:
    await cache.put(key("a"), "old", 1)
    clock.now = 30
    await cache.put(key("a"), "new", 2)
    clock.now = 80
    assert await cache.get(key("a")) == "new"
    assert (len(cache), cache.held_bytes) == (1, ENTRY_BYTES + 2)


async def test_what_was_used_longest_ago_makes_room(cache: MemoryCache[str]) -> None:
    for name in "abc":
        await cache.put(key(name), name, 1)
    await cache.get(key("a"))
    await cache.put(key("d"), "d", 1)
    assert [await cache.get(key(name)) for name in "abcd"] == ["a", None, "c", "d"]


async def test_the_bytes_are_bounded_too(cache: MemoryCache[str]) -> None:
    for name in "ab":
        await cache.put(key(name), name, 6)
    await cache.put(key("c"), "c", 6)
    assert [await cache.get(key(name)) for name in "abc"] == [None, "b", "c"]


async def test_a_value_larger_than_the_cache_is_not_kept_and_drives_nothing_out(cache: MemoryCache[str]) -> None:
    await cache.put(key("a"), "a", 1)
    await cache.put(key("b"), "b", 4 * ENTRY_BYTES)
    assert [await cache.get(key(name)) for name in "ab"] == ["a", None]


async def test_entries_of_other_versions_of_a_matter_are_dropped_and_no_others(cache: MemoryCache[str]) -> None:
    before, now = CacheScope("acme", "m1", (1, 7)), CacheScope("acme", "m1", (2, 7))
    elsewhere = CacheScope("other", "m1", (1, 7))
    for scope in (before, now, elsewhere):
        await cache.put(key("a", scope), "text", 1)
    await cache.forget_other_versions(now)
    assert [await cache.get(key("a", scope)) for scope in (before, now, elsewhere)] == [None, "text", "text"]
    assert (len(cache), cache.held_bytes) == (2, 2 * (ENTRY_BYTES + 1))


names = st.sampled_from("abcde")
versions = st.integers(1, 3)
operations = st.one_of(
    st.tuples(st.just("put"), names, versions, st.integers(0, 2 * ENTRY_BYTES)),
    st.tuples(st.just("get"), names, versions, st.just(0)),
    st.tuples(st.just("forget"), st.just(""), versions, st.just(0)),
    st.tuples(st.just("wait"), st.just(""), st.just(0), st.integers(0, 40)),
)


@given(st.lists(operations, max_size=60))
def test_whatever_is_done_the_bounds_hold_and_nothing_is_found_that_was_not_put(
    done: list[tuple[str, str, int, int]],
) -> None:
    asyncio.run(_do(iter(done)))


async def _do(operations: Iterator[tuple[str, str, int, int]]) -> None:
    clock, live = Clock(), dict[CacheKey, tuple[int, float]]()
    cache = MemoryCache[int](max_entries=3, max_bytes=4 * ENTRY_BYTES, ttl_s=60, clock=clock)
    for number, (operation, name, version, amount) in enumerate(operations):
        scope = CacheScope("acme", "m1", (version,))
        match operation:
            case "put":
                await cache.put(key(name, scope), number, amount)
                live[key(name, scope)] = number, clock.now + 60
            case "get":
                value, end = live.get(key(name, scope), (None, 0.0))
                assert await cache.get(key(name, scope)) in ({value, None} if end > clock.now else {None})
            case "forget":
                await cache.forget_other_versions(scope)
                live = {known: entry for known, entry in live.items() if known.scope == scope}
            case _:
                clock.now += amount
        assert len(cache) <= 3
        assert len(cache) * ENTRY_BYTES <= cache.held_bytes <= 4 * ENTRY_BYTES
