"""Lets matters have a legal hold."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.add_column("matters", sa.Column("hold_user", sa.String(), nullable=False, server_default=""))
    op.add_column("matters", sa.Column("hold_reason", sa.Text(), nullable=False, server_default=""))
    op.add_column("matters", sa.Column("hold_time", sa.DateTime(timezone=True)))
