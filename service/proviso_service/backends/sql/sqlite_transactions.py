"""SqliteTransactions runs transactions on a SQLite file, in threads: several that read, and one that writes."""

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event

from proviso_service.backends.sql.compaction import rewrite
from proviso_service.backends.sql.dialects import driver_of
from proviso_service.backends.sql.failures import failures_named
from proviso_service.backends.sql.integrity import check_sound
from proviso_service.backends.sql.state_url import state_file
from proviso_service.backends.sql.transactions import (
    Waiting,
    alone,
    look_up_together,
    next_of,
    tell,
    write_together,
)

READERS = 4
"""Number of threads that read. One more thread writes, since SQLite allows one writer at a time."""

PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",  # a commit outlives a power failure, not only the process
    "foreign_keys=ON",
    "secure_delete=ON",  # what is deleted is overwritten; `Database.compact` removes what is left even then
    "journal_size_limit=67108864",
    "cache_size=-8192",
)


class SqliteTransactions:
    """The Transactions of a SQLite file. They need not be told of which tenant they are."""

    def __init__(self, url: str, wait_s: float, make_room: Callable[[BaseException], bool]) -> None:
        self._file = state_file(url)
        self._wait_s = wait_s
        self._make_room = make_room
        self.engine = _engine(url, wait_s, READERS)
        # A connection of its own: what SQLite knows of the file is void for every other connection after each commit.
        self.writer = _engine(url, wait_s, 1, "BEGIN IMMEDIATE")
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="state-read")
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="state-write")
        self._to_write: deque[Waiting] = deque()
        self._to_look_up: deque[Waiting] = deque()

    def read(self, read: Waiting, tenant: str | None) -> None:
        self._reading.submit(self._read, read, asyncio.get_running_loop())

    def look_up(self, look_up: Waiting, tenant: str | None) -> None:
        """Look-ups that wait are done by one thread, one after the other: to wake a thread and the loop takes many
        times as long as the work. It is woken once the loop has gone round, so that what others ask for meanwhile is
        done with it."""
        loop = asyncio.get_running_loop()
        self._to_look_up.append(look_up)
        if len(self._to_look_up) == 1:  # else the thread that is on its way takes this one, too
            loop.call_soon(self._reading.submit, self._look_up_waiting, loop)

    def write(self, write: Waiting, tenant: str | None) -> None:
        self._to_write.append(write)
        if len(self._to_write) == 1:  # else the thread that is on its way takes this one, too
            self._writing.submit(self._write_waiting, asyncio.get_running_loop())

    async def prepare(self) -> None:
        """Makes the file, if there is none. Raises UnusableState for one that is damaged or of another program."""
        with failures_named():
            await asyncio.to_thread(_make_file, self._file, self._wait_s)

    async def change_schema(self, work: Callable[[Connection], None]) -> None:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self.write(Waiting(work, done, time.monotonic() + self._wait_s), None)
        await done

    async def hold(self, *, shared: bool) -> bool:
        """A lock on the file is held already (see StateLock)."""
        return True

    async def compact(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._writing, rewrite, self.writer)

    async def close(self) -> None:
        for threads in (self._writing, self._reading):
            await asyncio.to_thread(threads.shutdown)
        self.engine.dispose()
        self.writer.dispose()

    def _read(self, read: Waiting, loop: asyncio.AbstractEventLoop) -> None:
        """Reads, in a reading thread. A read whose caller has gone is not begun."""
        if not read.done.cancelled():
            loop.call_soon_threadsafe(tell, [alone(self.engine, read)])

    def _write_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        """Runs the waiting writes, in the writing thread."""
        while writes := next_of(self._to_write):
            outcomes = write_together(self.writer, writes, self._make_room)
            loop.call_soon_threadsafe(tell, outcomes)  # all at once: each time that the loop is woken costs

    def _look_up_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        """Runs the waiting look-ups, in a reading thread."""
        while look_ups := next_of(self._to_look_up):
            loop.call_soon_threadsafe(tell, look_up_together(self.engine, look_ups))


def _engine(url: str, wait_s: float, connections: int, begin: str = "BEGIN") -> Engine:
    """A transaction that will write takes the write lock as it begins: a reader that turns writer can only fail."""
    engine = create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        # The driver's own way of opening transactions is off: `begin` says which kind is wanted.
        connect_args={"isolation_level": None, "timeout": wait_s, "check_same_thread": False},
    )
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", lambda connection: driver_of(connection).execute(begin))
    return engine


def _make_file(file: Path, wait_s: float) -> None:
    """Makes the file, if there is none, and turns the write-ahead log on for good. A path that is no use fails here. A
    file that is there is changed only once it is known to be a sound state."""
    check_sound(file, wait_s)
    with closing(sqlite3.connect(file, timeout=wait_s)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def _configure(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
