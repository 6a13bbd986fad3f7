"""Runs transactions in the thread that calls: alone, or several at once, because each transaction costs many times what
its work does. Writes share a commit, and look-ups a connection."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from proviso_service.backends.sql.dialects import commands_of, is_open
from proviso_service.backends.sql.failures import busy, failures_named, is_full

T = TypeVar("T")

MAX_TOGETHER = 32
"""The most writes that share a commit, and the most look-ups that share a connection."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A write or a look-up that waits for a thread. `latest` is when it may begin at the latest, on the monotonic
    clock. A write that is `growing` may not use what is reserved on the disk."""

    work: Callable[[Connection], Any]
    done: asyncio.Future[Any]
    latest: float
    growing: bool = False


def transact(engine: Engine, work: Callable[[Connection], T], latest: float) -> T:
    """Runs one transaction in the calling thread, unless `latest` on the monotonic clock has passed. Raises TooBusy."""
    if time.monotonic() > latest:
        raise busy()
    with failures_named(), engine.begin() as connection:
        return work(connection)


Outcome = tuple[Waiting, Any, BaseException | None]
"""A write or a look-up with its result, or with the exception that it raised."""


def next_of(waiting: deque[Waiting]) -> list[Waiting]:
    """Takes the next of those that wait, as many as may run together. Those whose caller has gone are dropped."""
    taken: list[Waiting] = []
    while waiting and len(taken) < MAX_TOGETHER:
        one = waiting.popleft()
        if not one.done.cancelled():
            taken.append(one)
    return taken


def tell(outcomes: Sequence[Outcome]) -> None:
    """Gives the callers what became of their work, on the event loop."""
    for waiting, result, error in outcomes:
        if waiting.done.cancelled():
            continue
        if error is None:
            waiting.done.set_result(result)
        else:
            waiting.done.set_exception(error)  # the caller raises it


def look_up_together(engine: Engine, look_ups: Sequence[Waiting]) -> Sequence[Outcome]:
    """Runs the look-ups one after the other. Each is one statement, which sees one state of the data without a
    transaction around it. One that raises an exception changes nothing for the others."""
    try:
        with failures_named(), engine.connect() as connection:
            return [(look_up, *_tried(connection, look_up)) for look_up in look_ups]
    except BaseException as failure:  # there is no connection
        return [(look_up, None, failure) for look_up in look_ups]


def _tried(connection: Connection, look_up: Waiting) -> tuple[Any, BaseException | None]:
    if time.monotonic() > look_up.latest:
        return None, busy()
    try:
        with failures_named():
            return look_up.work(connection), None
    except Exception as error:
        return None, error


def alone(engine: Engine, waiting: Waiting) -> Outcome:
    """Runs the work in a transaction of its own."""
    try:
        return waiting, transact(engine, waiting.work, waiting.latest), None
    except BaseException as error:
        return waiting, None, error


def _write_alone(engine: Engine, write: Waiting, make_room: Callable[[BaseException], bool]) -> Outcome:
    outcome = alone(engine, write)
    if outcome[2] is not None and not write.growing and make_room(outcome[2]):
        return _write_alone(engine, write, make_room)  # once: there is no more room to make
    return outcome


def write_together(
    engine: Engine, writes: Sequence[Waiting], make_room: Callable[[BaseException], bool]
) -> Sequence[Outcome]:
    """Runs the writes in one transaction. A write that raises an exception undoes its own work only. No caller gets its
    result before the commit. Where the disk is full, each is tried alone."""
    if len(writes) == 1:
        return [_write_alone(engine, writes[0], make_room)]
    try:
        with failures_named(), engine.begin() as connection:
            return [(write, *_in_savepoint(connection, write)) for write in writes]
    except BaseException as failure:  # nothing was committed
        if is_full(failure):
            return [_write_alone(engine, write, make_room) for write in writes]
        return [(write, None, failure) for write in writes]


def _in_savepoint(connection: Connection, write: Waiting) -> tuple[Any, BaseException | None]:
    """The result of the write, or the exception that it raised. Raises the exception when it has ended the whole
    transaction, as a failure of the disk does: then the writes before this one are lost, too. SQLite's driver sets the
    savepoint itself, in a fiftieth of the time that it takes through SQLAlchemy."""
    if time.monotonic() > write.latest:
        return None, busy()
    run = commands_of(connection)
    run("SAVEPOINT of_write")
    try:
        with failures_named():
            result = write.work(connection)
    except Exception as error:
        if not is_open(connection):
            raise
        run("ROLLBACK TO of_write")
        run("RELEASE of_write")
        return None, error
    run("RELEASE of_write")
    return result, None
