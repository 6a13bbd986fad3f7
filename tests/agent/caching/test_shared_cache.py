"""Of those who need the same value at once one makes it; where it is not kept the others make it, each for itself."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.agent.caching import CacheKey, CacheScope, SharedCache
from proviso_service.backends.memory import MemoryCache

KEY = CacheKey(CacheScope("acme", "m1", (1,)), "a")
OTHER = CacheKey(CacheScope("acme", "m1", (1,)), "b")


def shared_cache() -> SharedCache[str]:
    return SharedCache(MemoryCache(60), len)


async def use(cache: SharedCache[str], make: Callable[[], Awaitable[str | None]], key: CacheKey = KEY) -> str | None:
    """What was found, else what `make` gives, which is kept unless it is None."""
    async with cache.look_up(key) as lookup:
        if lookup.found is not None:
            return lookup.found
        value = await make()
        if value is not None:
            lookup.keep(value)
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


async def test_where_the_first_fails_all_others_make_the_value_at_once() -> None:
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
    assert maker.made == 3
    maker.go.set()
    assert await asyncio.gather(*others) == ["value 3"] * 3


async def test_who_comes_after_a_failure_waits_for_none_of_those_who_waited_before() -> None:
    cache, failing, slow, maker = shared_cache(), Maker(error=ValueError("no")), Maker(), Maker()
    tasks = [asyncio.create_task(use(cache, failing)), asyncio.create_task(use(cache, slow))]
    await settle()
    failing.go.set()
    await slow.started.wait()
    later = [asyncio.create_task(use(cache, maker)) for _ in range(2)]
    await settle()
    assert maker.made == 1
    maker.go.set()
    assert await asyncio.gather(*later) == ["value 1"] * 2
    slow.go.set()
    assert await tasks[1] == "value 1"
    assert cache.in_progress == 0
    with pytest.raises(ValueError, match="no"):
        await tasks[0]


async def test_where_the_first_is_cancelled_one_other_makes_the_value_and_the_rest_take_it() -> None:
    cache, cancelled, maker = shared_cache(), Maker(), Maker()
    first = asyncio.create_task(use(cache, cancelled))
    await cancelled.started.wait()
    others = [asyncio.create_task(use(cache, maker)) for _ in range(3)]
    await settle()
    first.cancel()
    await settle()
    assert maker.made == 1
    maker.go.set()
    assert await asyncio.gather(*others) == ["value 1"] * 3
    assert first.cancelled()


@pytest.mark.parametrize("steps", range(6))
async def test_one_that_is_cancelled_as_its_turn_comes_passes_it_on(steps: int) -> None:
    cache, cancelled, maker = shared_cache(), Maker(), Maker()
    first = asyncio.create_task(use(cache, cancelled))
    await cancelled.started.wait()
    second, third = (asyncio.create_task(use(cache, maker)) for _ in range(2))
    await settle()
    first.cancel()
    for _ in range(steps):
        await asyncio.sleep(0)
    second.cancel()
    await settle()
    maker.go.set()
    assert await third == f"value {maker.made}"
    assert (first.cancelled(), second.cancelled(), cache.in_progress) == (True, True, 0)


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
def test_one_makes_the_value_unless_it_is_cancelled_and_where_it_is_not_kept_all_others_do(
    fates: list[Fate], impatient: set[int]
) -> None:
    asyncio.run(_visit(fates, impatient))


async def _visit(fates: list[Fate], impatient: set[int]) -> None:
    """Visitors come in order; those that are impatient leave while they wait."""
    cache, computation, makers = shared_cache(), list[int](), list[int]()
    go = [asyncio.Event() for _ in fates]

    async def make(number: int) -> str | None:
        computation.append(number)
        makers.append(number)
        try:
            await go[number].wait()
            match fates[number]:
                case Fate.FAILS:
                    raise ValueError(number)
                case Fate.IS_CANCELLED:
                    raise asyncio.CancelledError
            return str(number) if fates[number] is Fate.KEEPS else None
        finally:
            computation.remove(number)

    def visitor(number: int) -> asyncio.Task[str | None]:
        return asyncio.create_task(use(cache, lambda: make(number)))

    tasks = [visitor(number) for number in range(len(fates))]
    await settle()
    for number in impatient & set(range(1, len(fates))):
        tasks[number].cancel()
    await settle()

    patient = [number for number in range(len(fates)) if number == 0 or number not in impatient]
    waiting, fate = list(patient), Fate.IS_CANCELLED
    while waiting and fate is Fate.IS_CANCELLED:
        maker = waiting.pop(0)
        assert computation == [maker]
        go[maker].set()
        await settle()
        fate = fates[maker]
    if fate is Fate.KEEPS:
        assert [tasks[number].result() for number in waiting] == [str(maker)] * len(waiting)
    else:
        assert computation == waiting
    for number in waiting:
        go[number].set()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert (cache.misses, cache.hits) == (len(makers), len(patient) - len(makers))
    # Nobody is left in the way of the next one.
    assert cache.in_progress == 0
    async with asyncio.timeout(30), cache.look_up(KEY) as lookup:
        assert (lookup.found is not None) is any(fates[number] is Fate.KEEPS for number in makers)
