"""A statement of a hot path: it is compiled once, and then run by the driver itself. SQLAlchemy's way from a compiled
statement to the driver takes several times as long as SQLite does for one row."""

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Connection, Delete, Insert, Select, Update
from sqlalchemy.dialects import sqlite

_DIALECT = sqlite.dialect(paramstyle="named")

Values = Mapping[str, Any]
"""A value for each parameter of a statement, by name, as the columns' types take them."""


class Prepared:
    """A statement that is written as all others are, with `bindparam` for what differs between its runs. An INSERT has
    a parameter for each of the `columns`, or of all columns."""

    def __init__(self, statement: Insert | Update | Delete | Select[Any], columns: Sequence[str] | None = None) -> None:
        compiled = statement.compile(dialect=_DIALECT, column_keys=columns)
        self._sql = str(compiled)
        self._fixed = compiled.params
        self._encoders = _present(
            (name, bind.type.dialect_impl(_DIALECT).bind_processor(_DIALECT))
            for bind, name in compiled.bind_names.items()
        )
        returned = list(statement.exported_columns)
        self._row: Any = namedtuple("_row", [column.key for column in returned], rename=True)  # type: ignore[misc]
        self._decoders = _present(
            (place, column.type.dialect_impl(_DIALECT).result_processor(_DIALECT, None))
            for place, column in enumerate(returned)
        )

    def run(self, transaction: Connection, values: Values) -> int:
        """Runs the statement and returns how many rows it has changed."""
        return driver_of(transaction).execute(self._sql, self._encoded(values)).rowcount

    def run_each(self, transaction: Connection, rows: Sequence[Values]) -> None:
        """Runs the statement once for each of the values."""
        driver_of(transaction).executemany(self._sql, [self._encoded(values) for values in rows])

    def one(self, transaction: Connection, values: Values) -> Any:
        """The first row, with the names of its columns; None where there is none."""
        return next(self.rows(transaction, values), None)

    def rows(self, transaction: Connection, values: Values) -> Iterator[Any]:
        """The rows, with the names of their columns. They are read as they are asked for: what is not asked for costs
        nothing."""
        found = driver_of(transaction).execute(self._sql, self._encoded(values))
        try:
            for row in found:
                decoded = list(row)
                for place, decode in self._decoders:
                    decoded[place] = decode(decoded[place])
                yield self._row._make(decoded)
        finally:
            found.close()

    def _encoded(self, values: Values) -> dict[str, Any]:
        encoded = {**self._fixed, **values}
        for name, encode in self._encoders:
            encoded[name] = encode(encoded[name])
        return encoded


def _present(found: Iterator[tuple[Any, Callable[[Any], Any] | None]]) -> list[tuple[Any, Callable[[Any], Any]]]:
    return [(key, function) for key, function in found if function is not None]


def driver_of(transaction: Connection) -> sqlite3.Connection:
    """The driver's own connection, in the same transaction."""
    return cast(sqlite3.Connection, transaction.connection.dbapi_connection)
