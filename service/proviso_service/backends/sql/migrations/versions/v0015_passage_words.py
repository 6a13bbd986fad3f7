"""Keeps what a classifier has read in the passages of each document. Documents that are there already get theirs with
the first query about them."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.create_table(
        "passage_words",
        *(sa.Column(name, sa.String(), nullable=False) for name in ("tenant", "document_id", "words_id")),
        sa.Column("words", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "document_id", name="pk_passage_words"),
        sa.ForeignKeyConstraint(
            ["tenant", "document_id"],
            ["documents.tenant", "documents.document_id"],
            name="fk_passage_words_documents",
            ondelete="CASCADE",
        ),
    )
