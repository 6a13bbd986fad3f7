"""Claims: which process is at work on which document; and batches of texts that processes embed together."""

import sqlalchemy as sa
from alembic.operations import Operations

from proviso_service.backends.sql.column_types import NAME, UtcDateTime
from proviso_service.backends.sql.guards import wall_of

revision = "0018"
down_revision = "0017"


def upgrade(op: Operations) -> None:
    op.create_table(
        "claims",
        sa.Column("tenant", NAME, nullable=False),
        sa.Column("document_id", NAME, nullable=False),
        sa.Column("owner", NAME, nullable=False),
        sa.Column("lease_expire_time", UtcDateTime(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "document_id", name="pk_claims"),
        sa.ForeignKeyConstraint(
            ["tenant", "document_id"],
            ["documents.tenant", "documents.document_id"],
            name="fk_claims_documents",
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "embedding_batches",
        sa.Column("tenant", NAME, nullable=False),
        sa.Column("document_id", NAME, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("texts", sa.LargeBinary(), nullable=False),
        sa.Column("vectors", sa.LargeBinary()),
        sa.Column("owner", NAME, nullable=False),
        sa.Column("lease_expire_time", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "document_id", "number", name="pk_embedding_batches"),
        sa.ForeignKeyConstraint(
            ["tenant", "document_id"],
            ["documents.tenant", "documents.document_id"],
            name="fk_embedding_batches_documents",
            ondelete="CASCADE",
        ),
    )
    if op.get_bind().dialect.name == "postgresql":
        for statement in (*wall_of("claims"), *wall_of("embedding_batches")):
            op.execute(statement)
