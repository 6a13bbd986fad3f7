"""Packs what a search needs of each document into one row, and drops what it needed before: the full-text index, which
belonged to SQLite and shared its statistics among all matters, and a row for every vector."""

import json

import sqlalchemy as sa
from alembic.operations import Operations

from proviso_service.matters import PackedWords
from proviso_service.reading import Chunk

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

COLUMNS = (
    "tenant, chunk_id, document_id, ordinal, start_offset, end_offset, page, section_path, clause_numbers, model_id, "
    "content_sha256, text"
)


def upgrade(op: Operations) -> None:
    op.create_table(
        "packed_documents",
        *(sa.Column(name, sa.String(), nullable=False) for name in ("tenant", "document_id", "matter_id", "model_id")),
        *(sa.Column(name, sa.LargeBinary(), nullable=False) for name in ("words", "vectors")),
        sa.PrimaryKeyConstraint("tenant", "document_id", name="pk_packed_documents"),
        _of_document("packed_documents"),
    )
    connection = op.get_bind()
    ready = sa.text("SELECT tenant, document_id, matter_id FROM documents WHERE status = 'ready'")
    for tenant, document_id, matter_id in connection.execute(ready).all():
        _pack(connection, tenant, document_id, matter_id)
    op.execute("DROP TABLE IF EXISTS chunk_words")
    _without_row_ids(op)
    op.drop_table("embeddings")


def _pack(connection: sa.Connection, tenant: str, document_id: str, matter_id: str) -> None:
    query = sa.text(
        "SELECT text, clause_numbers, model_id, vector FROM chunks JOIN embeddings USING (tenant, model_id, "
        "content_sha256) WHERE tenant = :tenant AND document_id = :document_id ORDER BY ordinal"
    )
    rows = connection.execute(query, {"tenant": tenant, "document_id": document_id}).all()
    chunks = [
        Chunk(ordinal, 0, 0, row.text, clause_numbers=tuple(json.loads(row.clause_numbers)))
        for ordinal, row in enumerate(rows)
    ]
    statement = sa.text(
        "INSERT INTO packed_documents VALUES (:tenant, :document_id, :matter_id, :model_id, :words, :vectors)"
    )
    values = {
        "tenant": tenant,
        "document_id": document_id,
        "matter_id": matter_id,
        "model_id": rows[0].model_id if rows else "",
        "words": PackedWords.of(chunks).packed(),
        "vectors": b"".join(row.vector for row in rows),
    }
    connection.execute(statement, values)


def _without_row_ids(op: Operations) -> None:
    """Makes the table of chunks anew, without what tied it to the full-text index and to the rows of vectors."""
    names = [sa.Column(name, sa.String(), nullable=False) for name in ("tenant", "chunk_id", "document_id")]
    numbers = ("ordinal", "start_offset", "end_offset", "page")
    op.create_table(
        "chunks_without_row_ids",
        *names,
        *(sa.Column(name, sa.Integer(), nullable=False) for name in numbers),
        sa.Column("section_path", sa.Text(), nullable=False),
        sa.Column("clause_numbers", sa.Text(), nullable=False, server_default="[]"),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("model_id", "content_sha256")),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "document_id", "ordinal", name="pk_chunks"),
        sa.UniqueConstraint("tenant", "chunk_id", name="uq_chunks_tenant_chunk_id"),
        _of_document("chunks"),
    )
    op.execute(f"INSERT INTO chunks_without_row_ids ({COLUMNS}) SELECT {COLUMNS} FROM chunks")  # noqa: S608  # literals
    op.drop_table("chunks")
    op.rename_table("chunks_without_row_ids", "chunks")
    columns = ["tenant", "model_id", "content_sha256"]
    op.create_index("ix_chunks_tenant_model_id_content_sha256", "chunks", columns)


def _of_document(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["tenant", "document_id"],
        ["documents.tenant", "documents.document_id"],
        name=f"fk_{table}_documents",
        ondelete="CASCADE",
    )
