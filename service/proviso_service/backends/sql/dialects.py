"""What SQLite and PostgreSQL write differently. All else that the stores ask is the same for both."""

import json
import sqlite3
import typing
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import JSON, ColumnElement, Connection, Select, String, Text, bindparam, cast, func, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite.dml import OnConflictDoNothing, OnConflictDoUpdate
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from proviso_service.backends.sql.guards import TENANT_SETTING

POSTGRES = "postgresql"

insert = sqlite.insert
"""An INSERT statement with ON CONFLICT, which SQLAlchemy's general one lacks. SQLite took it from PostgreSQL, which is
given the same here: its own statement would have its whole dialect imported at every start."""


@compiles(OnConflictDoNothing, POSTGRES)
def _do_nothing(clause: Any, compiler: Any, **options: Any) -> str:
    clause.constraint_target = None
    return str(compiler.visit_on_conflict_do_nothing(clause, **options))


@compiles(OnConflictDoUpdate, POSTGRES)
def _do_update(clause: Any, compiler: Any, **options: Any) -> str:
    clause.constraint_target = None
    return str(compiler.visit_on_conflict_do_update(clause, **options))


class JsonTexts(FunctionElement[str]):
    """The texts of a list as JSON, for the right side of IN."""

    type = String()
    inherit_cache = True


@compiles(JsonTexts, "sqlite")
def _each(element: JsonTexts, compiler: Any, **options: Any) -> str:
    return f"(SELECT value FROM json_each({compiler.process(element.clauses, **options)}))"  # noqa: S608


@compiles(JsonTexts, POSTGRES)
def _elements(element: JsonTexts, compiler: Any, **options: Any) -> str:
    return f"(SELECT json_array_elements_text({compiler.process(element.clauses, **options)}::json))"


TENANT_OPTION = "proviso_tenant"
"""The execution option of a connection to PostgreSQL with what its transactions set as TENANT_SETTING."""

ALL = "*"

_LOCK = "pg_advisory_xact_lock(hashtextextended({}, 0))"
_SEE = f"SELECT set_config('{TENANT_SETTING}', $1, true)"
_SEE_AND_LOCK = f"{_SEE}, {_LOCK.format('$1')}"
_LOCK_TENANT = text(f"SELECT {_LOCK.format(':tenant')}").bindparams(bindparam("tenant", type_=String))


def is_postgres(connection: Connection) -> bool:
    return connection.dialect.name == POSTGRES


def commands_of(connection: Connection) -> Callable[[str], object]:
    """Runs a command in the connection's transaction, by the driver itself."""
    if is_postgres(connection):
        return connection.exec_driver_sql
    return driver_of(connection).execute


def is_open(connection: Connection) -> bool:
    """Whether the transaction goes on after an error."""
    if is_postgres(connection):
        return not connection.invalidated
    return driver_of(connection).in_transaction


def driver_of(transaction: Connection) -> sqlite3.Connection:
    """SQLite's own connection, in the same transaction."""
    return typing.cast(sqlite3.Connection, transaction.connection.dbapi_connection)


def json_is(transaction: Connection, column: ColumnElement[Any], key: str, value: str) -> ColumnElement[bool]:
    """The condition that a JSON object in a column has this text at a key."""
    if is_postgres(transaction):  # whose ->> refuses an object that has \u0000 anywhere
        return cast(cast(column, JSON)[key], Text) == json.dumps(value)
    return func.json_extract(cast(column, String), f"$.{key}") == value


def with_items(
    transaction: Connection,
    column: ColumnElement[Any],
    found: Select[Any],
    name: str,
    places: Sequence[int],
    value: str,
) -> Any:
    """The JSON object of the column, which `found` selects, with `value` at these places of its list `name`."""
    if is_postgres(transaction):
        whole = json.loads(transaction.execute(found).scalar_one_or_none() or "null")
        for place in places if whole else ():
            whole[name][place] = value
        return json.dumps(whole)
    return func.json_set(column, *(part for place in places for part in (f"$.{name}[{place}]", value)))


def begin_reading(connection: Connection) -> None:
    """Begins a transaction on PostgreSQL that reads: says whose rows it sees."""
    connection.exec_driver_sql(_SEE, (_seen(connection),))


def begin_writing(connection: Connection) -> None:
    """Begins a transaction on PostgreSQL that writes. Until it ends it is the only one that writes for its tenant, also
    among processes, as on SQLite it is the only one of all tenants."""
    seen = _seen(connection)
    connection.exec_driver_sql(_SEE if seen == ALL else _SEE_AND_LOCK, (seen,))


def see_all(connection: Connection) -> None:
    """Has the transaction see the rows of all tenants."""
    connection.exec_driver_sql(_SEE, (ALL,))


def lock_tenant(transaction: Connection, tenant: str) -> None:
    """Has nobody else write for the tenant until the transaction ends."""
    if is_postgres(transaction) and _seen(transaction) != f"={tenant}":
        transaction.execute(_LOCK_TENANT, {"tenant": f"={tenant}"})


def _seen(connection: Connection) -> str:
    return str(connection.get_execution_options().get(TENANT_OPTION, ALL))
