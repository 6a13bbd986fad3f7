"""A statement of a hot path: it is compiled once, and then run by the driver itself. SQLAlchemy's way from a compiled
statement to the driver takes several times as long as SQLite does for one row."""

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Delete, Dialect, Insert, Select, Update
from sqlalchemy.dialects import sqlite

from proviso_service.backends.sql.dialects import driver_of, is_postgres

Values = Mapping[str, Any]
"""A value for each parameter of a statement, by name, as the columns' types take them."""

_Statement = Insert | Update | Delete | Select[Any]


class _Compiled:
    """A statement in the words of one database."""

    def __init__(self, statement: _Statement, columns: Sequence[str] | None, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=columns)
        self.sql = str(compiled)
        self.order: Sequence[str] = getattr(compiled, "positiontup", None) or ()
        """The names of the parameters by their places, where they have places."""
        self._fixed = compiled.params
        self._encoders = _present(
            (name, bind.type.dialect_impl(dialect).bind_processor(dialect))
            for bind, name in compiled.bind_names.items()
        )
        self.decoders = _present(
            (place, column.type.dialect_impl(dialect).result_processor(dialect, None))
            for place, column in enumerate(statement.exported_columns)
        )

    def encoded(self, values: Values) -> dict[str, Any]:
        encoded = {**self._fixed, **values}
        for name, encode in self._encoders:
            encoded[name] = encode(encoded[name])
        return encoded

    def placed(self, values: Values) -> tuple[Any, ...]:
        encoded = self.encoded(values)
        return tuple([encoded[name] for name in self.order])


class Prepared:
    """A statement that is written as all others are, with `bindparam` for what differs between its runs. An INSERT has
    a parameter for each of the `columns`, or of all columns."""

    def __init__(self, statement: _Statement, columns: Sequence[str] | None = None) -> None:
        self._statement = statement
        self._columns = columns
        self._sqlite = _Compiled(statement, columns, sqlite.dialect(paramstyle="named"))
        returned = list(statement.exported_columns)
        self._row: Any = namedtuple("_row", [column.key for column in returned], rename=True)  # type: ignore[misc]

    @cached_property
    def _postgres(self) -> _Compiled:
        from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg

        return _Compiled(self._statement, self._columns, PGDialect_asyncpg())  # type: ignore[no-untyped-call]

    def run(self, transaction: Connection, values: Values) -> int:
        """Runs the statement and returns how many rows it has changed."""
        if is_postgres(transaction):
            return int(self._cursor(transaction, values).rowcount)
        return driver_of(transaction).execute(self._sqlite.sql, self._sqlite.encoded(values)).rowcount

    def run_each(self, transaction: Connection, rows: Sequence[Values]) -> None:
        """Runs the statement once for each of the values."""
        if is_postgres(transaction):
            placed = [self._postgres.placed(values) for values in rows]
            transaction.connection.cursor().executemany(self._postgres.sql, placed)
        else:
            driver_of(transaction).executemany(self._sqlite.sql, [self._sqlite.encoded(values) for values in rows])

    def one(self, transaction: Connection, values: Values) -> Any:
        """The first row, with the names of its columns; None where there is none."""
        if is_postgres(transaction):
            return next(self._named(self._cursor(transaction, values).fetchmany(1), self._postgres), None)
        return next(self.rows(transaction, values), None)

    def rows(self, transaction: Connection, values: Values) -> Iterator[Any]:
        """The rows, with the names of their columns. They are read as they are asked for: what is not asked for costs
        nothing."""
        if is_postgres(transaction):
            cursor = self._cursor(transaction, values, server_side=True)
            yield from self._named(iter(cursor.fetchone, None), self._postgres)
            return
        found = driver_of(transaction).execute(self._sqlite.sql, self._sqlite.encoded(values))
        try:
            yield from self._named(found, self._sqlite)
        finally:
            found.close()

    def plain_rows(self, transaction: Connection, values: Values) -> Iterator[tuple[Any, ...]]:
        """As `rows`, as the driver gives them: without names, which take longer than all else of a row, and without the
        way from what the columns store to what they hold."""
        if is_postgres(transaction):
            return iter(self._cursor(transaction, values, server_side=True).fetchone, None)
        return iter(driver_of(transaction).execute(self._sqlite.sql, self._sqlite.encoded(values)))

    def _cursor(self, transaction: Connection, values: Values, *, server_side: bool = False) -> Any:
        """A cursor of PostgreSQL's driver that has run the statement. One on the `server_side` takes the rows from
        there as they are asked for, and is gone with the transaction."""
        adapted: Any = transaction.connection.dbapi_connection
        cursor = adapted.cursor(server_side=server_side)
        cursor.execute(self._postgres.sql, self._postgres.placed(values))
        return cursor

    def _named(self, found: Iterable[Any], form: _Compiled) -> Iterator[Any]:
        if not form.decoders:
            yield from map(self._row._make, found)
            return
        for row in found:
            decoded = list(row)
            for place, decode in form.decoders:
                decoded[place] = decode(decoded[place])
            yield self._row._make(decoded)


def _present(found: Iterator[tuple[Any, Callable[[Any], Any] | None]]) -> list[tuple[Any, Callable[[Any], Any]]]:
    return [(key, function) for key, function in found if function is not None]
