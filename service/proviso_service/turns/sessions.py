"""Sessions: the conversations of a user."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from proviso_service.context.model import (
    ApprovedTool,
    ContextChange,
    ItemsChange,
    MatterContext,
    NewSession,
    RequestContext,
    SessionItem,
    with_item,
)
from proviso_service.identity import NEVER_RETRIED, Caller, RetryKey
from proviso_service.paging import Page, PageRequest
from proviso_service.turns.records import AnswerRating, Rating, RatingReason, TurnSummary


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
    """One message of a session. Only the message that ended a turn, of the assistant or an error, has a
    `request_context` and, once it is stored, `turn`; `rating` is what a person said of it since. A user's message that
    found no room is `unsent`: it is kept for the person and is no part of the history that the model is given. The id
    and the time are empty until the message is stored."""

    role: MessageRole
    content: str
    request_context: RequestContext | None = None
    turn_id: str = ""
    message_id: str = ""
    create_time: datetime | None = None
    turn: TurnSummary | None = None
    unsent: bool = False
    rating: AnswerRating | None = None


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """A rating and the answer that it is about; `session_id` is empty for an answer without a session."""

    caller: Caller
    session_id: str
    turn_id: str
    rating: AnswerRating


@dataclass(frozen=True, slots=True)
class HistoryMessage:
    """An earlier message of the conversation, as the model is given it."""

    role: MessageRole
    content: str


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
    title: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class DeletedSession:
    """The deletion of a session, and the turns that it had."""

    deletion_id: str
    turn_ids: tuple[str, ...]


class TurnSessions(Protocol):
    """What turns need of sessions. Every method sees only what is the caller's own."""

    async def get(self, caller: Caller, session_id: str) -> Session:
        """One session. Raises SessionNotFound."""
        ...

    async def get_or_create(
        self, caller: Caller, session_id: str, new: NewSession, change: ContextChange | None = None
    ) -> Session:
        """The session, which is made from `new` when it is unknown. A known session gets, once, the always items of the
        servers that have listed their tools since it was made (see `with_late_items`). Where there is a `change`, it
        knows that matter context from now on."""
        ...

    async def history(self, caller: Caller, session_id: str, max_chars: int) -> tuple[HistoryMessage, ...]:
        """The messages of the user and the assistant for the model, without unsent ones, the oldest first: the newest
        ones, up to and including the first that takes their total over `max_chars` code points, so that the caller can
        see an overflow. Empty for an unknown session."""
        ...


class SessionStore(TurnSessions, Protocol):
    """The sessions of a tenant's users. Every method but `ratings` and `about` sees only what is the caller's own."""

    async def create(
        self, caller: Caller, session_id: str, new: NewSession, retry: RetryKey = NEVER_RETRIED
    ) -> Session:
        """Makes a session, or returns the one that the same call has made before. Raises SessionExists, and
        RequestIdReused where the request id has made another session."""
        ...

    async def go_on(
        self, caller: Caller, session_id: str, new_session_id: str, max_chars: int, retry: RetryKey = NEVER_RETRIED
    ) -> Session:
        """Makes a session that goes on where `session_id` stopped: with its items, its matter context, and its newest
        questions and answers, as many as have at most `max_chars` code points in all. Tools that were approved for the
        old session need a new approval. Returns the session that the same call has made before, if there is one. Raises
        SessionNotFound, SessionExists, RequestIdReused, and SessionBusy while a turn runs in the old session."""
        ...

    async def list(self, caller: Caller, page: PageRequest) -> Page[Session]:
        """A page of the caller's sessions, the newest first."""
        ...

    async def update(
        self, caller: Caller, session_id: str, *, title: str | None = None, notes: str | None = None
    ) -> Session:
        """Changes what is given, and returns the session. Raises SessionNotFound."""
        ...

    async def delete(self, caller: Caller, session_id: str) -> DeletedSession:
        """Deletes a session, its messages and their ratings. Raises SessionNotFound, SessionBusy while a turn runs in
        it, and UnderLegalHold."""
        ...

    async def change_items(self, caller: Caller, session_id: str, change: ItemsChange) -> Session:
        """Replaces the session's items by what `change` makes of them, and returns the session. Nobody else changes the
        items meanwhile. `change` is called outside the event loop; an exception that it raises passes through, and
        nothing changes. Raises SessionNotFound."""
        ...

    async def messages(
        self, caller: Caller, session_id: str, page: PageRequest, matter_id: str = ""
    ) -> Page[ChatMessage]:
        """A page of the session's messages, the oldest first; only those of turns that may know something of a matter
        where one is given. Raises SessionNotFound."""
        ...

    async def about(self, tenant: str, matter_id: str, user: str | None = None) -> Sequence[tuple[Caller, str]]:
        """The sessions with messages of turns that may know something of the matter, by their users and ids, the oldest
        first; only those of one user where one is given."""
        ...

    async def recent_contexts(self, caller: Caller, session_id: str, limit: int) -> tuple[RequestContext, ...]:
        """The request contexts of the newest messages of the assistant that have one, the newest first, at most `limit`
        of them. Raises SessionNotFound."""
        ...

    async def rate(
        self, caller: Caller, turn_id: str, rating: Rating | None, reason: RatingReason | None = None, text: str = ""
    ) -> AnswerRating | None:
        """Keeps what the caller says of a turn's answer, in place of an earlier rating; None takes that back. Raises
        TurnUnknown and TurnNotEnded."""
        ...

    async def ratings(self, tenant: str, page: PageRequest, rating: Rating | None = None) -> Page[RatedAnswer]:
        """A page of the ratings in a tenant, the newest first; only those of one kind where one is given."""
        ...


def with_late_items(session: Session, new: NewSession) -> Session:
    """The session with the locked items, and with the always items of the servers that have listed their tools since it
    was made, and without the names of these servers; the same session when it has them all. `new` is what a session
    would be made from now: a server that is not pending in it has listed its tools or has left the catalog."""
    arrived = frozenset(session.pending_servers).difference(new.pending_servers)
    items = with_locked_items(session.items, new)
    for item in new.items:
        if item.ref.server_name in arrived:
            items = with_item(items, item.ref, item.include_mode)
    if not arrived and items == session.items:
        return session
    pending = tuple(server for server in session.pending_servers if server not in arrived)
    return replace(session, items=items, pending_servers=pending)


def with_locked_items(items: tuple[SessionItem, ...], new: NewSession) -> tuple[SessionItem, ...]:
    """The items of a session with the locked ones of `new` that it lacks: an item may be locked at any time."""
    for item in new.items:
        if item.ref in new.locked:
            items = with_item(items, item.ref, item.include_mode)
    return items
