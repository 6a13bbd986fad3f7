"""The version of the schema, told without Alembic: importing that takes long, and only a change of schema needs it."""

from sqlalchemy import Connection, inspect, text

CURRENT_REVISION = "0004"
"""The newest step in `migrations/versions`."""


class UnknownSchema(Exception):
    """The state was written by a newer version of the service."""

    def __init__(self) -> None:
        super().__init__("The state was written by a newer version of the service; start that version")


def is_current(connection: Connection) -> bool:
    """Whether every step has been applied."""
    if not inspect(connection).has_table("alembic_version"):
        return False
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == CURRENT_REVISION
