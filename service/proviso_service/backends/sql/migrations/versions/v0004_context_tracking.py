"""Adds the contents of context items, the approved tools and pending servers of sessions, the summaries of turns, and
the state of turns that wait for approvals."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.create_table(
        "item_contents",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("content_sha256", sa.String(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "content_sha256", name="pk_item_contents"),
    )
    op.add_column("sessions", sa.Column("approved_tools", sa.Text(), nullable=False, server_default="[]"))
    op.add_column("sessions", sa.Column("pending_servers", sa.Text(), nullable=False, server_default="[]"))
    op.add_column("messages", sa.Column("turn", sa.Text()))
    op.add_column("turns", sa.Column("suspended", sa.Text()))
    awaiting = sa.text("state = 'awaiting_approval'")
    op.create_index("ix_turns_awaiting", "turns", ["owner"], sqlite_where=awaiting, postgresql_where=awaiting)
