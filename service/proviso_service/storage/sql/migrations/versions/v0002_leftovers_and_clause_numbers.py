"""Leftovers of uploads and deletions, the clause numbers of chunks, and a full-text index that knows them."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.create_table(
        "leftovers",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("matter_id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "document_id", name="pk_leftovers"),
    )
    op.add_column("chunks", sa.Column("clause_numbers", sa.Text(), nullable=False, server_default="[]"))
