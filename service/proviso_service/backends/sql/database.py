"""Database runs transactions and brings the schema up to date; Store is the base of the stores.

A transaction is one function that is given a Connection and runs from start to end beside the event loop. For SQLite
the asyncio extension of SQLAlchemy hands each of some 25 steps to a thread instead, and waits for the event loop after
each: on a busy loop a write was measured to take 65 times as long.
"""

import asyncio
import functools
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from datetime import UTC, datetime
from inspect import signature
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection

from proviso_service.backends.sql.failures import busy, is_full
from proviso_service.backends.sql.integrity import UnusableState
from proviso_service.backends.sql.schema import bring_up_to_date
from proviso_service.backends.sql.sqlite_transactions import SqliteTransactions
from proviso_service.backends.sql.state_url import postgres_url
from proviso_service.backends.sql.transactions import Waiting
from proviso_service.backends.storage_health import StorageFault, StorageFaultFound, StorageHealth
from proviso_service.errors import NotReady

P = ParamSpec("P")
T = TypeVar("T")

MAX_WAITING = 4_096
"""Transactions that may wait."""

WAIT_S = 10.0
"""Longest wait in seconds for a thread or a connection, and for a lock that another process holds."""


def utc_now() -> datetime:
    return datetime.now(UTC)


class Transactions(Protocol):
    """How transactions run in one kind of database. Each is of a tenant, and sees no rows of others; or of none, and
    sees the rows of all."""

    def read(self, read: Waiting, tenant: str | None) -> None: ...

    def look_up(self, look_up: Waiting, tenant: str | None) -> None: ...

    def write(self, write: Waiting, tenant: str | None) -> None: ...

    async def prepare(self) -> None:
        """Raises UnusableState for a database that is damaged, cannot be reached, or belongs to another program."""

    async def change_schema(self, work: Callable[[Connection], None]) -> None: ...

    async def hold(self, *, shared: bool) -> bool: ...

    async def compact(self) -> None: ...

    async def close(self) -> None: ...


class Database:
    """The state behind `url`, which names a SQLite file or a database of PostgreSQL; `now` tells the time of new rows.

    Raises TooBusy when a wait for a thread or a lock takes too long, StorageFailed when the disk fails or the server is
    lost, and NotReady once it is closed; when it is made, UnusableState for a URL that names no state. A caller that is
    cancelled leaves its transaction whole: done, or never begun. Faults of the storage are told to `health`; when the
    disk is full, what is reserved is given up, and writes are tried once more."""

    def __init__(
        self,
        url: str,
        *,
        now: Callable[[], datetime] = utc_now,
        wait_s: float = WAIT_S,
        health: StorageHealth | None = None,
    ) -> None:
        self._health = health or StorageHealth()
        self._runs = _transactions(url, wait_s, self._make_room)
        self._waiting = 0
        self._closed = False
        self._shared = False
        self._wait_s = wait_s
        self.now = now

    async def read(self, work: Callable[[Connection], T], tenant: str | None = None) -> T:
        """Runs `work` in a transaction that reads, and returns its result. It sees one state of the data throughout,
        and on PostgreSQL the rows of the tenant only where one is given."""
        with self._admitted() as latest, self._faults_told():
            done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
            self._runs.read(Waiting(work, done, latest), tenant)
            return await done

    async def look_up(self, work: Callable[[Connection], T], tenant: str | None = None) -> T:
        """As `read`, for work that is one statement and takes a few rows by their keys."""
        with self._admitted() as latest, self._faults_told():
            done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
            self._runs.look_up(Waiting(work, done, latest), tenant)
            return await done

    async def write(self, work: Callable[[Connection], T], tenant: str | None = None, *, growing: bool = False) -> T:
        """Runs `work` in a transaction, and returns its result once that is committed. When `work` raises an exception,
        its changes are rolled back. Writes of a tenant run in the order of the calls. One that is `growing`, because it
        adds much that can wait, is refused while the disk is full.

        Writes that wait while another one is committed share the next commit, each in a savepoint of its own: a commit
        has to reach the disk, which takes many times as long as the work."""
        if growing and StorageFault.FULL in self._health.faults:
            raise StorageFaultFound(StorageFault.FULL)
        with self._admitted() as latest, self._faults_told():
            done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
            # The work runs in another thread, and has to know on whose behalf: see `current_act`.
            here = copy_context()
            self._runs.write(Waiting(lambda connection: here.run(work, connection), done, latest, growing), tenant)
            return await done

    async def migrate(self) -> None:
        """Checks the state and brings the schema up to date, in one transaction. Raises UnknownSchema when newer code
        wrote the state, and UnusableState when it is damaged or belongs to another program."""
        await self._runs.prepare()
        await self._change_schema()

    async def open(self, *, shared: bool) -> None:
        """As `migrate`, for a process that holds the state until it is closed: alone, or with others that share it, for
        which it has to lie in PostgreSQL. Raises UnusableState while another process holds it otherwise."""
        await self._runs.prepare()
        self._shared = shared
        await self.hold_again()
        await self._change_schema()

    async def hold_again(self) -> None:
        """Holds the state once more, after its server was lost. Raises UnusableState, and StorageFailed."""
        if not await self._runs.hold(shared=self._shared):
            raise UnusableState(
                "The state is in use by another process: several can share it where each of them has Redis and an S3 "
                "store (PROVISO_STORAGE__REDIS_URL, PROVISO_STORAGE__BLOB_URL)"
            )

    async def compact(self) -> None:
        """Rewrites a file of SQLite, so that it holds nothing but its rows. Writes wait meanwhile: about a second for
        each 100 MiB. Raises TooBusy beside a long read, such as a backup."""
        with self._admitted():
            await self._runs.compact()

    async def close(self) -> None:
        """Refuses new transactions and waits for those that have been asked for."""
        self._closed = True
        await self._runs.close()

    async def _change_schema(self) -> None:
        with self._admitted(), self._faults_told():
            await self._runs.change_schema(bring_up_to_date)

    @contextmanager
    def _admitted(self) -> Iterator[float]:
        """Counts one more transaction while the context is open. Gives the latest moment on the monotonic clock at
        which the transaction may begin."""
        if self._closed:
            raise NotReady("The service's storage is closed")
        if self._waiting >= MAX_WAITING:
            raise busy()
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

    def _make_room(self, failure: BaseException) -> bool:
        """Gives up what is reserved on the disk, when it is full. Returns whether that may help."""
        return is_full(failure) and self._health.reserve is not None and self._health.reserve.release()


def _transactions(url: str, wait_s: float, make_room: Callable[[BaseException], bool]) -> Transactions:
    server = postgres_url(url)
    if server is None:
        return SqliteTransactions(url, wait_s, make_room)
    try:
        from proviso_service.backends.sql.postgres_transactions import PostgresTransactions

        return PostgresTransactions(server, wait_s)
    except ModuleNotFoundError as error:
        raise UnusableState("A state in PostgreSQL takes a package: install proviso-service[replicas]") from error


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


def _tenant_of(method: Callable[..., Any]) -> Callable[[tuple[Any, ...], dict[str, Any]], str | None]:
    """Tells by the arguments of a call of which tenant it is; None where it is of none."""
    name = next(iter(list(signature(method).parameters)[2:3]), "")
    if hasattr(method, _ACROSS):
        return lambda args, kwargs: None
    if name not in _BOUND:
        raise TypeError(f"{method.__qualname__} begins with no tenant, and is not marked as across_tenants")
    if name == "tenant":
        return lambda args, kwargs: args[0] if args else kwargs[name]
    return lambda args, kwargs: (args[0] if args else kwargs[name]).tenant


def reading(method: Method[S, P, T]) -> AsyncMethod[S, P, T]:
    """Decorates a method of a store, which then runs in a transaction that reads. It begins with the tenant that it is
    bound to, or is marked as `across_tenants`; TypeError otherwise."""
    tenant_of = _tenant_of(method)

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        def work(connection: Connection) -> T:
            return method(self, connection, *args, **kwargs)

        return await self._database.read(work, tenant_of(args, kwargs))

    return call


def looking_up(method: Method[S, P, T]) -> AsyncMethod[S, P, T]:
    """As `reading`, for methods that run one statement, which takes a few rows by their keys."""
    tenant_of = _tenant_of(method)

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        def work(connection: Connection) -> T:
            return method(self, connection, *args, **kwargs)

        return await self._database.look_up(work, tenant_of(args, kwargs))

    return call


def writing(method: Method[S, P, T]) -> AsyncMethod[S, P, T]:
    """As `reading`, in a transaction that writes."""
    tenant_of = _tenant_of(method)

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        def work(connection: Connection) -> T:
            return method(self, connection, *args, **kwargs)

        return await self._database.write(work, tenant_of(args, kwargs))

    return call


def growing(method: Method[S, P, T]) -> AsyncMethod[S, P, T]:
    """As `writing`, for methods that add much and can wait: they are refused while the disk is full."""
    tenant_of = _tenant_of(method)

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        def work(connection: Connection) -> T:
            return method(self, connection, *args, **kwargs)

        return await self._database.write(work, tenant_of(args, kwargs), growing=True)

    return call
