"""Counts work instead of timing it: a count is the same on a busy machine."""

import sys
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any

from sqlalchemy import Connection

from proviso_service.backends.sql.prepared import driver_of


class _Counter:
    """Counts the functions that are called, of Python and of C."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        self.calls += event in ("call", "c_call")


def calls_of(work: Callable[[], object]) -> int:
    """How many functions `work` calls in this thread, of Python and of C."""
    counter = _Counter()
    before = sys.getprofile()
    sys.setprofile(counter)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counter.calls


def sqlite_steps(transaction: Connection, work: Callable[[], object]) -> int:
    """How many instructions SQLite's machine runs for what `work` asks of this transaction."""
    steps: list[None] = []
    driver = driver_of(transaction)
    driver.set_progress_handler(lambda: steps.append(None), 1)
    try:
        work()
    finally:
        driver.set_progress_handler(None, 0)
    return len(steps)


async def calls_during(work: Callable[[], Awaitable[object]]) -> int:
    """As `calls_of`, for work on the event loop: also what other tasks do meanwhile is counted."""
    counter = _Counter()
    before = sys.getprofile()
    sys.setprofile(counter)
    try:
        await work()
    finally:
        sys.setprofile(before)
    return counter.calls
