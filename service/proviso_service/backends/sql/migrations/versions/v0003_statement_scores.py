"""Creates the table of scores of statements on documents."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    op.create_table(
        "statement_scores",
        sa.Column("row_id", sa.Integer(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("model_id", sa.String(), nullable=False),
        sa.Column("statement_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("scored", sa.Integer(), nullable=False),
        sa.Column("scores", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("row_id", name="pk_statement_scores"),
        sa.UniqueConstraint(
            "tenant",
            "document_id",
            "model_id",
            "statement_sha256",
            name="uq_statement_scores_tenant_document_id_model_id_statement_sha256",
        ),
        sa.ForeignKeyConstraint(
            ["tenant", "document_id"],
            ["documents.tenant", "documents.document_id"],
            name="fk_statement_scores_documents",
            ondelete="CASCADE",
        ),
    )
    op.create_index(
        "ix_statement_scores_tenant_model_id_statement_sha256_document_id",
        "statement_scores",
        ["tenant", "model_id", "statement_sha256", "document_id"],
    )
