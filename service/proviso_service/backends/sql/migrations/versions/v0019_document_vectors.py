"""Vectors by the model that made them, so that those of two models can stand side by side."""

import sqlalchemy as sa
from alembic.operations import Operations

from proviso_service.backends.sql.column_types import NAME
from proviso_service.backends.sql.guards import wall_of

revision = "0019"
down_revision = "0018"


def upgrade(op: Operations) -> None:
    op.create_table(
        "document_vectors",
        *(sa.Column(name, NAME, nullable=False) for name in ("tenant", "document_id", "model_id")),
        sa.Column("vectors", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "document_id", "model_id", name="pk_document_vectors"),
        sa.ForeignKeyConstraint(
            ["tenant", "document_id"],
            ["documents.tenant", "documents.document_id"],
            name="fk_document_vectors_documents",
            ondelete="CASCADE",
        ),
    )
    op.execute(
        "INSERT INTO document_vectors SELECT tenant, document_id, model_id, vectors FROM packed_documents "
        "WHERE length(vectors) > 0"
    )
    op.drop_column("packed_documents", "model_id")
    op.drop_column("packed_documents", "vectors")
    op.drop_index("ix_chunks_tenant_model_id_content_sha256", "chunks")
    op.drop_column("chunks", "model_id")
    op.create_index("ix_chunks_tenant_content_sha256", "chunks", ["tenant", "content_sha256"])
    if op.get_bind().dialect.name == "postgresql":
        for statement in wall_of("document_vectors"):
            op.execute(statement)
