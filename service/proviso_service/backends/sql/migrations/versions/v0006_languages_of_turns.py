"""Adds to turns the language of their message."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.add_column("turns", sa.Column("language", sa.String(), nullable=False, server_default="en"))
