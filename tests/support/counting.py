"""Counts work instead of timing it: a count is the same on a busy machine."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from sqlalchemy import Connection

from proviso_service.backends.sql.dialects import driver_of


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


@contextmanager
def calls_of_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """As `calls_of`, for each step of the event loop: what is done while nothing else can be."""
    steps: list[int] = []
    counter = _Counter()
    run = asyncio.Handle._run

    def counted(handle: asyncio.Handle) -> None:
        counter.calls = 0
        run(handle)
        steps.append(counter.calls)

    before = sys.getprofile()
    with monkeypatch.context() as patch:
        patch.setattr(asyncio.Handle, "_run", counted)
        sys.setprofile(counter)
        try:
            yield steps
        finally:
            sys.setprofile(before)
