"""Statements that run often, or for which every caller waits, find their rows by an index."""

import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine

from proviso_service.backends.sql import prepared
from proviso_service.backends.sql.dialects import driver_of as prepared_driver_of
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.sessions import SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.context.model import IncludeMode, ItemRef, ItemType, NewSession, SessionItem
from proviso_service.errors import FailureCause
from proviso_service.identity import Caller, RetryKey
from proviso_service.matters.model import Matter, chunk_id
from proviso_service.matters.stores import Leftover
from proviso_service.paging import PageRequest
from proviso_service.turns import Rating, TurnRequest
from tests.support.stored import MODEL, a_document, an_outcome, ingested

ANNA = Caller("acme", "anna")
REQUEST = TurnRequest("?", session_id="s", request_id="r")
RETRY = RetryKey("anna", "r", "hash")
ITEM = SessionItem(ItemRef(ItemType.RULE, "Quoting"), IncludeMode.MANUAL)


class Statements:
    """Records the statements that were sent to the database, and how SQLite finds their rows."""

    def __init__(self, state_file: Path) -> None:
        self._plans = sqlite3.connect(state_file)
        self._seen: list[tuple[str, Any]] = []

    def note(self, _connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        self._seen.append((statement, parameters))

    def forget(self) -> None:
        self._seen.clear()

    def steps(self) -> list[str]:
        return [
            step
            for statement, parameters in self._seen
            if statement.startswith(("SELECT", "UPDATE", "DELETE", "WITH"))
            for *_, step in self._plans.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]

    def scans(self) -> list[str]:
        """The tables that were read from start to end."""
        steps = self.steps()
        assert steps
        return [step for step in steps if step.startswith("SCAN")]

    def close(self) -> None:
        self._plans.close()


class Recording:
    """The driver's connection, as prepared statements use it, with its statements recorded."""

    def __init__(self, driver: sqlite3.Connection, statements: Statements) -> None:
        self._driver = driver
        self._statements = statements

    def execute(self, statement: str, parameters: Any) -> sqlite3.Cursor:
        self._statements.note(None, None, statement, parameters)
        return self._driver.execute(statement, parameters)

    def executemany(self, statement: str, rows: Any) -> sqlite3.Cursor:
        return self._driver.executemany(statement, rows)


@pytest.fixture
def statements(state_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Statements]:
    statements = Statements(state_file)
    event.listen(Engine, "before_cursor_execute", statements.note)

    def driver_of(transaction: Connection) -> Recording:
        return Recording(prepared_driver_of(transaction), statements)

    monkeypatch.setattr(prepared, "driver_of", driver_of)
    yield statements
    event.remove(Engine, "before_cursor_execute", statements.note)
    statements.close()


TURNS: dict[str, Callable[[SqlTurnStore, SqlSessionStore], Awaitable[object]]] = {
    "begin again": lambda turns, _: turns.begin(ANNA, "t-2", REQUEST, "hash", "me", 60),
    "begun before": lambda turns, _: turns.begun_before(ANNA, "r-1", "hash"),
    "finish": lambda turns, _: turns.finish(ANNA, "t-1", "s", 1, an_outcome("Done.", "Hello"), "me"),
    "get": lambda turns, _: turns.get(ANNA, "t-1"),
    "session": lambda _, sessions: sessions.get(ANNA, "s"),
    "sessions": lambda _, sessions: sessions.list(ANNA, PageRequest(10)),
    "messages": lambda _, sessions: sessions.messages(ANNA, "s", PageRequest(10)),
    "items": lambda _, sessions: sessions.change_items(ANNA, "s", lambda items: (*items, ITEM)),
    "session made again": lambda _, sessions: sessions.create(ANNA, "s-2", NewSession(), RETRY),
    "title": lambda _, sessions: sessions.update(ANNA, "s", title="Rent"),
    "recent contexts": lambda _, sessions: sessions.recent_contexts(ANNA, "s", 200),
}


@pytest.mark.parametrize("name", TURNS)
async def test_turns_and_sessions_are_found_by_index(
    turns: SqlTurnStore, sessions: SqlSessionStore, statements: Statements, name: str
) -> None:
    await sessions.create(ANNA, "s", NewSession())
    await turns.begin(ANNA, "t-1", REQUEST, "hash", "me", 60)
    await TURNS[name](turns, sessions)
    assert statements.scans() == []


async def test_keeping_leases_reads_open_turns_only(turns: SqlTurnStore, statements: Statements) -> None:
    await turns.renew("me", ["t-1"], 60)
    await turns.take_over("me", 60, 10, 100, is_new=True)
    assert {scan for scan in statements.scans() if "turns" in scan} == {"SCAN turns USING INDEX ix_turns_open"}


async def test_listing_ratings_reads_rated_turns_only(
    turns: SqlTurnStore, sessions: SqlSessionStore, statements: Statements
) -> None:
    await turns.begin(ANNA, "t-1", REQUEST, "hash", "me", 60)
    await turns.finish(ANNA, "t-1", "s", 1, an_outcome("Done.", "Hello"), "me")
    statements.forget()
    await sessions.rate(ANNA, "t-1", Rating.UP)
    assert statements.scans() == []
    await sessions.ratings("acme", PageRequest(10))
    assert statements.scans() == []


async def test_looking_for_unfinished_documents_reads_those_only(
    matters: SqlMatterStore, statements: Statements
) -> None:
    await matters.unfinished_documents(10)
    tables = [scan for scan in statements.scans() if scan.split()[1] in ("documents", "matters")]
    assert tables == ["SCAN documents USING INDEX ix_documents_unfinished"]


async def test_looking_for_what_is_left_reads_that_only(
    matters: SqlMatterStore, matter: Matter, statements: Statements
) -> None:
    await matters.delete_matter("acme", matter.matter_id)
    await matters.deleted_matters()
    await matters.leftovers(10, Leftover("acme", matter.matter_id, "d", matter_deleted=True))
    assert statements.scans() == ["SCAN matters USING INDEX ix_matters_deleted"]


async def test_documents_and_their_contents_are_found_by_index(
    matters: SqlMatterStore, matter: Matter, statements: Statements
) -> None:
    document = await ingested(matters, matter, "Rent is due.", "The tenant insures.")
    second, _ = await matters.add_document(a_document(matter))
    await matters.fail(second, "It is encrypted.", FailureCause.FAILED)
    await matters.get_matter("acme", matter.matter_id)
    await matters.list_matters("acme", PageRequest(10))
    await matters.create_matter("acme", "Lease", RETRY)
    await matters.update_matter("acme", matter.matter_id, notes="Due in May")
    await matters.list_documents("acme", matter.matter_id, PageRequest(10))
    (stored,) = await matters.chunks("acme", [chunk_id(document.document_id, 0)])
    await matters.neighbours("acme", stored)
    await matters.text("acme", document.document_id, 0, 10)
    await matters.outlines("acme", [document.document_id])
    await matters.packed_documents("acme", matter.matter_id, MODEL, {})
    await matters.pack_again("acme", document.document_id)
    await matters.known_embeddings("acme", MODEL, [stored.chunk.content_sha256])
    await matters.chunks_not_embedded("acme", document.document_id, MODEL)
    await matters.keep_vectors(document, MODEL, np.zeros((2, 4), dtype=np.float32))
    await matters.forget_other_vectors("acme", document.document_id, MODEL)
    await matters.delete_document("acme", matter.matter_id, document.document_id)
    await matters.delete_matter("acme", matter.matter_id)
    while await matters.delete_documents("acme", matter.matter_id):
        pass
    await matters.forget_leftovers("acme", [document.document_id])
    assert statements.scans() == []
