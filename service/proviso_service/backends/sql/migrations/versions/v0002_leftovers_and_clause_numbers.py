"""Adds leftovers of uploads and deletions, the mark of matters that are being deleted, and the clause numbers of
chunks, and rebuilds the full-text index with these numbers."""

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
    _rebuild_full_text(op)


def _rebuild_full_text(op: Operations) -> None:
    op.execute("DROP TABLE chunk_words")
    op.execute(
        "CREATE VIRTUAL TABLE chunk_words USING fts5"
        "(scope, clauses, body, content='', tokenize='porter unicode61 remove_diacritics 2')"
    )
    # The words that stand for the matter and for clauses only select rows: their weight in the ranking is 0.
    op.execute("INSERT INTO chunk_words (chunk_words, rank) VALUES ('rank', 'bm25(0.0, 0.0, 1.0)')")
    op.execute(
        "INSERT INTO chunk_words (rowid, scope, clauses, body)"
        " SELECT row_id, scope_word(tenant, matter_id), clause_words(clause_numbers), searchable(text)"
        " FROM chunks JOIN documents USING (tenant, document_id) ORDER BY row_id"
    )
