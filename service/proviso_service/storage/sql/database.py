"""The connection pool, transactions and the schema."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Table, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from proviso_service.errors import TooBusy, Unavailable
from proviso_service.storage.sql.migrations import upgrade

POOL_SIZE = 8
WAIT_S = 10.0
"""Longest wait for a connection, for the turn to write, and for a lock that another process holds."""

BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
BROKEN_CODES = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
)
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",  # a commit outlives a power failure, not only the process
    "foreign_keys=ON",
    "journal_size_limit=67108864",
    "cache_size=-8192",
)


def utc_now() -> datetime:
    return datetime.now(UTC)


class Database:
    """The state behind `url` (only `sqlite+aiosqlite:///file` today); `now` tells the time of new rows.

    Raises TooBusy when a wait for a connection or a lock takes too long, and Unavailable when the disk fails."""

    def __init__(self, url: str, *, now: Callable[[], datetime] = utc_now, wait_s: float = WAIT_S) -> None:
        self._engine = _engine(make_url(url), wait_s)
        self._writer = self._engine.execution_options(begin="BEGIN IMMEDIATE")
        self._write_turn = asyncio.Lock()
        self._wait_s = wait_s
        self.now = now

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection that sees one state of the data throughout."""
        with _failures_named():
            async with self._engine.begin() as connection:
                yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """A transaction: committed at the end, rolled back when the body raises. SQLite has one writer at a time, so
        writers queue here, in order and without holding a connection."""
        with _failures_named():
            async with self._my_turn(), self._writer.begin() as connection:
                yield connection

    @asynccontextmanager
    async def _my_turn(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._wait_s):
                await self._write_turn.acquire()
        except TimeoutError:
            raise _busy() from None
        try:
            yield
        finally:
            self._write_turn.release()

    async def migrate(self) -> None:
        """Brings the schema up to date, in one transaction. Raises UnknownSchema when newer code wrote the state."""
        async with self.write() as connection:
            await connection.run_sync(upgrade)

    async def close(self) -> None:
        await self._engine.dispose()


class Store:
    """Base of the repositories; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database


def insert(table: Table) -> sqlite.Insert:
    """An INSERT that knows ON CONFLICT."""
    return sqlite.insert(table)


def _engine(url: URL, wait_s: float) -> AsyncEngine:
    if url.drivername != "sqlite+aiosqlite":
        raise ValueError(f"state_url {url.render_as_string()!r} is not supported: use sqlite+aiosqlite:///path/to/file")
    if url.database in (None, "", ":memory:"):
        raise ValueError("state_url must name a file: the state has to survive the process")
    engine = create_async_engine(
        url,
        pool_size=POOL_SIZE,
        max_overflow=0,
        pool_timeout=wait_s,
        # The driver's own way of opening transactions is off: `_begin` says which kind is wanted.
        connect_args={"isolation_level": None, "timeout": wait_s},
    )
    event.listen(engine.sync_engine, "connect", _configure)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _configure(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    # A transaction that will write takes the write lock at once: a reader that turns writer can only fail.
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


@contextmanager
def _failures_named() -> Iterator[None]:
    """Locks and disk failures as errors of the service; other database errors are faults of the code."""
    try:
        yield
    except PoolTimeoutError:
        raise _busy() from None
    except DBAPIError as error:
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
        if code in BUSY_CODES:
            raise _busy() from error
        if code in BROKEN_CODES:
            raise Unavailable("The service cannot reach its storage") from error
        raise


def _busy() -> TooBusy:
    return TooBusy("The service's storage is busy; try again shortly", retry_after_s=1.0)
