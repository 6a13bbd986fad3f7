"""All tables. Each row has its tenant, and foreign keys include it, so that a row cannot belong to one of another
tenant."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    DateTime,
    Dialect,
    Enum,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    inspect,
    text,
)

from proviso_service.context.model import ApprovedTool, MatterContext, RequestContext, SessionItem
from proviso_service.matters import DocumentStatus
from proviso_service.reading import Heading, PageSpan
from proviso_service.turns import FinalState, MessageRole, TurnState, TurnSummary


class UtcDateTime(TypeDecorator[datetime]):
    """A moment, stored and returned in UTC. Raises ValueError for one without a time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without a time zone cannot be stored")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Encoded(TypeDecorator[Any]):
    """A frozen dataclass, or a tuple of them, stored as JSON; `form` is its type. None is stored as NULL."""

    impl = Text
    cache_ok = True

    def __init__(self, form: Any) -> None:
        super().__init__()
        self.form = form
        self._adapter: TypeAdapter[Any] = TypeAdapter(form)

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else self._adapter.dump_json(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else self._adapter.validate_json(value)


def enumerated(kind: type[StrEnum]) -> Enum:
    """The type of a column that holds an enum's values as text. A new value of the enum needs no migration."""
    return Enum(kind, native_enum=False, length=32, values_callable=lambda members: [m.value for m in members])


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
RUNNING = text("state = 'running'")
AWAITING = text("state = 'awaiting_approval'")
OPEN_IN_SESSION = text("session_id != '' AND state != 'ended'")
WITH_REQUEST_ID = text("request_id != ''")


def _tenant() -> Column[str]:
    return Column("tenant", String, nullable=False)


matters = Table(
    "matters",
    metadata,
    _tenant(),
    Column("matter_id", String, nullable=False),
    Column("name", String, nullable=False),
    Column("create_time", UtcDateTime, nullable=False),
    Column("index_version", Integer, nullable=False),
    Column("deleted", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("tenant", "matter_id"),
    Index(None, "tenant", "create_time", "matter_id"),
    Index(None, "tenant", "name"),
    Index("ix_matters_deleted", "tenant", "matter_id", sqlite_where=DELETED, postgresql_where=DELETED),
)
"""A matter that is marked `deleted` is invisible to callers. Its documents are then removed in several transactions,
and at last its row."""

documents = Table(
    "documents",
    metadata,
    _tenant(),
    Column("document_id", String, nullable=False),
    Column("matter_id", String, nullable=False),
    Column("filename", String, nullable=False),
    Column("filename_folded", String, nullable=False),
    Column("media_type", String, nullable=False),
    Column("size_bytes", Integer, nullable=False),
    Column("sha256", String, nullable=False),
    Column("status", enumerated(DocumentStatus), nullable=False),
    Column("failure_reason", String, nullable=False),
    Column("character_count", Integer, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("page_count", Integer, nullable=False),
    Column("upload_time", UtcDateTime, nullable=False),
    Column("replaces_document_id", String, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id"),
    UniqueConstraint("tenant", "matter_id", "sha256"),
    ForeignKeyConstraint(["tenant", "matter_id"], ["matters.tenant", "matters.matter_id"], ondelete="CASCADE"),
    Index(None, "tenant", "matter_id", "upload_time", "document_id"),
    Index(None, "tenant", "matter_id", "filename_folded"),
    Index(None, "tenant", "matter_id", "status"),
    Index(
        "ix_documents_unfinished",
        "upload_time",
        sqlite_where=UNFINISHED,
        postgresql_where=UNFINISHED,
    ),
)


leftovers = Table(
    "leftovers",
    metadata,
    _tenant(),
    Column("document_id", String, nullable=False),
    Column("matter_id", String, nullable=False),
    Column("uploading", Boolean, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id"),
)
"""Documents that have no row, while their bytes or vectors may exist: they are being uploaded, or were deleted. After a
process was killed, the next one finds here what it has to remove."""


def _of_document() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", "document_id"], ["documents.tenant", "documents.document_id"], ondelete="CASCADE"
    )


outlines = Table(
    "outlines",
    metadata,
    _tenant(),
    Column("document_id", String, nullable=False),
    Column("headings", Encoded(tuple[Heading, ...]), nullable=False),
    Column("pages", Encoded(tuple[PageSpan, ...]), nullable=False),
    PrimaryKeyConstraint("tenant", "document_id"),
    _of_document(),
)
"""The headings and pages of each document's text."""

segments = Table(
    "segments",
    metadata,
    _tenant(),
    Column("document_id", String, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("text", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "document_id", "ordinal"),
    _of_document(),
)
"""Each document's text in pieces of equal length (contents.SEGMENT_CHARS), so that a range can be read without the
rest."""

embeddings = Table(
    "embeddings",
    metadata,
    _tenant(),
    Column("model_id", String, nullable=False),
    Column("content_sha256", String, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant", "model_id", "content_sha256"),
)
"""One vector, as little-endian float32, for each distinct text of a tenant's chunks."""

chunks = Table(
    "chunks",
    metadata,
    Column("row_id", Integer, nullable=False),
    _tenant(),
    Column("chunk_id", String, nullable=False),
    Column("document_id", String, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("start_offset", Integer, nullable=False),
    Column("end_offset", Integer, nullable=False),
    Column("page", Integer, nullable=False),
    Column("section_path", Encoded(tuple[str, ...]), nullable=False),
    Column("clause_numbers", Encoded(tuple[str, ...]), nullable=False, server_default="[]"),
    Column("model_id", String, nullable=False),
    Column("content_sha256", String, nullable=False),
    Column("text", Text, nullable=False),
    PrimaryKeyConstraint("row_id"),
    UniqueConstraint("tenant", "chunk_id"),
    UniqueConstraint("tenant", "document_id", "ordinal"),
    _of_document(),
    ForeignKeyConstraint(
        ["tenant", "model_id", "content_sha256"],
        ["embeddings.tenant", "embeddings.model_id", "embeddings.content_sha256"],
        deferrable=True,
        initially="DEFERRED",
    ),
    Index(None, "tenant", "model_id", "content_sha256"),
)
"""The chunks of documents. `row_id` is also the id of the chunk's entry in the full-text index."""

statement_scores = Table(
    "statement_scores",
    metadata,
    Column("row_id", Integer, nullable=False),
    _tenant(),
    Column("document_id", String, nullable=False),
    Column("model_id", String, nullable=False),
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

sessions = Table(
    "sessions",
    metadata,
    _tenant(),
    Column("session_key", String, nullable=False),
    Column("user_id", String, nullable=False),
    Column("session_id", String, nullable=False),
    Column("items", Encoded(tuple[SessionItem, ...]), nullable=False),
    Column("matter_context", Encoded(MatterContext)),
    Column("message_count", Integer, nullable=False),
    Column("create_time", UtcDateTime, nullable=False),
    Column("update_time", UtcDateTime, nullable=False),
    Column("approved_tools", Encoded(tuple[ApprovedTool, ...]), nullable=False, server_default="[]"),
    Column("pending_servers", Encoded(tuple[str, ...]), nullable=False, server_default="[]"),
    PrimaryKeyConstraint("tenant", "session_key"),
    UniqueConstraint("tenant", "user_id", "session_id"),
    Index(None, "tenant", "user_id", "create_time", "session_key"),
)
"""The sessions. `session_id` is the string that the caller chose; `session_key` is the service's own key, which is
never used again after the session is deleted."""

messages = Table(
    "messages",
    metadata,
    _tenant(),
    Column("session_key", String, nullable=False),
    Column("position", Integer, nullable=False),
    Column("message_id", String, nullable=False),
    Column("turn_id", String, nullable=False),
    Column("role", enumerated(MessageRole), nullable=False),
    Column("create_time", UtcDateTime, nullable=False),
    Column("character_count", Integer, nullable=False),
    Column("content", Text, nullable=False),
    Column("request_context", Encoded(RequestContext)),
    Column("turn", Encoded(TurnSummary)),
    PrimaryKeyConstraint("tenant", "session_key", "position"),
    ForeignKeyConstraint(["tenant", "session_key"], ["sessions.tenant", "sessions.session_key"], ondelete="CASCADE"),
)

item_contents = Table(
    "item_contents",
    metadata,
    _tenant(),
    Column("content_sha256", String, nullable=False),
    Column("content", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "content_sha256"),
)
"""The texts that request contexts name by their hash: contents of the catalog's items and the service's own
instructions. With them the payload of an earlier turn can be rebuilt. They hold nothing that a user wrote."""

turns = Table(
    "turns",
    metadata,
    _tenant(),
    Column("turn_id", String, nullable=False),
    Column("user_id", String, nullable=False),
    Column("session_id", String, nullable=False),
    Column("request_id", String, nullable=False),
    Column("payload_sha256", String, nullable=False),
    Column("state", enumerated(TurnState), nullable=False),
    Column("owner", String, nullable=False),
    Column("lease_expire_time", UtcDateTime, nullable=False),
    Column("last_sequence", Integer, nullable=False),
    Column("create_time", UtcDateTime, nullable=False),
    Column("end_time", UtcDateTime),
    Column("final_state", Encoded(FinalState)),
    Column("suspended", Text),
    PrimaryKeyConstraint("tenant", "turn_id"),
    Index(
        "uq_turns_request",
        "tenant",
        "user_id",
        "request_id",
        unique=True,
        sqlite_where=WITH_REQUEST_ID,
        postgresql_where=WITH_REQUEST_ID,
    ),
    Index(
        "uq_turns_open_session",
        "tenant",
        "user_id",
        "session_id",
        unique=True,
        sqlite_where=OPEN_IN_SESSION,
        postgresql_where=OPEN_IN_SESSION,
    ),
    Index(None, "tenant", "user_id", "session_id"),
    Index(
        "ix_turns_running",
        "lease_expire_time",
        sqlite_where=RUNNING,
        postgresql_where=RUNNING,
    ),
    Index(
        "ix_turns_awaiting",
        "owner",
        sqlite_where=AWAITING,
        postgresql_where=AWAITING,
    ),
)
"""The turns. A session may be created only when its first turn ends, so a turn names its session by `session_id`.
`suspended` is the state, as JSON, from which a turn that awaits an approval is resumed."""


CURRENT_REVISION = "0004"
"""The revision of the newest migration in `migrations/versions`."""


class UnknownSchema(Exception):
    """The state was written by a newer version of the service."""

    def __init__(self) -> None:
        super().__init__("The state was written by a newer version of the service; start that version")


def is_current(connection: Connection) -> bool:
    """Whether every migration has been applied."""
    if not inspect(connection).has_table("alembic_version"):
        return False
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == CURRENT_REVISION
