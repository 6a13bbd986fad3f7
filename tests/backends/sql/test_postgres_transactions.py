"""The state in PostgreSQL: walls between tenants, writes that share a commit, and a server that is lost."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import asyncpg
import pytest
from sqlalchemy import Connection, Table, TextClause, delete, insert, select, text
from sqlalchemy.dialects.postgresql.asyncpg import AsyncAdapt_asyncpg_dbapi

from proviso_service.backends.sql import postgres_transactions
from proviso_service.backends.sql.column_types import UtcDateTime
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.failures import failures_named
from proviso_service.backends.sql.integrity import UnusableState
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.schema import METADATA
from proviso_service.backends.sql.tables import CURRENT_REVISION, UnknownSchema, matters
from proviso_service.backends.storage_health import StorageFault, StorageFaultFound, StorageHealth
from proviso_service.errors import NotReady, TooBusy
from tests.support.postgres_server import PostgresServer

TRANSACTION_ID = text("SELECT pg_current_xact_id()::text")


@asynccontextmanager
async def opened(url: str, *, wait_s: float = 10.0, health: StorageHealth | None = None) -> AsyncIterator[Database]:
    database = Database(url, wait_s=wait_s, health=health)
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
def url(postgres_server: PostgresServer) -> Iterator[str]:
    with postgres_server.state() as url:
        yield url


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    async with opened(url) as database:
        yield database


@pytest.fixture
async def two_tenants(database: Database) -> list[str]:
    """The ids of a matter of each of two tenants."""
    store = SqlMatterStore(database)
    return [(await store.create_matter(tenant, "Lease")).matter_id for tenant in ("acme", "other")]


def tenants(connection: Connection) -> set[str]:
    """Asks for the matters of all tenants."""
    return set(connection.execute(select(matters.c.tenant)).scalars())


async def test_a_query_that_forgets_the_tenant_sees_nothing_of_another(
    database: Database, two_tenants: list[str]
) -> None:
    assert await database.read(tenants, "acme") == {"acme"}
    assert await database.look_up(tenants, "other") == {"other"}
    assert await database.write(tenants, "acme") == {"acme"}
    assert await database.read(tenants, "nobody") == set()
    assert await database.read(tenants) == {"acme", "other"}


async def test_a_write_that_forgets_the_tenant_changes_nothing_of_another(
    database: Database, two_tenants: list[str]
) -> None:
    def rename(connection: Connection) -> int:
        return connection.execute(text("UPDATE matters SET name = 'Changed'")).rowcount

    def add(connection: Connection) -> None:
        copied = {"matter_id": "m", "name": "Mine", "create_time": database.now(), "index_version": 0}
        connection.execute(insert(matters).values(tenant="other", **copied))

    assert await database.write(rename, "acme") == 1
    with pytest.raises(Exception, match="row-level security"):
        await database.write(add, "acme")
    assert (await SqlMatterStore(database).get_matter("other", two_tenants[1])).name == "Lease"


async def test_a_transaction_that_does_not_say_whose_it_is_sees_nothing(
    url: str, two_tenants: list[str], postgres_server: PostgresServer
) -> None:
    name = url.rpartition("/")[2]
    assert postgres_server.sql("SELECT count(*) FROM matters", name, "proviso") == [(0,)]
    assert postgres_server.sql("SELECT count(*) FROM matters", name) == [(2,)]


async def test_every_table_with_tenants_has_its_wall(database: Database) -> None:
    forced = text("SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity")
    walled = await database.read(lambda connection: set(connection.execute(forced).scalars()))
    assert walled == {table.name for table in METADATA.tables.values() if "tenant" in table.columns}


def row_of_other(table: Table) -> TextClause:
    """Adds a row of the tenant "other". Its keys are those of its rows in all other tables, to which it may refer."""
    values = {
        column.name: "now()" if isinstance(column.type, UtcDateTime) else "'1'"  # a value of all other types
        for column in table.columns
        if not column.nullable
    } | {"tenant": "'other'"}
    return text(f"INSERT INTO {table.name} ({', '.join(values)}) VALUES ({', '.join(values.values())})")  # noqa: S608


async def test_no_table_shows_its_rows_to_a_query_that_forgets_the_tenant(database: Database) -> None:
    walled = [table for table in METADATA.sorted_tables if "tenant" in table.columns]

    def fill(connection: Connection) -> None:
        for table in walled:
            connection.execute(row_of_other(table))

    def seen(connection: Connection) -> set[str]:
        return {table.name for table in walled if connection.execute(select(table.c.tenant)).all()}

    def deleted(connection: Connection) -> int:
        return sum(connection.execute(delete(table)).rowcount for table in reversed(walled))

    await database.write(fill)
    assert await database.read(seen, "acme") == set()
    assert await database.write(deleted, "acme") == 0
    assert await database.read(seen, "other") == {table.name for table in walled}


async def test_a_statement_that_takes_too_long_is_ended_and_the_next_one_runs(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_transactions, "STATEMENT_S", 0.1)
    async with opened(url) as database:
        for run in (database.read, database.write):
            with pytest.raises(TooBusy):
                await run(lambda connection: connection.execute(text("SELECT pg_sleep(60)")), "acme")
        assert (await SqlMatterStore(database).create_matter("acme", "After")).name == "After"


async def test_writes_of_a_tenant_that_wait_share_a_commit(database: Database) -> None:
    writes = [database.write(lambda c: c.execute(TRANSACTION_ID).scalar_one(), "acme") for _ in range(30)]
    assert len(set(await asyncio.gather(*writes))) == 2  # the first one, and all that waited for it


async def test_a_write_that_fails_among_others_undoes_its_own_work_only(database: Database) -> None:
    store = SqlMatterStore(database)

    def fails(connection: Connection) -> None:
        connection.execute(text("UPDATE matters SET name = 'Undone'"))
        connection.execute(text("SELECT 1 / 0"))

    first = asyncio.create_task(store.create_matter("acme", "First"))
    others = [
        asyncio.create_task(store.create_matter("acme", "Before")),
        asyncio.create_task(database.write(fails, "acme")),
        asyncio.create_task(store.create_matter("acme", "After")),
    ]
    results = await asyncio.gather(first, *others, return_exceptions=True)
    assert [isinstance(result, Exception) for result in results] == [False, False, True, False]
    names = await database.read(lambda c: sorted(c.execute(select(matters.c.name)).scalars()))
    assert names == ["After", "Before", "First"]


async def test_two_processes_number_the_audit_of_a_tenant_one_after_the_other(url: str) -> None:
    async with opened(url) as one, opened(url) as two:
        stores = [SqlMatterStore(one), SqlMatterStore(two)]
        await asyncio.gather(*(stores[n % 2].create_matter("acme", f"Matter {n}") for n in range(40)))
        sequences = text("SELECT sequence FROM audit_events ORDER BY sequence")
        found = await one.read(lambda connection: list(connection.execute(sequences).scalars()))
    assert found == list(range(1, 41))


async def test_a_tenant_whose_writes_wait_for_a_lock_holds_up_no_other(url: str, database: Database) -> None:
    async with opened(url, wait_s=0.2) as other:
        store = SqlMatterStore(other)
        holding, go_on = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def hold(connection: Connection) -> None:
            loop.call_soon_threadsafe(holding.set)
            asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(20)

        held = asyncio.create_task(database.write(hold, "acme"))
        await holding.wait()
        with pytest.raises(TooBusy):
            await store.create_matter("acme", "Waits")
        assert (await store.create_matter("other", "Does not wait")).name == "Does not wait"
        go_on.set()
        await held
        assert (await store.create_matter("acme", "After")).name == "After"


async def test_two_processes_migrate_one_after_the_other(postgres_server: PostgresServer) -> None:
    new = postgres_server.url(postgres_server.new_database())
    async with opened(new) as one, opened(new) as two:
        await asyncio.gather(one.migrate(), two.migrate())
        version = text("SELECT version_num FROM alembic_version")
        assert await two.read(lambda connection: connection.execute(version).scalars().all()) == [CURRENT_REVISION]


async def test_a_state_of_a_newer_version_or_of_another_program_is_refused(postgres_server: PostgresServer) -> None:
    name = postgres_server.new_database()
    async with opened(postgres_server.url(name)) as database:
        await database.migrate()
        postgres_server.sql("UPDATE alembic_version SET version_num = '9999'", name)
        with pytest.raises(UnknownSchema):
            await database.migrate()
    foreign = postgres_server.new_database()
    postgres_server.sql("CREATE TABLE turns (of_another_program INTEGER)", foreign)
    async with opened(postgres_server.url(foreign)) as database:
        with pytest.raises(UnusableState, match="belongs to another program"):
            await database.migrate()


async def test_a_process_that_does_not_share_the_state_is_alone_with_it(url: str) -> None:
    async with opened(url) as one, opened(url) as two:
        await one.open(shared=True)
        await two.open(shared=True)
        async with opened(url) as three:
            with pytest.raises(UnusableState, match="in use by another process"):
                await three.open(shared=False)
    async with opened(url) as alone, opened(url) as late:
        await alone.open(shared=False)
        for shared in (True, False):
            with pytest.raises(UnusableState, match="in use by another process"):
                await late.open(shared=shared)


async def test_a_lost_server_is_told_and_found_again(own_postgres: PostgresServer) -> None:
    health = StorageHealth()
    with own_postgres.state() as url:
        async with opened(url, health=health) as database:
            await database.open(shared=False)
            store = SqlMatterStore(database)
            made = await store.create_matter("acme", "Kept")
            own_postgres.kill()
            for call in (store.get_matter("acme", made.matter_id), store.create_matter("acme", "Refused")):
                with pytest.raises(StorageFaultFound):
                    await call
            assert health.faults == {StorageFault.UNREADABLE}
            with pytest.raises(StorageFaultFound):
                await database.hold_again()
            own_postgres.start()
            await database.hold_again()
            assert await store.get_matter("acme", made.matter_id) == made
            assert (await store.create_matter("acme", "After")).name == "After"


@pytest.mark.parametrize(
    "cut",
    [
        asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress"),
        AsyncAdapt_asyncpg_dbapi.InterfaceError("connection is closed"),  # type: ignore[no-untyped-call]
    ],
    ids=lambda cut: type(cut).__name__,
)
def test_what_the_driver_says_of_a_cut_connection_is_a_lost_server(cut: Exception) -> None:
    with pytest.raises(StorageFaultFound) as found, failures_named():
        raise cut
    assert found.value.fault is StorageFault.UNREADABLE


def test_other_errors_pass_as_they_are() -> None:
    with pytest.raises(asyncpg.InternalClientError), failures_named():
        raise asyncpg.InternalClientError("got result for unknown protocol state 3")


async def test_a_server_that_does_not_answer_ends_the_start_in_one_line_without_the_password() -> None:
    async with opened("postgresql://proviso:secret@127.0.0.1:9/state") as database:
        with pytest.raises(UnusableState, match=r"^PostgreSQL at 127.0.0.1:9/state cannot be used: .+") as refusal:
            await database.migrate()
    assert "secret" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://db", "must name a role and a database"),
        ("postgresql://user@db/state?sslmode=prefer", "may say sslmode"),
        ("postgresql://user@db/state?pool=3", "may say sslmode"),
    ],
)
def test_a_url_that_does_not_say_enough_or_too_much_is_refused(url: str, reason: str) -> None:
    with pytest.raises(UnusableState, match=reason):
        Database(url)


async def test_a_closed_database_says_so(url: str) -> None:
    async with opened(url) as database:
        pass
    with pytest.raises(NotReady):
        await database.read(tenants)


async def test_a_caller_that_goes_away_leaves_its_write_whole(database: Database) -> None:
    store = SqlMatterStore(database)
    task = asyncio.create_task(store.create_matter("acme", "Gone"))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await store.create_matter("acme", "After")
    names = await database.read(lambda c: sorted(c.execute(select(matters.c.name)).scalars()))
    assert names in (["After"], ["After", "Gone"])
