"""The tables of conversations: sessions, their messages, and turns."""

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    false,
    text,
)

from proviso_service.backends.sql.column_types import NAME, TEXT, Encoded, UtcDateTime, enumerated
from proviso_service.backends.sql.partial_indexes import partial_index
from proviso_service.backends.sql.tables import WITH_REQUEST_ID, metadata, tenant
from proviso_service.context.model import ApprovedTool, MatterContext, RequestContext, SessionItem
from proviso_service.language import ENGLISH
from proviso_service.turns import FinalState, MessageRole, Rating, RatingReason, TurnState, TurnSummary

# Conditions of partial indexes, as in tables.py.
OPEN = text("state != 'ended'")
AWAITING = text("state = 'awaiting_approval'")
OPEN_IN_SESSION = text("session_id != '' AND state != 'ended'")
RATED = text("rating IS NOT NULL")

sessions = Table(
    "sessions",
    metadata,
    tenant(),
    Column("session_key", NAME, nullable=False),
    Column("user_id", NAME, nullable=False),
    Column("session_id", NAME, nullable=False),
    Column("items", Encoded(tuple[SessionItem, ...]), nullable=False),
    Column("matter_context", Encoded(MatterContext)),
    Column("message_count", Integer, nullable=False),
    Column("create_time", UtcDateTime, nullable=False),
    Column("update_time", UtcDateTime, nullable=False),
    Column("approved_tools", Encoded(tuple[ApprovedTool, ...]), nullable=False, server_default="[]"),
    Column("pending_servers", Encoded(tuple[str, ...]), nullable=False, server_default="[]"),
    Column("title", NAME, nullable=False, server_default=""),
    Column("notes", TEXT, nullable=False, server_default=""),
    Column("request_id", NAME, nullable=False, server_default=""),
    Column("payload_sha256", NAME, nullable=False, server_default=""),
    PrimaryKeyConstraint("tenant", "session_key"),
    UniqueConstraint("tenant", "user_id", "session_id"),
    Index(None, "tenant", "user_id", "create_time", "session_key"),
    partial_index(
        "uq_sessions_request",
        "tenant",
        "user_id",
        "request_id",
        unique=True,
        where=WITH_REQUEST_ID,
    ),
)
"""The sessions. `session_id` is the string that the caller chose; `session_key` is the service's own key, which is
never used again after the session is deleted."""

messages = Table(
    "messages",
    metadata,
    tenant(),
    Column("session_key", NAME, nullable=False),
    Column("position", Integer, nullable=False),
    Column("message_id", NAME, nullable=False),
    Column("turn_id", NAME, nullable=False),
    Column("role", enumerated(MessageRole), nullable=False),
    Column("create_time", UtcDateTime, nullable=False),
    Column("character_count", Integer, nullable=False),
    Column("content", TEXT, nullable=False),
    Column("request_context", Encoded(RequestContext)),
    Column("turn", Encoded(TurnSummary)),
    Column("unsent", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("tenant", "session_key", "position"),
    ForeignKeyConstraint(["tenant", "session_key"], ["sessions.tenant", "sessions.session_key"], ondelete="CASCADE"),
    Index(None, "tenant", "turn_id"),
)

item_contents = Table(
    "item_contents",
    metadata,
    tenant(),
    Column("content_sha256", NAME, nullable=False),
    Column("content", TEXT, nullable=False),
    PrimaryKeyConstraint("tenant", "content_sha256"),
)
"""The texts that request contexts name by their hash: contents of the catalog's items and the service's own
instructions. With them the payload of an earlier turn can be rebuilt. They hold nothing that a user wrote."""

turns = Table(
    "turns",
    metadata,
    tenant(),
    Column("turn_id", NAME, nullable=False),
    Column("user_id", NAME, nullable=False),
    Column("session_id", NAME, nullable=False),
    Column("request_id", NAME, nullable=False),
    Column("payload_sha256", NAME, nullable=False),
    Column("state", enumerated(TurnState), nullable=False),
    Column("owner", NAME, nullable=False),
    Column("lease_expire_time", UtcDateTime, nullable=False),
    Column("last_sequence", Integer, nullable=False),
    Column("create_time", UtcDateTime, nullable=False),
    Column("end_time", UtcDateTime),
    Column("final_state", Encoded(FinalState)),
    Column("suspended", TEXT),
    Column("language", NAME, nullable=False, server_default=ENGLISH),
    Column("rating", enumerated(Rating)),
    Column("rating_reason", enumerated(RatingReason)),
    Column("rating_text", TEXT),
    Column("rate_time", UtcDateTime),
    Column("take_overs", Integer, nullable=False, server_default="0"),
    PrimaryKeyConstraint("tenant", "turn_id"),
    partial_index(
        "uq_turns_request",
        "tenant",
        "user_id",
        "request_id",
        unique=True,
        where=WITH_REQUEST_ID,
    ),
    partial_index(
        "uq_turns_open_session",
        "tenant",
        "user_id",
        "session_id",
        unique=True,
        where=OPEN_IN_SESSION,
    ),
    Index(None, "tenant", "user_id", "session_id"),
    partial_index("ix_turns_open", "lease_expire_time", where=OPEN),
    partial_index("ix_turns_rated", "tenant", "rate_time", "turn_id", where=RATED),
)
"""The turns. A session may be created only when its first turn ends, so a turn names its session by `session_id`.
`suspended` is what another process goes on from, as JSON, until the turn has ended; `take_overs` counts how often one
had to. `language` is that of its message, for what is told of it where that cannot be read. What a person says of a
turn's answer stands with the turn: a session that goes on from another one has copies of its messages."""

turn_matters = Table(
    "turn_matters",
    metadata,
    tenant(),
    Column("turn_id", NAME, nullable=False),
    Column("matter_id", NAME, nullable=False),
    PrimaryKeyConstraint("tenant", "turn_id", "matter_id"),
    Index(None, "tenant", "matter_id"),
)
"""The matters of which a turn may know something: its own, and those of the turns before it in its session, because an
answer may repeat what they said. The rows stay as long as the turn or a message of it: sessions that go on from another
one have messages of turns that are deleted."""
