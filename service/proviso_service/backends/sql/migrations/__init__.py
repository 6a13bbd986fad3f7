"""The migrations of the schema, one file in `versions/` for each, applied by Alembic.

A migration is a function `upgrade(op)`. It is given its operations as an argument, because Alembic's own global `op`
allows one migration at a time in a process. A migration is never edited once it is released. Tests check that all
migrations together make the tables of `tables.metadata`.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from proviso_service.backends.sql.tables import UnknownSchema


def upgrade(connection: Connection) -> None:
    """Applies the missing migrations inside the connection's transaction. Raises UnknownSchema."""
    scripts = ScriptDirectory(str(Path(__file__).parent))

    def missing(current: Any, _context: MigrationContext) -> Iterable[Any]:
        return scripts._upgrade_revs("head", current)  # as alembic.command does

    context = MigrationContext.configure(connection, opts={"fn": missing})
    try:
        context.run_migrations(op=Operations(context))
    except CommandError as error:
        raise UnknownSchema from error
