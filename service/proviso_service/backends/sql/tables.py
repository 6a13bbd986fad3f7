"""The tables, but those of conversations. Each row has its tenant, and foreign keys include it, so that a row cannot
belong to one of another tenant. Only what is made from the operator's catalog belongs to none."""

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    false,
    text,
)

from proviso_service.backends.sql.column_types import BIG, NAME, TEXT, Encoded, UtcDateTime, enumerated
from proviso_service.backends.sql.partial_indexes import partial_index
from proviso_service.erasure import DeletionKind
from proviso_service.errors import FailureCause
from proviso_service.matters import DocumentStatus
from proviso_service.reading import Heading, PageSpan

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# Conditions of partial indexes. Queries repeat them literally: with bound values the planner would not recognise that
# it can use the index.
DELETED = text("deleted")
UNFINISHED = text("status IN ('pending', 'processing')")
WITH_REQUEST_ID = text("request_id != ''")
INCOMPLETE = text("complete_time IS NULL")


def tenant() -> Column[str]:
    """The column that begins the key of every table."""
    return Column("tenant", NAME, nullable=False)


matters = Table(
    "matters",
    metadata,
    tenant(),
    Column("matter_id", NAME, nullable=False),
    Column("name", NAME, nullable=False),
    Column("create_time", UtcDateTime, nullable=False),
    Column("index_version", Integer, nullable=False),
    Column("deleted", Boolean, nullable=False, server_default=false()),
    Column("notes", TEXT, nullable=False, server_default=""),
    Column("update_time", UtcDateTime),
    Column("request_user", NAME, nullable=False, server_default=""),
    Column("request_id", NAME, nullable=False, server_default=""),
    Column("payload_sha256", NAME, nullable=False, server_default=""),
    Column("hold_user", NAME, nullable=False, server_default=""),
    Column("hold_reason", TEXT, nullable=False, server_default=""),
    Column("hold_time", UtcDateTime),
    PrimaryKeyConstraint("tenant", "matter_id"),
    Index(None, "tenant", "create_time", "matter_id"),
    Index(None, "tenant", "name"),
    partial_index("ix_matters_deleted", "tenant", "matter_id", where=DELETED),
    partial_index(
        "uq_matters_request",
        "tenant",
        "request_user",
        "request_id",
        unique=True,
        where=WITH_REQUEST_ID,
    ),
)
"""A matter that is marked `deleted` is invisible to callers. Its documents are then removed in several transactions,
and at last its row. `update_time` is empty until its name or notes are changed. `request_user`, `request_id` and
`payload_sha256` are the RetryKey of the call that made it; a deleted one has no request_id.
`hold_time` is empty where there is no legal hold."""

matter_members = Table(
    "matter_members",
    metadata,
    tenant(),
    Column("matter_id", NAME, nullable=False),
    Column("user_id", NAME, nullable=False),
    Column("role", Integer, nullable=False),
    Column("create_time", UtcDateTime, nullable=False),
    PrimaryKeyConstraint("tenant", "matter_id", "user_id"),
    ForeignKeyConstraint(["tenant", "matter_id"], ["matters.tenant", "matters.matter_id"], ondelete="CASCADE"),
    Index(None, "tenant", "user_id", "matter_id"),
)
"""Who may do what in a matter; `role` is the number of a MatterRole."""

api_keys = Table(
    "api_keys",
    metadata,
    tenant(),
    Column("key_id", NAME, nullable=False),
    Column("name", NAME, nullable=False),
    Column("roles", NAME, nullable=False),
    Column("matters", TEXT),
    Column("digest", LargeBinary, nullable=False),
    Column("create_time", UtcDateTime, nullable=False),
    Column("expire_time", UtcDateTime),
    Column("revoke_time", UtcDateTime),
    Column("last_use_time", UtcDateTime),
    PrimaryKeyConstraint("key_id"),
)
"""API keys (see access.ApiKey). `roles` and `matters` have blanks between their values; `matters` is empty where the
key opens all matters."""

documents = Table(
    "documents",
    metadata,
    tenant(),
    Column("document_id", NAME, nullable=False),
    Column("matter_id", NAME, nullable=False),
    Column("filename", NAME, nullable=False),
    Column("filename_folded", NAME, nullable=False),
    Column("media_type", NAME, nullable=False),
    Column("size_bytes", BIG, nullable=False),
    Column("sha256", NAME, nullable=False),
    Column("status", enumerated(DocumentStatus), nullable=False),
    Column("failure_reason", NAME, nullable=False),
    Column("character_count", Integer, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("page_count", Integer, nullable=False),
    Column("upload_time", UtcDateTime, nullable=False),
    Column("replaces_document_id", NAME, nullable=False),
    Column("failure_cause", enumerated(FailureCause)),
    Column("language", NAME, nullable=False, server_default=""),
    PrimaryKeyConstraint("tenant", "document_id"),
    UniqueConstraint("tenant", "matter_id", "sha256"),
    ForeignKeyConstraint(["tenant", "matter_id"], ["matters.tenant", "matters.matter_id"], ondelete="CASCADE"),
    Index(None, "tenant", "matter_id", "upload_time", "document_id"),
    Index(None, "tenant", "matter_id", "filename_folded"),
    Index(None, "tenant", "matter_id", "status"),
    partial_index(
        "ix_documents_unfinished",
        "upload_time",
        where=UNFINISHED,
    ),
)


leftovers = Table(
    "leftovers",
    metadata,
    tenant(),
    Column("document_id", NAME, nullable=False),
    Column("matter_id", NAME, nullable=False),
    Column("uploading", Boolean, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id"),
)
"""Documents that have no row, while their bytes or vectors may exist: they are being uploaded, or were deleted. After a
process was killed, the next one finds here what it has to remove."""


def _of_document() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", "document_id"], ["documents.tenant", "documents.document_id"], ondelete="CASCADE"
    )


claims = Table(
    "claims",
    metadata,
    tenant(),
    Column("document_id", NAME, nullable=False),
    Column("owner", NAME, nullable=False),
    Column("lease_expire_time", UtcDateTime, nullable=False),
    Column("losses", Integer, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id"),
    _of_document(),
)
"""Which process is at work on which unfinished document (see matters.Claim). `owner` is empty where none is."""

embedding_batches = Table(
    "embedding_batches",
    metadata,
    tenant(),
    Column("document_id", NAME, nullable=False),
    Column("number", Integer, nullable=False),
    Column("texts", LargeBinary, nullable=False),
    Column("vectors", LargeBinary),
    Column("owner", NAME, nullable=False),
    Column("lease_expire_time", UtcDateTime, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id", "number"),
    _of_document(),
)
"""Texts of a large document under way, as compressed JSON, which processes embed together (see matters.EmbeddingBatch).
`vectors` are little-endian float32, empty until they are made. The rows go when the document comes to its end."""

outlines = Table(
    "outlines",
    metadata,
    tenant(),
    Column("document_id", NAME, nullable=False),
    Column("headings", Encoded(tuple[Heading, ...]), nullable=False),
    Column("pages", Encoded(tuple[PageSpan, ...]), nullable=False),
    PrimaryKeyConstraint("tenant", "document_id"),
    _of_document(),
)
"""The headings and pages of each document's text."""

page_words = Table(
    "page_words",
    metadata,
    tenant(),
    Column("document_id", NAME, nullable=False),
    Column("number", Integer, nullable=False),
    Column("width", Float, nullable=False),
    Column("height", Float, nullable=False),
    Column("words", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id", "number"),
    _of_document(),
)
"""The pages of PDFs as they are shown, in points, with `words` as contents.compressed makes them. Documents that were
ingested before this table existed have none."""

segments = Table(
    "segments",
    metadata,
    tenant(),
    Column("document_id", NAME, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("text", TEXT, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id", "ordinal"),
    _of_document(),
)
"""Each document's text in pieces of equal length (contents.SEGMENT_CHARS), so that a range can be read without the
rest."""

chunks = Table(
    "chunks",
    metadata,
    tenant(),
    Column("chunk_id", NAME, nullable=False),
    Column("document_id", NAME, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("start_offset", Integer, nullable=False),
    Column("end_offset", Integer, nullable=False),
    Column("page", Integer, nullable=False),
    Column("section_path", Encoded(tuple[str, ...]), nullable=False),
    Column("clause_numbers", Encoded(tuple[str, ...]), nullable=False, server_default="[]"),
    Column("content_sha256", NAME, nullable=False),
    Column("text", TEXT, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id", "ordinal"),
    UniqueConstraint("tenant", "chunk_id"),
    _of_document(),
    Index(None, "tenant", "content_sha256"),
)
"""The chunks of documents, which are numbered from 0 by `ordinal`."""

packed_documents = Table(
    "packed_documents",
    metadata,
    tenant(),
    Column("document_id", NAME, nullable=False),
    Column("matter_id", NAME, nullable=False),
    Column("words", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id"),
    _of_document(),
)
"""The words of each READY document as a search needs them, as PackedWords.packed makes them."""

document_vectors = Table(
    "document_vectors",
    metadata,
    tenant(),
    Column("document_id", NAME, nullable=False),
    Column("model_id", NAME, nullable=False),
    Column("vectors", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id", "model_id"),
    _of_document(),
)
"""The vectors of the chunks of each READY document, in order, as little-endian float32, by the model that made them.
They are the only vectors that are kept. A document without chunks has none."""

passage_words = Table(
    "passage_words",
    metadata,
    tenant(),
    Column("document_id", NAME, nullable=False),
    Column("words_id", NAME, nullable=False),
    Column("words", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id"),
    _of_document(),
)
"""What a classifier has read in the passages of each READY document, as PassageWords.packed makes it; `words_id` says
how it was read. A document has none before its first query where another classifier was in use when it came in."""

statement_scores = Table(
    "statement_scores",
    metadata,
    Column("row_id", BIG, nullable=False),
    tenant(),
    Column("document_id", NAME, nullable=False),
    Column("model_id", NAME, nullable=False),
    Column("statement_sha256", LargeBinary, nullable=False),
    Column("scored", Integer, nullable=False),
    Column("scores", LargeBinary, nullable=False),
    PrimaryKeyConstraint("row_id"),
    UniqueConstraint("tenant", "document_id", "model_id", "statement_sha256"),
    _of_document(),
    Index(None, "tenant", "model_id", "statement_sha256", "document_id"),
)
"""A classifier's scores of one statement on the chunks of one document, as little-endian float32 by the ordinal of the
chunk. Chunks without a score yet are NaN; `scored` counts the others. A larger `row_id` means a later row."""

deletions = Table(
    "deletions",
    metadata,
    tenant(),
    Column("deletion_id", NAME, nullable=False),
    Column("kind", enumerated(DeletionKind), nullable=False),
    *(Column(name, NAME, nullable=False) for name in ("user_id", "matter_id", "resource_id")),
    Column("request_time", UtcDateTime, nullable=False),
    Column("complete_time", UtcDateTime),
    *(
        Column(name, BIG, nullable=False, server_default="0")
        for name in ("documents", "turns", "messages", "size_bytes")
    ),
    PrimaryKeyConstraint("tenant", "deletion_id"),
    Index(None, "tenant", "request_time", "deletion_id"),
    partial_index("ix_deletions_incomplete", "tenant", "matter_id", where=INCOMPLETE),
)
"""What was deleted, and its receipts (see erasure.Deletion)."""


audit_events = Table(
    "audit_events",
    metadata,
    tenant(),
    Column("sequence", BIG, nullable=False),
    *(
        Column(name, NAME, nullable=False)
        for name in ("time", "user_id", "key", "method", "action", "resource", "resource_id", "matter_id", "outcome")
    ),
    *(Column(name, NAME, nullable=False) for name in ("peer", "request_id", "previous_hash", "hash")),
    PrimaryKeyConstraint("tenant", "sequence"),
    Index(None, "tenant", "matter_id", "sequence"),
)
"""The audit. All values are kept as they were hashed. Triggers refuse every change but a new event at the end; no key
refers to a matter, because the events of a matter outlive it."""

catalog_vectors = Table(
    "catalog_vectors",
    metadata,
    Column("row_id", BIG, nullable=False),
    Column("model_id", NAME, nullable=False),
    Column("content_sha256", NAME, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    PrimaryKeyConstraint("row_id"),
    UniqueConstraint("model_id", "content_sha256"),
)
"""The vectors of what the catalog's items say, as little-endian float32. A larger `row_id` means a later row."""


CURRENT_REVISION = "0020"
"""The revision of the newest migration in `migrations/versions`."""


class UnknownSchema(Exception):
    """The state was written by a newer version of the service."""

    def __init__(self) -> None:
        super().__init__("The state was written by a newer version of the service; start that version")
