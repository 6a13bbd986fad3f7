"""Work that goes on side by side."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
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
