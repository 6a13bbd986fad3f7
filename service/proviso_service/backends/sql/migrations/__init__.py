"""The schema's history: one file in `versions/` for each step, applied by Alembic.

A step is `upgrade(op)`. It gets its operations as an argument, because Alembic's own global `op` belongs to one
migration at a time in a process. A step is never edited once released; tests hold the sum of the steps to
`tables.metadata`.
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
    """Applies the steps that are missing, inside the connection's transaction. Raises UnknownSchema."""
    scripts = ScriptDirectory(str(Path(__file__).parent))

    def missing(current: Any, _context: MigrationContext) -> Iterable[Any]:
        return scripts._upgrade_revs("head", current)  # as alembic.command does

    context = MigrationContext.configure(connection, opts={"fn": missing})
    try:
        context.run_migrations(op=Operations(context))
    except CommandError as error:
        raise UnknownSchema from error
