"""Work that goes on side by side."""

import asyncio
from collections.abc import Coroutine
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
