"""Stores hand out work through a session that is bound to a tenant, but for the methods listed here; and nothing else
speaks SQL."""

import ast
import importlib
import inspect
import pkgutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

import proviso_service
from proviso_service.access import MatterRole
from proviso_service.backends import sql
from proviso_service.backends.sql.access import SqlMemberStore
from proviso_service.backends.sql.database import Database, Store, reading, writing
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.sessions import SqlSessionStore
from proviso_service.context.model import ContextChange, MatterContext, NewSession
from proviso_service.errors import ProvisoError
from proviso_service.identity import Caller
from proviso_service.paging import PageRequest

ROOT = Path(proviso_service.__file__).parent
ACROSS_TENANTS = {
    "SqlApiKeyStore.add",
    "SqlApiKeyStore.all",
    "SqlApiKeyStore.find",
    "SqlApiKeyStore.note_use",
    "SqlApiKeyStore.revoke",
    "SqlAuditStore.append",
    "SqlAuditStore.walk",
    "SqlCatalogVectors.get",
    "SqlCatalogVectors.put",
    "BatchRows.claim_batch",
    "BatchRows.finish_batch",
    "ClaimRows.release_claims",
    "ClaimRows.renew_claims",
    "ClaimRows.unfinished_documents",
    "DocumentRows.documents_after",
    "LeftoverRows.give_up_uploads",
    "LeftoverRows.leftovers",
    "LeftoverRows.uploads",
    "SqlDeletionStore.deleted_turns",
    "SqlDeletionStore.unfinished",
    "SqlExpiryStore.tenants",
    "SqlMatterStore.deleted_matters",
    "SqlTurnStore.release",
    "SqlTurnStore.renew",
    "SqlTurnStore.take_over",
}
"""API keys, which say whose tenant a call is of; the vectors of the operator's catalog; the ends and leases of turns of
a process, and its claims of documents; what is taken up after a restart; and the clearing of what was deleted."""


OF_WHOLE_FILES = {"backends/backup.py", "backends/storage.py", "cli/doctor.py"}
"""They copy, check or count the whole of the state for operators, and serve no caller."""


def stores() -> Iterator[type[Store]]:
    for module in pkgutil.iter_modules(sql.__path__, f"{sql.__name__}."):
        for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(found, Store) and found.__module__ == module.name:
                yield found


def transactions() -> Iterator[tuple[str, Any]]:
    """The methods that are transactions, by their names."""
    for store in stores():
        for name, method in vars(store).items():
            if hasattr(method, "__wrapped__"):
                yield f"{store.__name__}.{name}", method


def test_methods_across_tenants_are_those_of_the_services_own_work() -> None:
    found = dict(transactions())
    assert len(found) > 60
    assert {name for name, method in found.items() if hasattr(method, "across_tenants")} == ACROSS_TENANTS


@pytest.mark.parametrize("decorator", [reading, writing])
def test_a_method_without_a_tenant_cannot_be_written(decorator: Any) -> None:
    def method(self: Store, transaction: Connection, matter_id: str) -> None: ...

    with pytest.raises(TypeError, match="begins with no tenant"):
        decorator(method)


def test_sql_is_spoken_in_the_folder_of_its_adapter_alone() -> None:
    speaking = set()
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.partition(".")[0] in ("sqlalchemy", "sqlite3", "alembic") for name in names):
                speaking.add(file.relative_to(ROOT).as_posix())
    elsewhere = {file for file in speaking if not file.startswith("backends/sql/")}
    assert len(speaking) > 10
    assert elsewhere == OF_WHOLE_FILES


@pytest.fixture
async def owned(database: Database) -> dict[str, str]:
    """What smith's ada has, by the names of arguments; SECRET is in all of it."""
    matters, sessions = SqlMatterStore(database), SqlSessionStore(database)
    matter = await matters.create_matter("smith", "SECRET", owner="ada")
    await SqlMemberStore(database).grant("smith", matter.matter_id, "SECRET", MatterRole.READER)
    await sessions.get_or_create(
        Caller("smith", "ada"), "s-1", NewSession(()), ContextChange(MatterContext(matter.matter_id, "SECRET"))
    )
    return {"matter_id": matter.matter_id, "session_id": "s-1", "user": "ada"}


SIMPLE: dict[str, Any] = {
    "tenant": "jones",
    "caller": Caller("jones", "ada"),
    "page": PageRequest(50),
    "role": MatterRole.OWNER,
    "query": "secret",
    "name": "other",
    "notes": "other",
    "title": "other",
    "limit": 10,
    "max_chars": 1_000,
    "filename": "any.md",
    "before": datetime(2100, 1, 1, tzinfo=UTC),
    "new_session_id": "s-2",
}


async def test_no_method_finds_or_changes_what_another_tenant_has(
    database: Database, state_file: Path, owned: dict[str, str]
) -> None:
    """Each method whose arguments are ids and plain values is called as the same user of another tenant."""
    values = SIMPLE | owned
    before = rows(state_file)
    called = 0
    for name, method in transactions():
        given = arguments(method, values)
        if name in ACROSS_TENANTS or given is None:
            continue
        (store,) = (found for found in stores() if found.__name__ == name.partition(".")[0])
        try:
            found = await method(store(database), **given)
        except ProvisoError as refusal:
            found = refusal.message
        assert "SECRET" not in repr(found), name
        called += 1
    assert called >= 24
    assert before <= rows(state_file)


def arguments(method: Any, values: dict[str, Any]) -> dict[str, Any] | None:
    """None where a value is not known."""
    wanted = list(inspect.signature(method.__wrapped__).parameters.values())[2:]
    given = {one.name: values[one.name] for one in wanted if one.name in values}
    needed = {one.name for one in wanted if one.default is inspect.Parameter.empty}
    return given if needed <= set(given) else None


def rows(state_file: Path) -> set[tuple[object, ...]]:
    with closing(sqlite3.connect(state_file)) as state:
        tables = [name for (name,) in state.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            (table, *row)
            for table in tables
            for row in state.execute(f"SELECT * FROM '{table}'")  # noqa: S608
            if "smith" in row
        }
