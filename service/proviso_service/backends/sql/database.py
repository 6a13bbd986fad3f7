"""Database runs transactions in threads of its own and brings the schema up to date; Store is the base of the stores.

A transaction is one function that is given a Connection and runs from start to end in one thread. The asyncio
extension of SQLAlchemy hands each of some 25 steps to a thread instead, and waits for the event loop after each: on a
busy loop a write was measured to take 65 times as long. Engines with asynchronous drivers can run the same functions by
`AsyncConnection.run_sync`.
"""

import asyncio
import functools
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime
from inspect import signature
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from proviso_service.backends.sql.compaction import rewrite
from proviso_service.backends.sql.integrity import DAMAGE_CODES, UnusableState, check_sound
from proviso_service.backends.sql.prepared import driver_of
from proviso_service.backends.sql.tables import is_current
from proviso_service.backends.storage_health import StorageFault, StorageFaultFound, StorageHealth
from proviso_service.errors import NotReady, TooBusy

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4
"""Number of threads that read. One more thread writes, since SQLite allows one writer at a time."""

MAX_WAITING = 4_096
"""Transactions that may wait for a thread."""

MAX_TOGETHER = 32
"""The most writes that share a commit."""

WAIT_S = 10.0
"""Longest wait in seconds for a thread, and for a lock that another process holds."""

BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
UNREADABLE_CODES = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
FAULTS = {
    sqlite3.SQLITE_FULL: StorageFault.FULL,
    **dict.fromkeys(UNREADABLE_CODES, StorageFault.UNREADABLE),
    **dict.fromkeys(DAMAGE_CODES, StorageFault.DAMAGED),
}
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",  # a commit outlives a power failure, not only the process
    "foreign_keys=ON",
    "secure_delete=ON",  # what is deleted is overwritten; `Database.compact` removes what is left even then
    "journal_size_limit=67108864",
    "cache_size=-8192",
)


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class _Write:
    """A transaction that waits for the writing thread; `latest` is when it may begin at the latest, on the monotonic
    clock. One that is `growing` may not use what is reserved on the disk."""

    work: Callable[[Connection], Any]
    done: asyncio.Future[Any]
    latest: float
    growing: bool = False


class Database:
    """The state behind `url` (only `sqlite:///file` today); `now` tells the time of new rows.

    Raises TooBusy when a wait for a thread or a lock takes too long, StorageFailed when the disk fails, and NotReady
    once it is closed; when it is made, UnusableState for a URL that names no file. A caller that is cancelled leaves
    its transaction whole: done, or never begun. Faults of the disk are told to `health`; when it is full, what is
    reserved is given up, and writes are tried once more."""

    def __init__(
        self,
        url: str,
        *,
        now: Callable[[], datetime] = utc_now,
        wait_s: float = WAIT_S,
        health: StorageHealth | None = None,
    ) -> None:
        self._engine = _engine(url, wait_s)
        self._health = health or StorageHealth()
        self._writer = self._engine.execution_options(begin="BEGIN IMMEDIATE")
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="state-read")
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="state-write")
        self._to_write: deque[_Write] = deque()
        self._waiting = 0
        self._closed = False
        self._wait_s = wait_s
        self.now = now

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` in a transaction that reads, and returns its result. It sees one state of the data throughout."""
        with self._admitted() as latest, self._faults_told():
            call = asyncio.get_running_loop().run_in_executor(self._reading, _transact, self._engine, work, latest)
            return await call

    async def write(self, work: Callable[[Connection], T], *, growing: bool = False) -> T:
        """Runs `work` in a transaction, and returns its result once that is committed. When `work` raises an exception,
        its changes are rolled back. Writes run in the order of the calls. One that is `growing`, because it adds much
        that can wait, is refused while the disk is full.

        Writes that wait while another one is committed share the next commit, each in a savepoint of its own: a commit
        has to reach the disk, which takes many times as long as the work."""
        if growing and StorageFault.FULL in self._health.faults:
            raise StorageFaultFound(StorageFault.FULL)
        with self._admitted() as latest, self._faults_told():
            loop = asyncio.get_running_loop()
            done: asyncio.Future[T] = loop.create_future()
            # The work runs in another thread, and has to know on whose behalf: see `current_act`.
            here = copy_context()
            self._to_write.append(_Write(lambda connection: here.run(work, connection), done, latest, growing))
            self._writing.submit(self._write_waiting, loop)
            return await done

    async def migrate(self) -> None:
        """Checks the file and brings the schema up to date, in one transaction. Raises UnknownSchema when newer code
        wrote the state, and UnusableState when the file is damaged or belongs to another program."""
        with _failures_named():
            await asyncio.to_thread(_make_file, Path(str(self._engine.url.database)), self._wait_s)
        if await self.write(is_current):
            return
        from proviso_service.backends.sql.migrations import upgrade

        await self.write(upgrade)

    async def compact(self) -> None:
        """Rewrites the file, so that it holds nothing but its rows. Writes wait meanwhile: about a second for each 100
        MiB. Raises TooBusy beside a long read, such as a backup."""
        with self._admitted():
            await asyncio.get_running_loop().run_in_executor(self._writing, rewrite, self._engine)

    async def close(self) -> None:
        """Refuses new transactions and waits for those that have been asked for."""
        self._closed = True
        for threads in (self._writing, self._reading):
            await asyncio.to_thread(threads.shutdown)
        self._engine.dispose()

    @contextmanager
    def _admitted(self) -> Iterator[float]:
        """Counts one more transaction while the context is open. Gives the latest moment on the monotonic clock at
        which the transaction may begin."""
        if self._closed:
            raise NotReady("The service's storage is closed")
        if self._waiting >= MAX_WAITING:
            raise _busy()
        self._waiting += 1
        try:
            yield time.monotonic() + self._wait_s
        finally:
            self._waiting -= 1

    @contextmanager
    def _faults_told(self) -> Iterator[None]:
        try:
            yield
        except StorageFaultFound as failure:
            self._health.found(failure.fault, str(failure.__cause__ or ""))
            raise

    def _write_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        """Runs the waiting writes, in the writing thread. There may be none, when an earlier call has taken them."""
        writes: list[_Write] = []
        while self._to_write and len(writes) < MAX_TOGETHER:
            write = self._to_write.popleft()
            if not write.done.cancelled():
                writes.append(write)
        if writes:
            outcomes = _write_together(self._writer, writes, self._make_room)
            loop.call_soon_threadsafe(_tell, outcomes)  # all at once: each time that the loop is woken costs

    def _make_room(self, failure: BaseException) -> bool:
        """Gives up what is reserved on the disk, when it is full. Returns whether that may help."""
        return _is_full(failure) and self._health.reserve is not None and self._health.reserve.release()


class Store:
    """The base of the stores. Each of their methods that is decorated with `reading` or `writing` is one
    transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database


S = TypeVar("S", bound=Store)

Method = Callable[Concatenate[S, Connection, P], T]
"""A method of a store as it is defined: its first argument is the transaction."""

AsyncMethod = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]
"""The same method as it is called: asynchronous and without the transaction."""


_BOUND = frozenset({"tenant", "caller", "document"})
"""First arguments that are a tenant or have one."""

_ACROSS = "across_tenants"


def across_tenants(method: Method[S, P, T]) -> Method[S, P, T]:
    """Marks a method that serves no caller: it does the service's own work, such as taking up work after a restart, or
    finds out whose tenant a call is of. A test lists them all."""
    setattr(method, _ACROSS, True)
    return method


def _check_bound(method: Callable[..., Any]) -> None:
    if not _BOUND & set(list(signature(method).parameters)[2:3]) and not hasattr(method, _ACROSS):
        raise TypeError(f"{method.__qualname__} begins with no tenant, and is not marked as across_tenants")


def reading(method: Method[S, P, T]) -> AsyncMethod[S, P, T]:
    """Decorates a method of a store, which then runs in a transaction that reads. It begins with the tenant that it is
    bound to, or is marked as `across_tenants`; TypeError otherwise."""
    _check_bound(method)

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(lambda connection: method(self, connection, *args, **kwargs))

    return call


def writing(method: Method[S, P, T]) -> AsyncMethod[S, P, T]:
    """As `reading`, in a transaction that writes."""
    _check_bound(method)

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(lambda connection: method(self, connection, *args, **kwargs))

    return call


def growing(method: Method[S, P, T]) -> AsyncMethod[S, P, T]:
    """As `writing`, for methods that add much and can wait: they are refused while the disk is full."""

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(lambda connection: method(self, connection, *args, **kwargs), growing=True)

    return call


def insert(table: Table) -> sqlite.Insert:
    """An INSERT statement with support for ON CONFLICT, which SQLAlchemy's general one lacks."""
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


def _begin(connection: Connection) -> None:
    # A transaction that will write takes the write lock at once: a reader that turns writer can only fail.
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def _transact(engine: Engine, work: Callable[[Connection], T], latest: float) -> T:
    """Runs one transaction in the calling thread, unless `latest` on the monotonic clock has passed. Raises TooBusy."""
    if time.monotonic() > latest:
        raise _busy()
    with _failures_named(), engine.begin() as connection:
        return work(connection)


_Outcome = tuple[_Write, Any, BaseException | None]
"""A write with its result, or with the exception that it raised."""


def _tell(outcomes: Sequence[_Outcome]) -> None:
    for write, result, error in outcomes:
        if write.done.cancelled():
            continue
        if error is None:
            write.done.set_result(result)
        else:
            write.done.set_exception(error)  # the caller raises it


def _write_alone(engine: Engine, write: _Write, make_room: Callable[[BaseException], bool]) -> _Outcome:
    try:
        return write, _transact(engine, write.work, write.latest), None
    except BaseException as error:
        if not write.growing and make_room(error):
            return _write_alone(engine, write, make_room)  # once: there is no more room to make
        return write, None, error


def _write_together(
    engine: Engine, writes: Sequence[_Write], make_room: Callable[[BaseException], bool]
) -> Sequence[_Outcome]:
    """Runs the writes in one transaction. A write that raises an exception undoes its own work only. No caller gets its
    result before the commit. Where the disk is full, each is tried alone."""
    if len(writes) == 1:
        return [_write_alone(engine, writes[0], make_room)]
    try:
        with _failures_named(), engine.begin() as connection:
            return [(write, *_in_savepoint(connection, write)) for write in writes]
    except BaseException as failure:  # nothing was committed
        if _is_full(failure):
            return [_write_alone(engine, write, make_room) for write in writes]
        return [(write, None, failure) for write in writes]


def _in_savepoint(connection: Connection, write: _Write) -> tuple[Any, BaseException | None]:
    """The result of the write, or the exception that it raised. Raises the exception when it has ended the whole
    transaction, as a failure of the disk does: then the writes before this one are lost, too. The driver sets the
    savepoint itself, in a fiftieth of the time that it takes through SQLAlchemy."""
    if time.monotonic() > write.latest:
        return None, _busy()
    driver = driver_of(connection)
    driver.execute("SAVEPOINT of_write")
    try:
        with _failures_named():
            result = write.work(connection)
    except Exception as error:
        if not driver.in_transaction:
            raise
        driver.execute("ROLLBACK TO of_write")
        driver.execute("RELEASE of_write")
        return None, error
    driver.execute("RELEASE of_write")
    return result, None


@contextmanager
def _failures_named() -> Iterator[None]:
    """Turns exceptions for locks and disk failures into errors of the service. Other database errors pass: they are
    bugs. The cause is SQLite's own error, because SQLAlchemy's holds the values of the statement."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        code = getattr(getattr(error, "orig", error), "sqlite_errorcode", 0) & 0xFF
        if code in BUSY_CODES:
            raise _busy() from error
        if fault := FAULTS.get(code):
            raise StorageFaultFound(fault) from getattr(error, "orig", error)
        raise


def _is_full(failure: BaseException) -> bool:
    return isinstance(failure, StorageFaultFound) and failure.fault is StorageFault.FULL


def _busy() -> TooBusy:
    return TooBusy("The service's storage is busy; try again shortly", retry_after_s=1.0)
