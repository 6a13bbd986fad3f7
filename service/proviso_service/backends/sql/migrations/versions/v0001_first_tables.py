"""Creates the tables of matters, documents and their contents, sessions and turns."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade(op: Operations) -> None:
    _matters(op)
    _documents(op)
    _contents(op)
    _chunks(op)
    _sessions(op)
    _turns(op)


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _name(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=False)


def _choice(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(32), nullable=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _moment(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _of_document(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["tenant", "document_id"],
        ["documents.tenant", "documents.document_id"],
        name=f"fk_{table}_documents",
        ondelete="CASCADE",
    )


def _partial(op: Operations, name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def _matters(op: Operations) -> None:
    op.create_table(
        "matters",
        _name("tenant"),
        _name("matter_id"),
        _name("name"),
        _moment("create_time"),
        _number("index_version"),
        sa.PrimaryKeyConstraint("tenant", "matter_id", name="pk_matters"),
    )
    op.create_index("ix_matters_tenant_create_time_matter_id", "matters", ["tenant", "create_time", "matter_id"])
    op.create_index("ix_matters_tenant_name", "matters", ["tenant", "name"])


def _documents(op: Operations) -> None:
    op.create_table(
        "documents",
        _name("tenant"),
        _name("document_id"),
        _name("matter_id"),
        _name("filename"),
        _name("filename_folded"),
        _name("media_type"),
        _number("size_bytes"),
        _name("sha256"),
        _choice("status"),
        _name("failure_reason"),
        _number("character_count"),
        _number("chunk_count"),
        _number("page_count"),
        _moment("upload_time"),
        _name("replaces_document_id"),
        sa.PrimaryKeyConstraint("tenant", "document_id", name="pk_documents"),
        sa.UniqueConstraint("tenant", "matter_id", "sha256", name="uq_documents_tenant_matter_id_sha256"),
        sa.ForeignKeyConstraint(
            ["tenant", "matter_id"],
            ["matters.tenant", "matters.matter_id"],
            name="fk_documents_matters",
            ondelete="CASCADE",
        ),
    )
    for last in (["upload_time", "document_id"], ["filename_folded"], ["status"]):
        columns = ["tenant", "matter_id", *last]
        op.create_index("ix_documents_" + "_".join(columns), "documents", columns)
    _partial(op, "ix_documents_unfinished", "documents", ["upload_time"], "status IN ('pending', 'processing')")


def _contents(op: Operations) -> None:
    op.create_table(
        "outlines",
        _name("tenant"),
        _name("document_id"),
        _text("headings"),
        _text("pages"),
        sa.PrimaryKeyConstraint("tenant", "document_id", name="pk_outlines"),
        _of_document("outlines"),
    )
    op.create_table(
        "segments",
        _name("tenant"),
        _name("document_id"),
        _number("ordinal"),
        _text("text"),
        sa.PrimaryKeyConstraint("tenant", "document_id", "ordinal", name="pk_segments"),
        _of_document("segments"),
    )
    op.create_table(
        "embeddings",
        _name("tenant"),
        _name("model_id"),
        _name("content_sha256"),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "model_id", "content_sha256", name="pk_embeddings"),
    )


def _chunks(op: Operations) -> None:
    op.create_table(
        "chunks",
        _number("row_id"),
        _name("tenant"),
        _name("chunk_id"),
        _name("document_id"),
        _number("ordinal"),
        _number("start_offset"),
        _number("end_offset"),
        _number("page"),
        _text("section_path"),
        _name("model_id"),
        _name("content_sha256"),
        _text("text"),
        sa.PrimaryKeyConstraint("row_id", name="pk_chunks"),
        sa.UniqueConstraint("tenant", "chunk_id", name="uq_chunks_tenant_chunk_id"),
        sa.UniqueConstraint("tenant", "document_id", "ordinal", name="uq_chunks_tenant_document_id_ordinal"),
        _of_document("chunks"),
        sa.ForeignKeyConstraint(
            ["tenant", "model_id", "content_sha256"],
            ["embeddings.tenant", "embeddings.model_id", "embeddings.content_sha256"],
            name="fk_chunks_embeddings",
            deferrable=True,
            initially="DEFERRED",
        ),
    )
    op.create_index("ix_chunks_tenant_model_id_content_sha256", "chunks", ["tenant", "model_id", "content_sha256"])


def _sessions(op: Operations) -> None:
    op.create_table(
        "sessions",
        _name("tenant"),
        _name("session_key"),
        _name("user_id"),
        _name("session_id"),
        _text("items"),
        _text("matter_context", nullable=True),
        _number("message_count"),
        _moment("create_time"),
        _moment("update_time"),
        sa.PrimaryKeyConstraint("tenant", "session_key", name="pk_sessions"),
        sa.UniqueConstraint("tenant", "user_id", "session_id", name="uq_sessions_tenant_user_id_session_id"),
    )
    columns = ["tenant", "user_id", "create_time", "session_key"]
    op.create_index("ix_sessions_" + "_".join(columns), "sessions", columns)
    op.create_table(
        "messages",
        _name("tenant"),
        _name("session_key"),
        _number("position"),
        _name("message_id"),
        _name("turn_id"),
        _choice("role"),
        _moment("create_time"),
        _number("character_count"),
        _text("content"),
        _text("request_context", nullable=True),
        sa.PrimaryKeyConstraint("tenant", "session_key", "position", name="pk_messages"),
        sa.ForeignKeyConstraint(
            ["tenant", "session_key"],
            ["sessions.tenant", "sessions.session_key"],
            name="fk_messages_sessions",
            ondelete="CASCADE",
        ),
    )


def _turns(op: Operations) -> None:
    op.create_table(
        "turns",
        _name("tenant"),
        _name("turn_id"),
        _name("user_id"),
        _name("session_id"),
        _name("request_id"),
        _name("payload_sha256"),
        _choice("state"),
        _name("owner"),
        _moment("lease_expire_time"),
        _number("last_sequence"),
        _moment("create_time"),
        _moment("end_time", nullable=True),
        _text("final_state", nullable=True),
        sa.PrimaryKeyConstraint("tenant", "turn_id", name="pk_turns"),
    )
    op.create_index("ix_turns_tenant_user_id_session_id", "turns", ["tenant", "user_id", "session_id"])
    _partial(op, "uq_turns_request", "turns", ["tenant", "user_id", "request_id"], "request_id != ''", unique=True)
    _partial(
        op,
        "uq_turns_open_session",
        "turns",
        ["tenant", "user_id", "session_id"],
        "session_id != '' AND state != 'ended'",
        unique=True,
    )
    _partial(op, "ix_turns_running", "turns", ["lease_expire_time"], "state = 'running'")
