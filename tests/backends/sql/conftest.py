"""Real stores on a fresh SQLite file, and on an empty database of PostgreSQL.

Tests run on both, but for those that ask for the file, or are marked as on_sqlite."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.sessions import SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.matters.model import Matter
from tests.support.migrated import state_in
from tests.support.postgres_server import PostgresServer
from tests.support.stored import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state_file(tmp_path: Path) -> Path:
    state_in(tmp_path)
    return tmp_path / "state.sqlite3"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames:
        marked = metafunc.definition.get_closest_marker("on_sqlite")
        on_sqlite = marked or "state_file" in metafunc.fixturenames
        metafunc.parametrize("engine", ["sqlite"] if on_sqlite else ["sqlite", "postgres"])


@pytest.fixture
def state_url(engine: str, request: pytest.FixtureRequest) -> Iterator[str]:
    if engine == "sqlite":
        yield f"sqlite:///{request.getfixturevalue('state_file')}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.state() as url:
        yield url


@pytest.fixture
async def database(state_url: str, clock: Clock) -> AsyncIterator[Database]:
    database = Database(state_url, now=clock)
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
