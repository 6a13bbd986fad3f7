import asyncio
import sqlite3
import sys
from collections.abc import Coroutine
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from proviso_service.errors import TooBusy, Unavailable
from proviso_service.storage.settled import settled
from proviso_service.storage.sql.database import POOL_SIZE, Database
from proviso_service.storage.sql.matters import SqlMatterStore
from proviso_service.storage.sql.migrations import UnknownSchema
from proviso_service.storage.sql.tables import metadata

INDEXES = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"


def url_of(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


async def scalar(database: Database, query: str) -> object:
    async with database.read() as connection:
        return (await connection.execute(text(query))).scalar()


def tables_only(name: str | None, kind: str, _parents: object) -> bool:
    return kind != "table" or not (name or "").startswith("chunk_words")


def test_migrations_produce_exactly_the_tables_of_the_metadata(state_file: Path) -> None:
    engine = create_engine(f"sqlite:///{state_file}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": tables_only, "compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_migrations_produce_the_same_index_definitions_as_the_metadata(state_file: Path, tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'metadata.sqlite3'}")
    metadata.create_all(engine)
    engine.dispose()
    with (
        closing(sqlite3.connect(tmp_path / "metadata.sqlite3")) as wanted,
        closing(sqlite3.connect(state_file)) as made,
    ):
        assert made.execute(INDEXES).fetchall() == wanted.execute(INDEXES).fetchall()


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
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE turns (already_here INTEGER)")
    database = Database(url_of(path))
    with pytest.raises(Exception, match="turns already exists"):
        await database.migrate()
    await database.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("turns",)]


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("busy_timeout", 10_000)],
)
async def test_every_connection_is_configured(database: Database, pragma: str, value: object) -> None:
    async with AsyncExitStack() as held:
        for _ in range(3):
            connection = await held.enter_async_context(database.read())
            assert (await connection.execute(text(f"PRAGMA {pragma}"))).scalar() == value


async def test_a_body_that_raises_leaves_nothing_behind(database: Database) -> None:
    async def fail() -> None:
        async with database.write() as connection:
            await connection.execute(text("INSERT INTO matters VALUES ('acme', 'm', 'name', '2026-01-01', 0)"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert await scalar(database, "SELECT count(*) FROM matters") == 0


async def test_a_read_sees_one_state_throughout(database: Database, matters: SqlMatterStore) -> None:
    count = text("SELECT count(*) FROM matters")
    async with database.read() as connection:
        before = (await connection.execute(count)).scalar()
        await matters.create_matter("acme", "Meanwhile")
        assert (await connection.execute(count)).scalar() == before == 0
    assert await scalar(database, "SELECT count(*) FROM matters") == 1


@pytest.mark.parametrize("url", ["postgresql+asyncpg://user:secret@db/state", "sqlite:///state.sqlite3"])
def test_an_engine_that_is_not_supported_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ValueError, match="is not supported") as refusal:
        Database(url)
    assert make_url(url).get_backend_name() in str(refusal.value)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("url", ["sqlite+aiosqlite://", "sqlite+aiosqlite:///:memory:"])
def test_a_state_that_would_not_survive_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must name a file"):
        Database(url)


async def test_a_lock_held_by_another_process_is_too_busy(state_file: Path) -> None:
    database = Database(url_of(state_file), wait_s=0.05)
    with closing(sqlite3.connect(state_file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(TooBusy) as refusal:
            await SqlMatterStore(database).create_matter("acme", "Waiting")
    assert refusal.value.retry_after_s > 0
    await SqlMatterStore(database).create_matter("acme", "After all")
    await database.close()


async def test_waiting_too_long_for_a_connection_is_too_busy(state_file: Path) -> None:
    database = Database(url_of(state_file), wait_s=0.05)
    async with AsyncExitStack() as held:
        for _ in range(POOL_SIZE):
            await held.enter_async_context(database.read())
        with pytest.raises(TooBusy):
            await scalar(database, "SELECT 1")
    assert await scalar(database, "SELECT 1") == 1
    await database.close()


async def test_waiting_too_long_for_the_turn_to_write_is_too_busy(state_file: Path) -> None:
    database = Database(url_of(state_file), wait_s=0.05)
    async with database.write():
        with pytest.raises(TooBusy):
            await SqlMatterStore(database).create_matter("acme", "Waiting")
    await SqlMatterStore(database).create_matter("acme", "After all")
    await database.close()


async def test_a_state_that_cannot_be_opened_is_unavailable_and_names_no_path(tmp_path: Path) -> None:
    database = Database(url_of(tmp_path / "absent" / "state.sqlite3"))
    with pytest.raises(Unavailable) as refusal:
        await database.migrate()
    assert "absent" not in refusal.value.message
    await database.close()


@pytest.mark.parametrize(("step", "kept"), [("begin", False), ("insert", False), ("commit", True), ("give back", True)])
async def test_a_write_cancelled_at_any_step_is_whole_or_absent_and_blocks_nobody(
    monkeypatch: pytest.MonkeyPatch, database: Database, matters: SqlMatterStore, step: str, kept: bool
) -> None:
    steps = iter(["begin", "insert", "commit", "give back"])

    async def settled_under_cancellation(work: Coroutine[Any, Any, Any]) -> Any:
        if next(steps, "") == step:
            current = asyncio.current_task()
            assert current is not None
            current.cancel()
        return await settled(work)

    monkeypatch.setattr("proviso_service.storage.sql.database.settled", settled_under_cancellation)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.ensure_future(matters.create_matter("acme", "Cancelled"))
    monkeypatch.undo()
    assert await scalar(database, "SELECT count(*) FROM matters") == int(kept)
    await asyncio.wait_for(matters.create_matter("acme", "After"), timeout=5)


async def test_cancelled_readers_and_writers_give_their_connections_back(
    database: Database, matters: SqlMatterStore
) -> None:
    for _ in range(3):
        tasks: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(matters.create_matter("acme", "x")) for _ in range(2 * POOL_SIZE)
        ]
        tasks += [asyncio.ensure_future(scalar(database, "SELECT 1")) for _ in range(2 * POOL_SIZE)]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    async with AsyncExitStack() as held:
        for _ in range(POOL_SIZE):
            await held.enter_async_context(database.read())
    await matters.create_matter("acme", "After")


async def test_readers_and_writers_run_together(matters: SqlMatterStore) -> None:
    made = await asyncio.gather(*(matters.create_matter("acme", f"Matter {i}") for i in range(40)))
    seen = await asyncio.gather(*(matters.get_matter("acme", matter.matter_id) for matter in made))
    assert [matter.name for matter in seen] == [f"Matter {i}" for i in range(40)]


WRITER = """
import asyncio, sys
from proviso_service.storage.sql.database import Database
from proviso_service.storage.sql.matters import SqlMatterStore

async def write():
    store = SqlMatterStore(Database("sqlite+aiosqlite:///" + sys.argv[1]))
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
