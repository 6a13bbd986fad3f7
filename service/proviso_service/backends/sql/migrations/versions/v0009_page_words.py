"""Creates the table of the words of pages."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.create_table(
        "page_words",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("width", sa.Float(), nullable=False),
        sa.Column("height", sa.Float(), nullable=False),
        sa.Column("words", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "document_id", "number", name="pk_page_words"),
        sa.ForeignKeyConstraint(
            ["tenant", "document_id"],
            ["documents.tenant", "documents.document_id"],
            name="fk_page_words_documents",
            ondelete="CASCADE",
        ),
    )
