"""Adds to documents why they have failed, for programs."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.add_column("documents", sa.Column("failure_cause", sa.String(32)))
    op.execute("UPDATE documents SET failure_cause = 'failed' WHERE status = 'failed'")
