"""Adds names and notes that can be changed, the ids of requests that made matters and sessions, and ratings of
answers."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.add_column("matters", _text("notes", sa.Text()))
    op.add_column("matters", sa.Column("update_time", sa.DateTime(timezone=True)))
    op.add_column("sessions", _text("title", sa.String()))
    op.add_column("sessions", _text("notes", sa.Text()))
    op.add_column("matters", _text("request_user", sa.String()))
    for table in ("matters", "sessions"):
        op.add_column(table, _text("request_id", sa.String()))
        op.add_column(table, _text("payload_sha256", sa.String()))
    op.add_column("turns", sa.Column("rating", sa.String(32)))
    op.add_column("turns", sa.Column("rating_reason", sa.String(32)))
    op.add_column("turns", sa.Column("rating_text", sa.Text()))
    op.add_column("turns", sa.Column("rate_time", sa.DateTime(timezone=True)))
    _add_indexes(op)


def _add_indexes(op: Operations) -> None:
    for table, user in (("matters", "request_user"), ("sessions", "user_id")):
        given = sa.text("request_id != ''")
        columns = ["tenant", user, "request_id"]
        op.create_index(f"uq_{table}_request", table, columns, unique=True, sqlite_where=given, postgresql_where=given)
    rated = sa.text("rating IS NOT NULL")
    op.create_index("ix_turns_rated", "turns", ["rate_time", "turn_id"], sqlite_where=rated, postgresql_where=rated)


def _text(name: str, kind: "sa.types.TypeEngine[str]") -> "sa.Column[str]":
    return sa.Column(name, kind, nullable=False, server_default="")
