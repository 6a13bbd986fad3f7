import asyncio
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, event, inspect, text
from sqlalchemy.engine import make_url

from proviso_service.backends.sql import migrations
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.integrity import UnusableState
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.schema import METADATA, make_current
from proviso_service.backends.sql.sqlite_transactions import READERS, SqliteTransactions
from proviso_service.backends.sql.tables import CURRENT_REVISION, UnknownSchema
from proviso_service.errors import NotReady, TooBusy, Unavailable

pytestmark = pytest.mark.on_sqlite

INSERT_MATTER = """\
INSERT INTO matters (tenant, matter_id, name, create_time, index_version) VALUES ('acme', 'm', '{}', '2026-01-01', 0)"""
MADE = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY name"
VERSION = "SELECT version_num FROM alembic_version"
AUDIT_TRIGGERS = {"audit_events_in_order", "audit_events_no_delete", "audit_events_no_update"}


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


async def scalar(database: Database, query: str) -> object:
    return await database.read(lambda connection: connection.execute(text(query)).scalar())


def test_the_current_revision_is_the_newest_migration() -> None:
    versions = Path(migrations.__file__).parent / "versions"
    newest = max(path.name for path in versions.glob("v*.py"))
    assert newest.startswith(f"v{CURRENT_REVISION}_")


@pytest.fixture
def migrated(tmp_path: Path) -> Iterator[Connection]:
    """A state that went through all migrations."""
    engine = create_engine(f"sqlite:///{tmp_path / 'migrated.sqlite3'}")
    with engine.begin() as connection:
        migrations.upgrade(connection)
        yield connection
    engine.dispose()


def test_migrations_produce_exactly_the_tables_of_the_metadata(migrated: Connection) -> None:
    context = MigrationContext.configure(migrated, opts={"compare_type": True})
    assert compare_metadata(context, METADATA) == []


def _words(statement: str) -> str:
    return " ".join(statement.split())


def test_a_new_state_has_the_indexes_triggers_and_constraints_of_a_migrated_one(migrated: Connection) -> None:
    engine = create_engine("sqlite://")
    with engine.begin() as new:
        assert make_current(new)
        made, grown = (
            [(kind, name, _words(sql)) for kind, name, sql in connection.execute(text(MADE))]
            for connection in (new, migrated)
        )
        assert made == grown
        assert {name for kind, name, _ in made if kind == "trigger"} == AUDIT_TRIGGERS
        for table in inspect(migrated).get_table_names():
            assert _table(new, table) == _table(migrated, table)
        assert new.execute(text(VERSION)).all() == migrated.execute(text(VERSION)).all()
    engine.dispose()


def _table(connection: Connection, name: str) -> list[Any]:
    """All that the database says of a table, without the lengths of its texts, which SQLite does not look at."""
    asked = inspect(connection)
    return [
        [{**column, "type": str(column["type"]).partition("(")[0]} for column in asked.get_columns(name)],
        asked.get_pk_constraint(name),
        sorted(asked.get_foreign_keys(name), key=str),
        sorted(asked.get_unique_constraints(name), key=str),
        asked.get_check_constraints(name),
    ]


def test_a_state_that_has_tables_is_not_made_anew(migrated: Connection) -> None:
    migrated.execute(text("DROP TABLE alembic_version"))
    assert not make_current(migrated)


async def test_migrating_again_changes_nothing(database: Database, matters: SqlMatterStore) -> None:
    matter = await matters.create_matter("acme", "Kept")
    await database.migrate()
    assert await matters.get_matter("acme", matter.matter_id) == matter


async def test_a_state_of_a_newer_version_is_refused(database: Database, state_file: Path) -> None:
    with closing(sqlite3.connect(state_file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(UnknownSchema, match="newer version"):
        await database.migrate()


async def test_two_states_of_one_process_migrate_side_by_side(tmp_path: Path) -> None:
    both = [Database(url_of(tmp_path / name)) for name in ("a.sqlite3", "b.sqlite3")]
    await asyncio.gather(*(database.migrate() for database in both))
    for database in both:
        assert await scalar(database, "SELECT count(*) FROM turns") == 0
        await database.close()


async def test_the_tables_survive_a_migration_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    own = ["alembic_version", "matters", "turns"]
    with closing(sqlite3.connect(path)) as connection:
        for name in own:
            connection.execute(f"CREATE TABLE {name} (version_num)")
    database = Database(url_of(path))
    with pytest.raises(Exception, match="matters already exists"):
        await database.migrate()
    await database.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [(name,) for name in own]


async def test_a_database_of_another_program_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE turns (of_another_program INTEGER)")
    before = path.read_bytes()
    database = Database(url_of(path))
    with pytest.raises(UnusableState, match="belongs to another program"):
        await database.migrate()
    await database.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("busy_timeout", 10_000)],
)
async def test_every_connection_is_configured(database: Database, pragma: str, value: object) -> None:
    everyone_reads = threading.Barrier(READERS)

    def ask(connection: Connection) -> object:
        everyone_reads.wait(5)  # each reader has a connection of its own
        return connection.execute(text(f"PRAGMA {pragma}")).scalar()

    seen = await asyncio.gather(*(database.read(ask) for _ in range(READERS)))
    assert [*seen, await database.write(lambda c: c.execute(text(f"PRAGMA {pragma}")).scalar())] == [value] * (
        READERS + 1
    )


async def test_a_body_that_raises_leaves_nothing_behind(database: Database) -> None:
    def fail(connection: Connection) -> None:
        connection.execute(text(INSERT_MATTER.format("name")))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await database.write(fail)
    assert await scalar(database, "SELECT count(*) FROM matters") == 0


async def test_a_read_sees_one_state_throughout(database: Database, matters: SqlMatterStore) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def count_twice(connection: Connection) -> tuple[object, object]:
        count = text("SELECT count(*) FROM matters")
        before = connection.execute(count).scalar()
        begun.set()
        go_on.wait(5)
        return before, connection.execute(count).scalar()

    reading = asyncio.create_task(database.read(count_twice))
    await asyncio.to_thread(begun.wait, 5)
    await matters.create_matter("acme", "Meanwhile")
    go_on.set()
    assert await reading == (0, 0)
    assert await scalar(database, "SELECT count(*) FROM matters") == 1


@pytest.mark.parametrize("url", ["mysql+pymysql://user:secret@db/state", "sqlite+aiosqlite:///x"])
def test_an_engine_that_is_not_supported_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(UnusableState, match="is not supported") as refusal:
        Database(url)
    assert make_url(url).get_backend_name() in str(refusal.value)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_state_that_would_not_survive_is_refused(url: str) -> None:
    with pytest.raises(UnusableState, match="must name a file"):
        Database(url)


def test_what_is_no_url_is_refused() -> None:
    with pytest.raises(UnusableState, match="is not a URL"):
        Database("nonsense")


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state.sqlite3"
    file.write_text("This is a letter.\n" * 100)
    database = Database(f"sqlite:///{file}")
    with pytest.raises(UnusableState, match="file is not a database"):
        await database.migrate()
    await database.close()


async def test_a_write_holds_the_lock_from_its_start(database: Database, state_file: Path) -> None:
    def another_writes(_: Connection) -> None:
        with closing(sqlite3.connect(state_file, isolation_level=None, timeout=0)) as other:
            other.execute("BEGIN IMMEDIATE")

    with pytest.raises(TooBusy):
        await database.write(another_writes)


async def test_a_lock_held_by_another_process_is_too_busy(state_file: Path) -> None:
    database = Database(url_of(state_file), wait_s=0.3)
    with closing(sqlite3.connect(state_file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(TooBusy) as refusal:
            await SqlMatterStore(database).create_matter("acme", "Waiting")
    assert refusal.value.retry_after_s > 0
    await SqlMatterStore(database).create_matter("acme", "After all")
    await database.close()


async def test_waiting_too_long_for_a_thread_is_too_busy(state_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    for module in ("database", "transactions"):
        monkeypatch.setattr(f"proviso_service.backends.sql.{module}.time", SimpleNamespace(monotonic=lambda: now))
    database = Database(url_of(state_file), wait_s=5)
    begun, go_on = threading.Event(), threading.Event()

    def occupy(_connection: Connection) -> None:
        begun.set()
        go_on.wait(5)

    first = asyncio.create_task(database.write(occupy))
    await asyncio.to_thread(begun.wait, 5)
    second = asyncio.create_task(SqlMatterStore(database).create_matter("acme", "Waiting"))
    await asyncio.sleep(0)  # lets it ask for its thread
    now += 6
    go_on.set()
    await first
    with pytest.raises(TooBusy):
        await second
    await SqlMatterStore(database).create_matter("acme", "After all")
    await database.close()


async def test_look_ups_that_wait_are_done_at_once_and_one_that_fails_fails_alone(database: Database) -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()

    def occupy(_connection: Connection) -> int:
        begun.release()
        go_on.wait(5)
        return threading.get_ident()

    def fail(_connection: Connection) -> int:
        raise ValueError("of this one")

    busy = []
    for _ in range(READERS):
        busy.append(asyncio.create_task(database.look_up(occupy)))
        await asyncio.to_thread(begun.acquire)
    waiting = [asyncio.create_task(database.look_up(lambda _: threading.get_ident())) for _ in range(5)]
    failing = asyncio.create_task(database.look_up(fail))
    left = asyncio.create_task(database.look_up(fail))
    await asyncio.sleep(0)  # lets them ask for a thread
    left.cancel()
    go_on.set()
    await asyncio.gather(*busy)
    assert len(set(await asyncio.gather(*waiting))) == 1
    with pytest.raises(ValueError, match="of this one"):
        await failing
    with pytest.raises(asyncio.CancelledError):
        await left


async def test_more_waiting_transactions_than_the_bound_are_too_busy(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proviso_service.backends.sql.database.MAX_WAITING", 3)
    begun, go_on = threading.Event(), threading.Event()

    def occupy(_connection: Connection) -> None:
        begun.set()
        go_on.wait(5)

    waiting = [asyncio.create_task(database.write(occupy)) for _ in range(3)]
    await asyncio.to_thread(begun.wait, 5)
    with pytest.raises(TooBusy):
        await scalar(database, "SELECT 1")
    go_on.set()
    await asyncio.gather(*waiting)
    assert await scalar(database, "SELECT 1") == 1


async def test_a_closed_database_says_so(state_file: Path) -> None:
    database = Database(url_of(state_file))
    await database.close()
    with pytest.raises(NotReady):
        await scalar(database, "SELECT 1")


async def test_a_state_that_cannot_be_opened_is_unavailable_and_names_no_path(tmp_path: Path) -> None:
    database = Database(url_of(tmp_path / "absent" / "state.sqlite3"))
    with pytest.raises(Unavailable) as refusal:
        await database.migrate()
    assert "absent" not in refusal.value.message
    await database.close()


async def test_a_cancelled_write_is_done_or_never_begun_and_blocks_nobody(
    database: Database, matters: SqlMatterStore
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def write_slowly(connection: Connection) -> None:
        begun.set()
        go_on.wait(5)
        connection.execute(text(INSERT_MATTER.format("Begun")))

    running = asyncio.create_task(database.write(write_slowly))
    await asyncio.to_thread(begun.wait, 5)
    waiting = asyncio.create_task(matters.create_matter("acme", "Never begun"))
    await asyncio.sleep(0)
    running.cancel()
    waiting.cancel()
    await asyncio.wait([running, waiting])
    go_on.set()
    await matters.create_matter("acme", "After")
    names = await database.read(lambda c: c.execute(text("SELECT name FROM matters ORDER BY name")).scalars().all())
    assert names == ["After", "Begun"]


async def test_cancelled_readers_and_writers_give_their_connections_back(
    database: Database, matters: SqlMatterStore
) -> None:
    for _ in range(3):
        tasks: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(matters.create_matter("acme", "x")) for _ in range(2 * READERS)
        ]
        tasks += [asyncio.ensure_future(scalar(database, "SELECT 1")) for _ in range(2 * READERS)]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    assert await asyncio.gather(*(scalar(database, "SELECT 1") for _ in range(2 * READERS))) == [1] * 2 * READERS
    await matters.create_matter("acme", "After")


@asynccontextmanager
async def queued_up(database: Database) -> AsyncIterator[None]:
    """Holds the writing thread until the context is left, so that all writes made inside wait and then run together."""
    begun, go_on = threading.Event(), threading.Event()

    def occupy(_connection: Connection) -> None:
        begun.set()
        go_on.wait(5)

    first = asyncio.create_task(database.write(occupy))
    await asyncio.to_thread(begun.wait, 5)
    yield
    await asyncio.sleep(0)  # lets them ask
    go_on.set()
    await first


async def test_writes_that_wait_share_a_commit(database: Database, matters: SqlMatterStore) -> None:
    commits: list[Connection] = []
    assert isinstance(database._runs, SqliteTransactions)
    event.listen(database._runs.writer, "commit", commits.append)
    async with queued_up(database):
        waiting = [asyncio.create_task(matters.create_matter("acme", f"Matter {n}")) for n in range(40)]
    made = await asyncio.gather(*waiting)
    assert len({matter.matter_id for matter in made}) == 40
    assert await scalar(database, "SELECT count(*) FROM matters") == 40
    assert len(commits) == 3  # the one they waited for, 32 together, 8 together


async def test_a_write_that_raises_among_others_undoes_its_own_work_only(
    database: Database, matters: SqlMatterStore
) -> None:
    def fail(connection: Connection) -> None:
        connection.execute(text(INSERT_MATTER.format("Undone")))
        raise LookupError("no")

    async with queued_up(database):
        waiting = [
            asyncio.create_task(matters.create_matter("acme", "Before")),
            asyncio.create_task(database.write(fail)),
            asyncio.create_task(matters.create_matter("acme", "After")),
        ]
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(results[1], LookupError)
    names = await database.read(lambda c: c.execute(text("SELECT name FROM matters ORDER BY name")).scalars().all())
    assert names == ["After", "Before"]


async def test_a_failure_that_ends_the_transaction_is_told_to_all_who_shared_it(
    database: Database, matters: SqlMatterStore
) -> None:
    def end_it(connection: Connection) -> None:
        connection.execute(text("ROLLBACK"))
        raise LookupError("the disk is full")

    async with queued_up(database):
        waiting = [
            asyncio.create_task(matters.create_matter("acme", "Before")),
            asyncio.create_task(database.write(end_it)),
            asyncio.create_task(matters.create_matter("acme", "After")),
        ]
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(result, Exception) for result in results)
    assert await scalar(database, "SELECT count(*) FROM matters") == 0
    await matters.create_matter("acme", "Later")


async def test_a_write_that_is_cancelled_among_others_is_never_begun(
    database: Database, matters: SqlMatterStore
) -> None:
    async with queued_up(database):
        waiting = [asyncio.create_task(matters.create_matter("acme", name)) for name in ("One", "Gone", "Two")]
        await asyncio.sleep(0)
        waiting[1].cancel()
    await asyncio.wait(waiting)
    names = await database.read(lambda c: c.execute(text("SELECT name FROM matters ORDER BY name")).scalars().all())
    assert names == ["One", "Two"]


async def test_readers_and_writers_run_together(matters: SqlMatterStore) -> None:
    made = await asyncio.gather(*(matters.create_matter("acme", f"Matter {i}") for i in range(40)))
    seen = await asyncio.gather(*(matters.get_matter("acme", matter.matter_id) for matter in made))
    assert [matter.name for matter in seen] == [f"Matter {i}" for i in range(40)]


WRITER = """
import asyncio, sys
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql import migrations
from proviso_service.backends.sql.matters import SqlMatterStore

async def write():
    store = SqlMatterStore(Database("sqlite:///" + sys.argv[1]))
    while True:
        print((await store.create_matter("acme", "Kept")).matter_id, flush=True)

asyncio.run(write())
"""


async def test_what_was_acknowledged_survives_a_killed_process(matters: SqlMatterStore, state_file: Path) -> None:
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(state_file), stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout is not None
    acknowledged = [await writer.stdout.readline() for _ in range(20)]
    writer.kill()
    acknowledged += (await writer.stdout.read()).splitlines()
    await writer.wait()
    for matter_id in acknowledged:
        assert (await matters.get_matter("acme", matter_id.decode().strip())).name == "Kept"
