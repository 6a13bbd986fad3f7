"""Real stores on a fresh SQLite file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.sessions import SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.matters.model import Matter
from tests.support.migrated import state_in
from tests.support.stored import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state_file(tmp_path: Path) -> Path:
    state_in(tmp_path)
    return tmp_path / "state.sqlite3"


@pytest.fixture
async def database(state_file: Path, clock: Clock) -> AsyncIterator[Database]:
    database = Database(f"sqlite:///{state_file}", now=clock)
    yield database
    await database.close()


@pytest.fixture
def matters(database: Database) -> SqlMatterStore:
    return SqlMatterStore(database)


@pytest.fixture
def sessions(database: Database) -> SqlSessionStore:
    return SqlSessionStore(database)


@pytest.fixture
def turns(database: Database) -> SqlTurnStore:
    return SqlTurnStore(database)


@pytest.fixture
async def matter(matters: SqlMatterStore) -> Matter:
    return await matters.create_matter("acme", "Lease of 12 High Street")
