"""Helpers for asyncio: work within a time limit, work side by side, and work that a cancellation must not break off."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")


async def with_timeout(limit_s: float, work: Awaitable[T], late: Callable[[], Exception] = TimeoutError) -> T:
    """Returns the result of `work`, or cancels it after `limit_s` seconds and raises the exception that `late` makes.

    A TimeoutError that the work itself raises passes through unchanged. `asyncio.wait_for` is not used, because in
    Python 3.11 it can lose a cancellation that arrives together with the result."""
    timer = asyncio.timeout(limit_s)
    try:
        async with timer:
            return await work
    except TimeoutError:
        if not timer.expired():
            raise
    raise late()  # outside the handler: an exception that carries a TimeoutError would count as transient


async def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Returns the result of `work`. When the caller is cancelled, its CancelledError is raised only after the work has
    ended, whatever the result of the work.

    A thread that writes a file goes on writing when the coroutine that awaits it is cancelled, so the coroutine has to
    wait for the thread if the file is to stay whole. The work must be short, or bounded in time."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError:
                continue  # cancelled again: the first one is raised below
        raise


async def together(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """Runs both at the same time and returns both results.

    When one of them fails, its exception is raised unchanged and the other one is cancelled. When the caller is
    cancelled, both are. Neither is still running when this function returns."""
    tasks = (asyncio.ensure_future(first), asyncio.ensure_future(second))
    try:
        one, other = await asyncio.gather(*tasks)
        return one, other
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def all_of(work: Iterable[Callable[[], Coroutine[Any, Any, None]]], at_once: int) -> None:
    """Runs all of the work, at most `at_once` pieces at the same time.

    When one piece fails, its exception is raised unchanged and the others are cancelled. When the caller is cancelled,
    all are. Nothing is still running when this function returns."""
    waiting = iter(work)

    async def take() -> None:
        for begin in waiting:
            await begin()

    takers = [asyncio.ensure_future(take()) for _ in range(at_once)]
    try:
        await asyncio.gather(*takers)
    finally:
        for taker in takers:
            taker.cancel()
        await asyncio.wait(takers)


@dataclass(slots=True)
class _Share:
    places: asyncio.Semaphore
    users: int = 0


class SharedPlaces:
    """A number of places for work that several holders compete for. No holder gets more than its share of them, so that
    a busy holder does not keep the others waiting."""

    def __init__(self, places: int, share: int) -> None:
        self._places = asyncio.Semaphore(places)
        self._share = share
        self._shares: dict[str, _Share] = {}

    @property
    def holders(self) -> int:
        """How many holders have a place or wait for one. Nothing is remembered of the others."""
        return len(self._shares)

    @asynccontextmanager
    async def one(self, holder: str) -> AsyncIterator[None]:
        """Waits for a place for `holder` and keeps it while the context is open."""
        share = self._shares.setdefault(holder, _Share(asyncio.Semaphore(self._share)))
        share.users += 1
        try:
            async with share.places, self._places:
                yield
        finally:
            share.users -= 1
            if not share.users:
                del self._shares[holder]
