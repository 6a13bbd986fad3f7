"""Whether the schema of a state is the current one. A new state gets it at once, without its history."""

from sqlalchemy import Connection, inspect, text

from proviso_service.backends.sql import tables
from proviso_service.backends.sql.conversation_tables import turns
from proviso_service.backends.sql.guards import guard

METADATA = turns.metadata
"""All tables: those of conversations and the others."""

guard(METADATA, tables.audit_events)

_VERSION = (
    "CREATE TABLE alembic_version"
    " (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def is_current(connection: Connection) -> bool:
    """Whether the schema is the current one."""
    if not inspect(connection).has_table("alembic_version"):
        return False
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == tables.CURRENT_REVISION


def make_current(connection: Connection) -> bool:
    """Makes all tables in a state that has none. Returns whether the schema is now the current one; if not, migrations
    have to be applied. Tests compare what is made here with what the migrations make, which takes much longer."""
    if not inspect(connection).get_table_names():
        METADATA.create_all(connection, checkfirst=False)
        connection.execute(text(_VERSION))
        connection.execute(text("INSERT INTO alembic_version VALUES (:number)"), {"number": tables.CURRENT_REVISION})
    return is_current(connection)


def bring_up_to_date(connection: Connection) -> None:
    """Makes the tables or applies the missing migrations. Raises UnknownSchema when newer code wrote the state."""
    if not make_current(connection):
        from proviso_service.backends.sql.migrations import upgrade

        upgrade(connection)
