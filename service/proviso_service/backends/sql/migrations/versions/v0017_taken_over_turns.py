"""Turns that another process goes on with: how often one had to, and all open turns by their leases."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0017"
down_revision = "0016"


def upgrade(op: Operations) -> None:
    op.add_column("turns", sa.Column("take_overs", sa.Integer(), nullable=False, server_default="0"))
    for name in ("ix_turns_running", "ix_turns_awaiting"):
        op.drop_index(name, "turns")
    is_open = sa.text("state != 'ended'")
    op.create_index("ix_turns_open", "turns", ["lease_expire_time"], sqlite_where=is_open, postgresql_where=is_open)
