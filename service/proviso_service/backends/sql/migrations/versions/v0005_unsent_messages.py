"""Adds to messages whether the model was never sent them."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.add_column("messages", sa.Column("unsent", sa.Boolean(), nullable=False, server_default=sa.false()))
