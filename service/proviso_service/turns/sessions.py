"""Sessions: the conversations of a user."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from proviso_service.context.model import (
    ApprovedTool,
    ItemsChange,
    MatterContext,
    NewSession,
    RequestContext,
    SessionItem,
    with_item,
)
from proviso_service.identity import Caller
from proviso_service.paging import Page, PageRequest
from proviso_service.turns.records import TurnSummary


class MessageRole(StrEnum):
    """Who wrote a message. The model is given only what users and the assistant wrote, never error and approval
    messages."""

    USER = "user"
    SYSTEM = "system"
    ERROR = "error"
    APPROVAL = "approval"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a session. Only messages of the assistant have a `request_context`; only the message that ended a
    turn has `turn`. The id and the time are empty until the message is stored."""

    role: MessageRole
    content: str
    request_context: RequestContext | None = None
    turn_id: str = ""
    message_id: str = ""
    create_time: datetime | None = None
    turn: TurnSummary | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation. `approved_tools` need no further approval as long as they do not change. `pending_servers` had
    not listed their tools when the session was made, so that their always items are still missing."""

    session_id: str
    items: tuple[SessionItem, ...]
    matter_context: MatterContext | None
    create_time: datetime
    update_time: datetime
    running_turn_id: str = ""
    message_count: int = 0
    approved_tools: tuple[ApprovedTool, ...] = ()
    pending_servers: tuple[str, ...] = ()


class SessionStore(Protocol):
    """The sessions of a tenant's users. Every method sees only the caller's own sessions."""

    async def create(self, caller: Caller, session_id: str, new: NewSession) -> Session:
        """Makes a session. Raises SessionExists."""
        ...

    async def get(self, caller: Caller, session_id: str) -> Session:
        """One session. Raises SessionNotFound."""
        ...

    async def get_or_create(self, caller: Caller, session_id: str, new: NewSession) -> Session:
        """The session, which is made from `new` when it is unknown. A known session gets, once, the always items of the
        servers that have listed their tools since it was made (see `with_late_items`)."""
        ...

    async def list(self, caller: Caller, page: PageRequest) -> Page[Session]:
        """A page of the caller's sessions, the newest first."""
        ...

    async def delete(self, caller: Caller, session_id: str) -> None:
        """Deletes a session and its messages. Raises SessionNotFound, and SessionBusy while a turn runs in it."""
        ...

    async def change_items(self, caller: Caller, session_id: str, change: ItemsChange) -> Session:
        """Replaces the session's items by what `change` makes of them, and returns the session. Nobody else changes the
        items meanwhile. `change` is called outside the event loop; an exception that it raises passes through, and
        nothing changes. Raises SessionNotFound."""
        ...

    async def messages(self, caller: Caller, session_id: str, page: PageRequest) -> Page[ChatMessage]:
        """A page of the session's messages, the oldest first. Raises SessionNotFound."""
        ...

    async def history(self, caller: Caller, session_id: str, max_chars: int) -> tuple[ChatMessage, ...]:
        """The messages of the user and the assistant for the model, the oldest first: the newest ones, up to and
        including the first that takes their total over `max_chars` code points, so that the caller can see an overflow.
        Empty for an unknown session."""
        ...

    async def recent_contexts(self, caller: Caller, session_id: str, limit: int) -> tuple[RequestContext, ...]:
        """The request contexts of the newest messages of the assistant that have one, the newest first, at most `limit`
        of them. Raises SessionNotFound."""
        ...


def with_late_items(session: Session, new: NewSession) -> Session:
    """The session with the always items of the servers that have listed their tools since it was made, and without the
    names of these servers; the same session when there are none. `new` is what a session would be made from now: a
    server that is not pending in it has listed its tools or has left the catalog."""
    arrived = frozenset(session.pending_servers).difference(new.pending_servers)
    if not arrived:
        return session
    items = session.items
    for item in new.items:
        if item.ref.server_name in arrived:
            items = with_item(items, item.ref, item.include_mode)
    pending = tuple(server for server in session.pending_servers if server not in arrived)
    return replace(session, items=items, pending_servers=pending)
