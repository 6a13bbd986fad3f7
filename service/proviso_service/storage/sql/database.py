"""The connection pool, transactions and the schema."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, CursorResult, Executable, Table, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from proviso_service.errors import TooBusy, Unavailable
from proviso_service.storage.settled import settled
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
    "synchronous=FULL",  # a commit outlives a power failure, not only the process
    "foreign_keys=ON",
    "journal_size_limit=67108864",
    "cache_size=-8192",
)


def utc_now() -> datetime:
    return datetime.now(UTC)


Result = CursorResult[*tuple[Any, ...]]


class Transaction:
    """What a repository works with. A statement runs to its end even when its caller is cancelled: the connection stays
    whole, and the cancellation takes effect between two statements, where the transaction is rolled back."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def execute(self, statement: Executable, rows: Sequence[dict[str, Any]] | None = None) -> Result:
        """Runs a statement, once for each of `rows` when they are given."""
        return await settled(self._connection.execute(statement, rows))


class Database:
    """The state behind `url` (only `sqlite+aiosqlite:///file` today); `now` tells the time of new rows.

    Raises TooBusy when a wait for a connection or a lock takes too long, and Unavailable when the disk fails."""

    def __init__(self, url: str, *, now: Callable[[], datetime] = utc_now, wait_s: float = WAIT_S) -> None:
        self._engine = _engine(make_url(url), wait_s)
        self._writer = self._engine.execution_options(begin="BEGIN IMMEDIATE")
        self._connections = asyncio.Semaphore(POOL_SIZE)
        self._write_turn = asyncio.Lock()
        self._wait_s = wait_s
        self.now = now

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Transaction]:
        """A transaction that sees one state of the data throughout."""
        async with self._begun(self._engine) as connection:
            yield Transaction(connection)

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Transaction]:
        """A transaction: committed at the end, rolled back when the body raises. SQLite has one writer at a time, so
        writers queue here, in order and without holding a connection."""
        async with self._held(self._write_turn), self._begun(self._writer) as connection:
            yield Transaction(connection)

    async def migrate(self) -> None:
        """Brings the schema up to date, in one transaction. Raises UnknownSchema when newer code wrote the state."""
        with _failures_named():
            await settled(asyncio.to_thread(_make_file, str(self._engine.url.database)))
        async with self._held(self._write_turn), self._begun(self._writer) as connection:
            await settled(connection.run_sync(upgrade))

    async def close(self) -> None:
        """Waits for running transactions; then nothing may use the database."""
        for _ in range(POOL_SIZE):
            await self._connections.acquire()
        await self._engine.dispose()

    @asynccontextmanager
    async def _begun(self, engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
        async with self._held(self._connections):
            connection = engine.connect()
            with _failures_named():
                try:
                    await settled(_start(connection))
                    yield connection
                    await settled(connection.commit())
                finally:
                    await settled(_end(connection))

    @asynccontextmanager
    async def _held(self, turn: asyncio.Lock | asyncio.Semaphore) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._wait_s):
                await turn.acquire()
        except TimeoutError:
            raise _busy() from None
        try:
            yield
        finally:
            turn.release()


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
        # The driver's own way of opening transactions is off: `_begin` says which kind is wanted.
        connect_args={"isolation_level": None, "timeout": wait_s},
    )
    event.listen(engine.sync_engine, "connect", _configure)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _make_file(path: str) -> None:
    """Makes the file, if there is none, and turns the write-ahead log on for good; a path that is no use fails here."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def _configure(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    # A transaction that will write takes the write lock at once: a reader that turns writer can only fail.
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


async def _start(connection: AsyncConnection) -> None:
    await connection.start()
    await connection.begin()


async def _end(connection: AsyncConnection) -> None:
    """Rolls back what was not committed, and gives the connection back."""
    if connection.sync_connection is not None:
        await connection.close()


@contextmanager
def _failures_named() -> Iterator[None]:
    """Locks and disk failures as errors of the service; other database errors are faults of the code."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        code = getattr(getattr(error, "orig", error), "sqlite_errorcode", 0) & 0xFF
        if code in BUSY_CODES:
            raise _busy() from error
        if code in BROKEN_CODES:
            raise Unavailable("The service cannot reach its storage") from error
        raise


def _busy() -> TooBusy:
    return TooBusy("The service's storage is busy; try again shortly", retry_after_s=1.0)
