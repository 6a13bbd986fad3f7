"""Of those who need the same value at once one makes it; who fails, is cancelled or keeps nothing gives way."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.agent.caching.ports import CacheKey, CacheScope
from proviso_service.agent.caching.shared_cache import SharedCache
from proviso_service.storage.cache.memory import MemoryCache

KEY = CacheKey(CacheScope("acme", "m1", (1,)), "a")
OTHER = CacheKey(CacheScope("acme", "m1", (1,)), "b")


def shared_cache() -> SharedCache[str]:
    return SharedCache(MemoryCache(100, 1_000_000, 60), len)


async def use(cache: SharedCache[str], make: Callable[[], Awaitable[str | None]], key: CacheKey = KEY) -> str | None:
    """What was found, else what `make` gives, which is kept unless it is None."""
    async with cache.visit(key) as visit:
        if visit.found is not None:
            return visit.found
        value = await make()
        if value is not None:
            visit.keep(value)
        return value


@dataclass
class Maker:
    """Makes values when it is told to; counts how many are being made."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    made: int = 0
    error: Exception | None = None

    async def __call__(self) -> str:
        self.made += 1
        self.started.set()
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return f"value {self.made}"


async def settle() -> None:
    """Lets every task go on until it waits for something outside."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_kept_value_is_found_again() -> None:
    cache, maker = shared_cache(), Maker()
    maker.go.set()
    assert [await use(cache, maker) for _ in range(3)] == ["value 1"] * 3
    assert (cache.hits, cache.misses, maker.made) == (2, 1, 1)


async def test_ten_at_once_run_once() -> None:
    cache, maker = shared_cache(), Maker()
    tasks = [asyncio.create_task(use(cache, maker)) for _ in range(10)]
    await settle()
    maker.go.set()
    assert await asyncio.gather(*tasks) == ["value 1"] * 10
    assert (cache.hits, cache.misses, maker.made) == (9, 1, 1)


async def test_different_keys_do_not_wait_for_each_other() -> None:
    cache, slow, quick = shared_cache(), Maker(), Maker()
    waiting = asyncio.create_task(use(cache, slow))
    await slow.started.wait()
    quick.go.set()
    assert await use(cache, quick, OTHER) == "value 1"
    slow.go.set()
    await waiting


async def test_where_the_first_fails_the_next_makes_the_value_and_the_rest_take_it() -> None:
    cache, failing, maker = shared_cache(), Maker(error=ValueError("no")), Maker()
    first = asyncio.create_task(use(cache, failing))
    await failing.started.wait()
    others = [asyncio.create_task(use(cache, maker)) for _ in range(3)]
    await settle()
    assert maker.made == 0
    failing.go.set()
    with pytest.raises(ValueError, match="no"):
        await first
    await settle()
    assert maker.made == 1
    maker.go.set()
    assert await asyncio.gather(*others) == ["value 1"] * 3


async def test_where_the_first_is_cancelled_the_next_makes_the_value() -> None:
    cache, cancelled, maker = shared_cache(), Maker(), Maker()
    first = asyncio.create_task(use(cache, cancelled))
    await cancelled.started.wait()
    other = asyncio.create_task(use(cache, maker))
    await settle()
    first.cancel()
    maker.go.set()
    assert await other == "value 1"
    assert first.cancelled()


async def test_a_waiter_that_is_cancelled_harms_nobody() -> None:
    cache, maker = shared_cache(), Maker()
    tasks = [asyncio.create_task(use(cache, maker)) for _ in range(4)]
    await settle()
    assert cache.in_progress == 1
    tasks[1].cancel()
    tasks[2].cancel()
    maker.go.set()
    await asyncio.wait(tasks)
    assert [task.cancelled() for task in tasks] == [False, True, True, False]
    assert (await tasks[0], await tasks[3]) == ("value 1", "value 1")
    assert maker.made == 1


class Fate(StrEnum):
    KEEPS = "keeps"
    KEEPS_NOTHING = "keeps nothing"
    FAILS = "fails"
    IS_CANCELLED = "is cancelled"


@given(st.lists(st.sampled_from(Fate), max_size=12), st.sets(st.integers(0, 11)))
def test_one_at_a_time_makes_the_value_until_it_is_kept(fates: list[Fate], impatient: set[int]) -> None:
    asyncio.run(_queue_up(fates, impatient))


async def _queue_up(fates: list[Fate], impatient: set[int]) -> None:
    """Visitors come in order; those that are impatient leave while they wait. The others make the value in their
    order, until one keeps it."""
    cache, making, made_by = shared_cache(), list[int](), list[int]()
    go = asyncio.Event()

    async def make(number: int) -> str | None:
        making.append(number)
        made_by.append(number)
        assert making == [number]
        try:
            await go.wait()
            match fates[number]:
                case Fate.FAILS:
                    raise ValueError(number)
                case Fate.IS_CANCELLED:
                    raise asyncio.CancelledError
            return str(number) if fates[number] is Fate.KEEPS else None
        finally:
            making.remove(number)

    def visitor(number: int) -> asyncio.Task[str | None]:
        return asyncio.create_task(use(cache, lambda: make(number)))

    tasks = [visitor(number) for number in range(len(fates))]
    await settle()
    for number in impatient & set(range(1, len(fates))):
        tasks[number].cancel()
    go.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    patient = [number for number in range(len(fates)) if number == 0 or number not in impatient]
    keeper = next((number for number in patient if fates[number] is Fate.KEEPS), None)
    assert made_by == [number for number in patient if keeper is None or number <= keeper]
    served = [tasks[number].result() for number in patient if keeper is not None and number >= keeper]
    assert served == [str(keeper)] * len(served)
    assert cache.misses == len(made_by)
    assert cache.hits == len(patient) - len(made_by)
    # Nobody is left in the way of the next one.
    assert cache.in_progress == 0
    async with asyncio.timeout(1), cache.visit(KEY) as visit:
        assert visit.found == (None if keeper is None else str(keeper))
