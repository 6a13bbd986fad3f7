"""The state in parts, each a database with the rows of one tenant, and put together again."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


def tenants_in(state: Path) -> list[str]:
    """All tenants that have a row in a state."""
    with closing(sqlite3.connect(state)) as connection:
        found = [connection.execute(f"SELECT DISTINCT tenant FROM {table}") for table in _tables(connection, "main")]  # noqa: S608
        return sorted({str(tenant) for rows in found for (tenant,) in rows})


def write_part(state: Path, tenant: str, part: Path) -> None:
    """Writes the rows of a tenant to a new database of the same schema."""
    with _attached(part, state) as connection:
        schema = "SELECT type, sql FROM other.sqlite_master WHERE sql IS NOT NULL AND type {} 'table'"
        own = " AND name NOT LIKE 'sqlite_%'"
        for _, statement in connection.execute(schema.format("=") + own).fetchall():
            connection.execute(statement)
        connection.execute("INSERT INTO alembic_version SELECT * FROM other.alembic_version")
        _copy_rows(connection, tenant)
        for _, statement in connection.execute(schema.format("!=")).fetchall():
            connection.execute(statement)


def add_part(part: Path, tenant: str, state: Path) -> None:
    """Adds the rows of a part to a state of the same schema. Raises ValueError for a part that is not whole."""
    with _attached(state, part) as connection:
        _copy_rows(connection, tenant)
        if connection.execute("PRAGMA main.foreign_key_check").fetchone():
            raise ValueError(f"The rows of tenant {tenant!r} are not whole")


def _copy_rows(connection: sqlite3.Connection, tenant: str) -> None:
    for table, key in _tables(connection, "other").items():
        columns = ", ".join(name for _, name, *_ in connection.execute(f"PRAGMA other.table_info({table})"))
        connection.execute(
            f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM other.{table}"  # noqa: S608
            f" WHERE tenant = ? ORDER BY {key}",
            (tenant,),
        )


def _tables(connection: sqlite3.Connection, schema: str) -> dict[str, str]:
    """The tables whose rows have a tenant, with the columns of their keys; audit events have to come in their order."""
    names = connection.execute(f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table'").fetchall()  # noqa: S608
    found = {}
    for (name,) in names:
        columns = connection.execute(f"PRAGMA {schema}.table_info({name})").fetchall()
        if "tenant" in [column[1] for column in columns]:
            found[str(name)] = ", ".join(column[1] for column in sorted(columns, key=lambda one: one[5]) if column[5])
    return found


@contextmanager
def _attached(database: Path, other: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("ATTACH ? AS other", (str(other),))
        with connection:
            yield connection
        connection.execute("DETACH other")
