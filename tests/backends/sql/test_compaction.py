"""A state is rewritten so that its files hold nothing but its rows, and never beside a long read."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.sessions import SqlSessionStore
from proviso_service.context.model import NewSession
from proviso_service.errors import TooBusy
from proviso_service.identity import Caller

ADA = Caller("local", "ada")


def files_with(word: bytes, folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if word in file.read_bytes()]


async def test_a_rewritten_state_has_no_byte_of_what_was_deleted(database: Database, state_file: Path) -> None:
    sessions = SqlSessionStore(database)
    for number in range(200):
        await sessions.create(ADA, f"s-{number}", NewSession(()))
        await sessions.update(ADA, f"s-{number}", notes="Vorkheliot " * (number % 40 + 1))
    kept = await sessions.get(ADA, "s-1")
    for number in (number for number in range(200) if number != 1):
        await sessions.delete(ADA, f"s-{number}")
    await sessions.update(ADA, "s-1", notes="Zanquibar")
    assert files_with(b"Vorkheliot", state_file.parent)
    await database.compact()
    assert not files_with(b"Vorkheliot", state_file.parent)
    assert files_with(b"Zanquibar", state_file.parent) == [state_file.name]
    assert (await sessions.get(ADA, "s-1")).create_time == kept.create_time


async def test_beside_a_long_read_nothing_is_rewritten_and_writes_go_on(database: Database, state_file: Path) -> None:
    sessions = SqlSessionStore(database)
    await sessions.create(ADA, "s-1", NewSession(()))
    with closing(sqlite3.connect(state_file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sessions").fetchone()
        await sessions.update(ADA, "s-1", notes="later")
        log = state_file.with_name(state_file.name + "-wal")
        before = log.stat().st_size
        for _ in range(3):
            with pytest.raises(TooBusy):
                await database.compact()
        assert log.stat().st_size == before
        await sessions.update(ADA, "s-1", notes="later still")
    await database.compact()
    assert (await sessions.get(ADA, "s-1")).notes == "later still"
