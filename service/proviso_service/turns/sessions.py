"""Sessions: a user's conversations."""

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
    """Who wrote a message; error and approval messages never reach the model."""

    USER = "user"
    SYSTEM = "system"
    ERROR = "error"
    APPROVAL = "approval"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message; `request_context` on assistant messages only, `turn` on the message that ended a turn. Ids and time
    are empty until it is stored."""

    role: MessageRole
    content: str
    request_context: RequestContext | None = None
    turn_id: str = ""
    message_id: str = ""
    create_time: datetime | None = None
    turn: TurnSummary | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """`approved_tools` need no further approval while they are what they were; `pending_servers` had not listed their
    tools when the session was made, so that their always items are still to come."""

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
    """Sessions of a tenant's users. Every method sees only the caller's own sessions."""

    async def create(self, caller: Caller, session_id: str, new: NewSession) -> Session:
        """Raises SessionExists."""
        ...

    async def get(self, caller: Caller, session_id: str) -> Session:
        """Raises SessionNotFound."""
        ...

    async def get_or_create(self, caller: Caller, session_id: str, new: NewSession) -> Session:
        """The session; made from `new` when unknown. One that is known is joined, once, by the always items of servers
        that have listed their tools meanwhile (see `session_items.with_late_items`)."""
        ...

    async def list(self, caller: Caller, page: PageRequest) -> Page[Session]:
        """Newest first."""
        ...

    async def delete(self, caller: Caller, session_id: str) -> None:
        """With its messages. Raises SessionNotFound, or SessionBusy while a turn runs."""
        ...

    async def change_items(self, caller: Caller, session_id: str, change: ItemsChange) -> Session:
        """The session with the items that `change` makes of its own; nobody else changes them meanwhile. It is called
        outside the event loop. What it raises passes through, and changes nothing. Raises SessionNotFound."""
        ...

    async def messages(self, caller: Caller, session_id: str, page: PageRequest) -> Page[ChatMessage]:
        """Oldest first. Raises SessionNotFound."""
        ...

    async def history(self, caller: Caller, session_id: str, max_chars: int) -> tuple[ChatMessage, ...]:
        """User and assistant messages for the model, oldest first: the newest ones up to and including the first that
        takes their total over `max_chars` code points (so that the caller can tell an overflow). Empty when unknown."""
        ...

    async def recent_contexts(self, caller: Caller, session_id: str, limit: int) -> tuple[RequestContext, ...]:
        """The request contexts of the newest assistant messages that have one, newest first, at most `limit`. Raises
        SessionNotFound."""
        ...


def with_late_items(session: Session, new: NewSession) -> Session:
    """With the always items of servers that have listed their tools since the session was made, and without the names
    of these servers; the same when there are none. `new` is what a session would be made with now: a server that is
    not pending there has listed its tools, or left the catalog."""
    arrived = frozenset(session.pending_servers).difference(new.pending_servers)
    if not arrived:
        return session
    items = session.items
    for item in new.items:
        if item.ref.server_name in arrived:
            items = with_item(items, item.ref, item.include_mode)
    pending = tuple(server for server in session.pending_servers if server not in arrived)
    return replace(session, items=items, pending_servers=pending)
