"""PostgresTransactions runs transactions in a database of PostgreSQL, several at once.

The driver is asyncpg: psycopg takes a fifth less time, but its licence is not permissive; pg8000 takes more, and asks
the server twice for each statement. The functions of the stores run as they do on SQLite, each in a greenlet that gives
the event loop back while the server works. That loop is one of its own, in a thread: a store may be busy with many
rows."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

import structlog
from sqlalchemy import Connection, Engine, event, exc, inspect, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool
from sqlalchemy.util.concurrency import greenlet_spawn

from proviso_service.backends.sql.dialects import TENANT_OPTION, begin_reading, begin_writing, see_all
from proviso_service.backends.sql.failures import LOST, failures_named
from proviso_service.backends.sql.integrity import OWN_TABLES, UnusableState
from proviso_service.backends.sql.state_url import PostgresUrl
from proviso_service.backends.sql.transactions import Outcome, Waiting, alone, next_of, tell, write_together
from proviso_service.backends.storage_health import StorageFaultFound

T = TypeVar("T")

CONNECTIONS = 6
"""The most connections of one process that read, and the most that write. One more holds the lock on the state."""

STATEMENT_S = 30.0
"""The longest that one statement may take, but for those that change the schema."""

ANSWER_S = 60.0
"""The longest that the server may be silent. By then its own limit has ended a statement, unless it is gone."""

CONNECT_S = 5.0
STATEMENTS_KEPT = 500
"""How many statements a connection keeps prepared."""

OLDEST_VERSION = 16
LOCKS = 0x70726F76
"""The space of the advisory locks that are held on a state as a whole."""

_OF_PROCESS, _OF_SCHEMA = 1, 2
_HOLDS = {False: "pg_try_advisory_lock", True: "pg_try_advisory_lock_shared"}
_PASSES_WALLS = text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")

_log = structlog.get_logger(__name__)


class PostgresTransactions:
    """The Transactions of a database of PostgreSQL. One that writes for a tenant is the only one that does so; those
    that wait for it share its commit. Those of different tenants, and those that read, run beside each other."""

    def __init__(self, url: PostgresUrl, wait_s: float) -> None:
        self._url = url
        pooled = {"pool_size": CONNECTIONS, "max_overflow": 0, "pool_timeout": wait_s}
        limits = {
            "statement_timeout": STATEMENT_S,
            "lock_timeout": wait_s,
            "idle_in_transaction_session_timeout": ANSWER_S,
        }
        self._reader = _engine(url, "REPEATABLE READ", limits, **pooled)
        event.listen(self._reader.sync_engine, "connect", _only_reads)
        event.listen(self._reader.sync_engine, "begin", begin_reading)
        self._writer = _engine(url, "READ COMMITTED", limits, **pooled)
        event.listen(self._writer.sync_engine, "begin", begin_writing)
        self._to_write: dict[str | None, deque[Waiting]] = {}
        self._running: set[Future[None]] = set()
        self._held: AsyncConnection | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="state", daemon=True)
        self._thread.start()

    def read(self, read: Waiting, tenant: str | None) -> None:
        self._start(lambda: [alone(_seeing(self._reader, tenant), read)], tell)

    look_up = read

    def write(self, write: Waiting, tenant: str | None) -> None:
        if tenant in self._to_write:
            self._to_write[tenant].append(write)
        else:
            self._to_write[tenant] = deque([write])
            self._write_next(tenant)

    async def prepare(self) -> None:
        """Raises UnusableState for a server that does not answer or is too old, and for a database of others."""
        try:
            await self._in_loop(self._check())
        except (exc.SQLAlchemyError, *LOST) as error:
            reason = str(getattr(error, "orig", None) or error).partition("\n")[0].rpartition(">: ")[2]
            raise UnusableState(
                f"PostgreSQL at {self._url.place} cannot be used: {reason}; PROVISO_STORAGE__STATE_URL names it"
            ) from error

    async def change_schema(self, work: Callable[[Connection], None]) -> None:
        """Runs the work while no other process changes the schema, however long it takes."""
        with failures_named():
            await self._in_loop(self._change_schema(work))

    async def hold(self, *, shared: bool) -> bool:
        """Holds the state until it is closed: alone, or with all others that share it. Returns whether that could be;
        also after the server was lost, for it has forgotten who held the state."""
        with failures_named():
            return await self._in_loop(self._hold(shared))

    async def compact(self) -> None:
        """Does nothing: PostgreSQL takes its files as its own affair."""

    async def close(self) -> None:
        while self._running or self._to_write:
            for one in list(self._running):
                await asyncio.wrap_future(one)
            await asyncio.sleep(0)  # lets those that waited for them begin
        await self._in_loop(self._dispose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()

    def _write_next(self, tenant: str | None) -> None:
        """Begins with those that wait to write for the tenant; the others wait for their commit."""
        writes = next_of(self._to_write[tenant])
        if not writes:
            del self._to_write[tenant]
            return

        def told(outcomes: Sequence[Outcome]) -> None:
            tell(outcomes)
            self._write_next(tenant)

        self._start(lambda: write_together(_seeing(self._writer, tenant), writes, _no_room), told)

    def _start(self, work: Callable[[], Sequence[Outcome]], told: Callable[[Sequence[Outcome]], None]) -> None:
        """Runs the work on the loop of the state, and calls `told` on the loop that calls. Who asked for the work and
        has gone since leaves it running."""
        caller = asyncio.get_running_loop()

        async def run() -> None:
            outcomes = await greenlet_spawn(work)
            if any(isinstance(error, StorageFaultFound) for *_, error in outcomes):
                await self._forget_connections()
            caller.call_soon_threadsafe(told, outcomes)

        running = asyncio.run_coroutine_threadsafe(run(), self._loop)
        self._running.add(running)
        running.add_done_callback(self._running.discard)

    async def _in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _check(self) -> None:
        engine = _engine(self._url, "AUTOCOMMIT", {}, poolclass=NullPool)
        async with engine.connect() as connection:
            version = int((await connection.execute(text("SHOW server_version_num"))).scalar_one()) // 10_000
            if version < OLDEST_VERSION:
                raise UnusableState(f"PostgreSQL at {self._url.place} is {version}, older than {OLDEST_VERSION}")
            tables = await connection.run_sync(lambda sync: set(inspect(sync).get_table_names()))
            if tables and not tables >= OWN_TABLES:
                raise UnusableState(f"The database {self._url.place} belongs to another program: name another one")
            if (await connection.execute(_PASSES_WALLS)).scalar():
                _log.warning("tenants_without_walls", reason="the role of the state is a superuser, or has BYPASSRLS")

    async def _change_schema(self, work: Callable[[Connection], None]) -> None:
        engine = _engine(self._url, "READ COMMITTED", {}, answer_s=None, poolclass=NullPool)
        async with engine.begin() as connection:
            await connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCKS}, {_OF_SCHEMA})"))
            await connection.run_sync(see_all)
            await connection.run_sync(work)

    async def _hold(self, shared: bool) -> bool:
        if self._held is not None:
            with suppress(exc.SQLAlchemyError, *LOST):
                await self._held.execute(text("SELECT 1"))
                return True
            await self._release()
        engine = _engine(self._url, "AUTOCOMMIT", {}, poolclass=NullPool)
        held = await engine.connect()
        if not (await held.execute(text(f"SELECT {_HOLDS[shared]}({LOCKS}, {_OF_PROCESS})"))).scalar():
            await held.close()
            return False
        self._held = held
        return True

    async def _release(self) -> None:
        if self._held is not None:
            with suppress(exc.SQLAlchemyError, *LOST):
                await self._held.close()
            self._held = None

    async def _dispose(self) -> None:
        await self._release()
        await self._forget_connections()

    async def _forget_connections(self) -> None:
        """Closes what is open and not in use, because a server that was lost has cut all of it."""
        for engine in (self._reader, self._writer):
            await engine.dispose()


def _engine(
    url: PostgresUrl, isolation: str, limits: dict[str, float], answer_s: float | None = ANSWER_S, **options: Any
) -> AsyncEngine:
    settings = {name: f"{seconds * 1_000:.0f}" for name, seconds in limits.items()}
    return create_async_engine(
        url.for_driver,
        isolation_level=isolation,
        connect_args={
            "timeout": CONNECT_S,
            "command_timeout": answer_s,
            "server_settings": {"application_name": "proviso", "jit": "off", **settings},
            "prepared_statement_cache_size": STATEMENTS_KEPT,
            "ssl": url.tls(),
        },
        **options,
    )


def _only_reads(connection: Any, _record: Any) -> None:
    connection.readonly = True


def _seeing(engine: AsyncEngine, tenant: str | None) -> Engine:
    """The engine, for transactions that see the rows of this tenant, or those of all tenants where it is None."""
    return engine.sync_engine.execution_options(**{TENANT_OPTION: "*" if tenant is None else f"={tenant}"})


def _no_room(_failure: BaseException) -> bool:
    """No room is kept on the disk of the server."""
    return False
