"""Counts work instead of timing it: a count is the same on a busy machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from sqlalchemy import Connection

from proviso_service.backends.sql.prepared import driver_of


def calls_of(work: Callable[[], object]) -> int:
    """How many functions `work` calls in this thread, of Python and of C."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


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
