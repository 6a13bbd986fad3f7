"""Adds leftovers of uploads and deletions, the mark of matters that are being deleted, and the clause numbers of
chunks."""

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
        sa.Column("uploading", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "document_id", name="pk_leftovers"),
    )
    op.add_column("chunks", sa.Column("clause_numbers", sa.Text(), nullable=False, server_default="[]"))
    op.add_column("matters", sa.Column("deleted", sa.Boolean(), nullable=False, server_default=sa.false()))
    deleted = sa.text("deleted")
    op.create_index(
        "ix_matters_deleted", "matters", ["tenant", "matter_id"], sqlite_where=deleted, postgresql_where=deleted
    )
