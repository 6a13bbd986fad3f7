"""Work that must not be torn by cancellation."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

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
