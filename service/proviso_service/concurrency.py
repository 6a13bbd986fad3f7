"""Work that goes on side by side."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")


async def together(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """Both results. Where one fails, its exception is raised as it is and the other is cancelled; so are both when the
    caller is. Nothing goes on when this returns."""
    tasks = (asyncio.ensure_future(first), asyncio.ensure_future(second))
    try:
        one, other = await asyncio.gather(*tasks)
        return one, other
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def all_of(work: Iterable[Callable[[], Coroutine[Any, Any, None]]], at_once: int) -> None:
    """Runs everything, so much of it at the same time. Where one fails, its exception is raised as it is and the others
    are cancelled; so are all when the caller is. Nothing goes on when this returns."""
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
    """Places for work, of which no holder takes more than a share, so that others find some."""

    def __init__(self, places: int, share: int) -> None:
        self._places = asyncio.Semaphore(places)
        self._share = share
        self._shares: dict[str, _Share] = {}

    @property
    def holders(self) -> int:
        """Those who have a place or wait for one; nothing is kept of others."""
        return len(self._shares)

    @asynccontextmanager
    async def one(self, holder: str) -> AsyncIterator[None]:
        """Waits for a place of the holder's, and keeps it."""
        share = self._shares.setdefault(holder, _Share(asyncio.Semaphore(self._share)))
        share.users += 1
        try:
            async with share.places, self._places:
                yield
        finally:
            share.users -= 1
            if not share.users:
                del self._shares[holder]


T = TypeVar("T")


async def settled(work: Coroutine[Any, Any, T]) -> T:
    """Awaits `work`; a cancelled caller gets its CancelledError once the work has ended, whatever its result.

    A file that a thread writes goes on being written when its awaiter is cancelled; waiting for it keeps the file
    whole. The work itself must be short or bounded in time."""
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
