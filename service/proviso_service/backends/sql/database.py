"""Transactions in threads of their own, and the schema.

A transaction is one function that gets a Connection and runs whole in one thread. Handing each statement to a thread,
as the asyncio extension of SQLAlchemy does for SQLite, costs a turn of the event loop for each of some 25 steps: on a
busy loop a write was measured to take 65 times as long. Engines whose drivers are asynchronous can run the same
functions by `AsyncConnection.run_sync`.
"""

import asyncio
import functools
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from proviso_service.backends.sql import fulltext
from proviso_service.backends.sql.tables import is_current
from proviso_service.errors import NotReady, TooBusy, Unavailable

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4
"""Threads that read; one more writes, as SQLite has one writer at a time."""

MAX_WAITING = 4_096
"""Transactions that may wait for a thread."""

MAX_TOGETHER = 32
"""Writes that share a commit."""

WAIT_S = 10.0
"""Longest wait for a thread, and for a lock that another process holds."""

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


@dataclass(frozen=True, slots=True)
class _Write:
    """A transaction that waits for the writing thread; `latest` is when it may begin at the latest, on the monotonic
    clock."""

    work: Callable[[Connection], Any]
    done: Future[Any]
    latest: float


class UnusableState(ValueError):
    """The URL of the state names no file, or the file is not a database. The text is for an operator."""


class Database:
    """The state behind `url` (only `sqlite:///file` today); `now` tells the time of new rows.

    Raises TooBusy when a wait for a thread or a lock takes too long, Unavailable when the disk fails, and NotReady once
    it is closed; when it is made, UnusableState for a URL that names no file. A caller that is cancelled leaves its
    transaction whole: done, or never begun."""

    def __init__(self, url: str, *, now: Callable[[], datetime] = utc_now, wait_s: float = WAIT_S) -> None:
        self._engine = _engine(url, wait_s)
        self._writer = self._engine.execution_options(begin="BEGIN IMMEDIATE")
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="state-read")
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="state-write")
        self._to_write: deque[_Write] = deque()
        self._waiting = 0
        self._closed = False
        self._wait_s = wait_s
        self.now = now

    async def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns; it sees one state of the data throughout."""
        with self._admitted() as latest:
            call = asyncio.get_running_loop().run_in_executor(self._reading, _transact, self._engine, work, latest)
            return await call

    async def write(self, work: Callable[[Connection], T]) -> T:
        """What `work` returns; committed when it does, rolled back when it raises. Writes run in order.

        Those that wait while another is committed share the next commit, each in a savepoint of its own: a commit has
        to reach the disk, which takes many times as long as the work."""
        with self._admitted() as latest:
            done: Future[T] = Future()
            self._to_write.append(_Write(work, done, latest))
            self._writing.submit(self._write_waiting)
            return await asyncio.wrap_future(done)

    async def migrate(self) -> None:
        """Brings the schema up to date, in one transaction. Raises UnknownSchema when newer code wrote the state, and
        UnusableState when the file is not a database."""
        path = str(self._engine.url.database)
        try:
            with _failures_named():
                await asyncio.to_thread(_make_file, path)
        except sqlite3.DatabaseError as error:
            raise UnusableState(f"The state in {path} cannot be used: {error}") from error
        if await self.write(is_current):
            return
        from proviso_service.backends.sql.migrations import upgrade

        await self.write(upgrade)

    async def close(self) -> None:
        """Waits for the transactions that have been asked for."""
        self._closed = True
        for threads in (self._writing, self._reading):
            await asyncio.to_thread(threads.shutdown)
        self._engine.dispose()

    @contextmanager
    def _admitted(self) -> Iterator[float]:
        """One more waiting transaction; gives the latest moment on the monotonic clock at which it may begin."""
        if self._closed:
            raise NotReady("The service's storage is closed")
        if self._waiting >= MAX_WAITING:
            raise _busy()
        self._waiting += 1
        try:
            yield time.monotonic() + self._wait_s
        finally:
            self._waiting -= 1

    def _write_waiting(self) -> None:
        """Runs the writes that wait, in the writing thread; there are none when an earlier call has taken them."""
        writes: list[_Write] = []
        while self._to_write and len(writes) < MAX_TOGETHER:
            write = self._to_write.popleft()
            if write.done.set_running_or_notify_cancel():
                writes.append(write)
        if len(writes) > 1:
            _write_together(self._writer, writes)
        elif writes:
            _write_alone(self._writer, writes[0])


class Store:
    """Base of the repositories; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database


S = TypeVar("S", bound=Store)

Method = Callable[Concatenate[S, Connection, P], T]
"""A method of a store as it is written: it is given the transaction to work in."""

AsyncMethod = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]
"""The same as it is called."""


def reading(method: Method[S, P, T]) -> AsyncMethod[S, P, T]:
    """Runs a store's method in a transaction that reads."""

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(lambda connection: method(self, connection, *args, **kwargs))

    return call


def writing(method: Method[S, P, T]) -> AsyncMethod[S, P, T]:
    """Runs a store's method in a transaction that writes."""

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(lambda connection: method(self, connection, *args, **kwargs))

    return call


def insert(table: Table) -> sqlite.Insert:
    """An INSERT that knows ON CONFLICT."""
    return sqlite.insert(table)


def state_file(url: str) -> Path:
    """The file that a URL of the state names. Raises UnusableState for a URL that names none."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise UnusableState("state_url is not a URL: use sqlite:///path/to/file") from None
    if parsed.drivername != "sqlite":
        raise UnusableState(f"state_url {parsed.render_as_string()!r} is not supported: use sqlite:///path/to/file")
    if not parsed.database or parsed.database == ":memory:":
        raise UnusableState("state_url must name a file: the state has to survive the process")
    return Path(parsed.database)


def _engine(url: str, wait_s: float) -> Engine:
    state_file(url)
    engine = create_engine(
        url,
        pool_size=READERS + 1,
        max_overflow=0,
        # The driver's own way of opening transactions is off: `_begin` says which kind is wanted.
        connect_args={"isolation_level": None, "timeout": wait_s, "check_same_thread": False},
    )
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _make_file(path: str) -> None:
    """Makes the file, if there is none, and turns the write-ahead log on for good; a path that is no use fails here."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def _configure(connection: Any, _record: Any) -> None:
    fulltext.register(connection)
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    # A transaction that will write takes the write lock at once: a reader that turns writer can only fail.
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def _transact(engine: Engine, work: Callable[[Connection], T], latest: float) -> T:
    """One transaction, in the thread it is called in; not begun after `latest` on the monotonic clock."""
    if time.monotonic() > latest:
        raise _busy()
    with _failures_named(), engine.begin() as connection:
        return work(connection)


def _write_alone(engine: Engine, write: _Write) -> None:
    try:
        write.done.set_result(_transact(engine, write.work, write.latest))
    except BaseException as error:  # it is the caller's
        write.done.set_exception(error)


def _write_together(engine: Engine, writes: Sequence[_Write]) -> None:
    """All in one transaction. One that raises undoes its own work only; nobody is told before the commit."""
    outcomes: list[tuple[_Write, Any, BaseException | None]] = []
    try:
        with _failures_named(), engine.begin() as connection:
            outcomes = [(write, *_in_savepoint(connection, write)) for write in writes]
    except BaseException as failure:  # nothing was committed
        outcomes = [(write, None, failure) for write in writes]
    for write, result, error in outcomes:
        if error is None:
            write.done.set_result(result)
        else:
            write.done.set_exception(error)


def _in_savepoint(connection: Connection, write: _Write) -> tuple[Any, BaseException | None]:
    """What the write returned, or raised. Raises where a failure has ended the whole transaction, as one of the disk
    does: what was written before it is lost too."""
    if time.monotonic() > write.latest:
        return None, _busy()
    try:
        with _failures_named(), connection.begin_nested():
            return write.work(connection), None
    except Exception as error:
        if not getattr(connection.connection.dbapi_connection, "in_transaction", False):
            raise
        return None, error


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
