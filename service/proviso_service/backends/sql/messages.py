"""Rows of messages, and what persons say of the answers among them.

The functions below the class run inside a transaction of the caller's."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Any
from uuid import UUID, uuid4, uuid5

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Row,
    String,
    and_,
    bindparam,
    exists,
    null,
    or_,
    select,
    type_coerce,
    update,
)

from proviso_service.access import Done
from proviso_service.backends.sql.audit import record
from proviso_service.backends.sql.conversation_tables import (
    OPEN_IN_SESSION,
    RATED,
    messages,
    sessions,
    turn_matters,
    turns,
)
from proviso_service.backends.sql.database import Store, looking_up, reading, writing
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.pages import RowsByTime
from proviso_service.backends.sql.prepared import Prepared
from proviso_service.context.marker import parse_marker
from proviso_service.context.model import RequestContext, is_blank
from proviso_service.errors import SessionNotFound, TurnNotEnded, TurnUnknown
from proviso_service.identity import Caller
from proviso_service.paging import Page, PageRequest, foreign_token, page_token
from proviso_service.turns import (
    AnswerRating,
    ChatMessage,
    HistoryMessage,
    MessageRole,
    RatedAnswer,
    Rating,
    RatingReason,
    TurnState,
    question_of,
)

_QUESTIONS = UUID("0b2a7b5e-8f0e-4c6e-9d55-5f3f6f1d3a01")

_RATING = (turns.c.rating, turns.c.rate_time, turns.c.rating_reason, turns.c.rating_text)

_WITH_TURNS = messages.outerjoin(
    turns, and_(turns.c.tenant == messages.c.tenant, turns.c.turn_id == messages.c.turn_id)
)
"""The messages, each with its turn, which has the rating of the answer."""

# Built once, because building a statement takes longer than running it.
_THIS_SESSION = (
    sessions.c.tenant == bindparam("this_tenant"),
    sessions.c.user_id == bindparam("this_user"),
    sessions.c.session_id == bindparam("this_session"),
)
_KEY_AND_COUNT = select(sessions.c.session_key, sessions.c.message_count).where(*_THIS_SESSION)
_NEWEST = (
    select(messages.c.role, messages.c.content)
    .join_from(messages, sessions)
    .where(*_THIS_SESSION, ~messages.c.unsent)
    .where(or_(messages.c.role == MessageRole.USER, messages.c.role == MessageRole.ASSISTANT))
    .order_by(messages.c.position.desc())
)
_ROLES = {role.value: role for role in MessageRole}
# A role as plain text, because the way of SQLAlchemy's type to a member takes as long as all else of a row.
_HISTORY = Prepared(_NEWEST.with_only_columns(type_coerce(messages.c.role, String).label("role"), messages.c.content))
_WHOLE_HISTORY = Prepared(_NEWEST.with_only_columns(*messages.c))
_APPEND = Prepared(insert(messages))
_MESSAGES = (
    select(messages, *_RATING)
    .select_from(_WITH_TURNS)
    .where(
        messages.c.tenant == bindparam("this_tenant"),
        messages.c.session_key == bindparam("this_key"),
        messages.c.position > bindparam("last_position"),
    )
    .order_by(messages.c.position)
    .limit(bindparam("most_rows", type_=Integer))
)
_KNOWS_MATTER = and_(
    turn_matters.c.tenant == messages.c.tenant,
    turn_matters.c.turn_id == messages.c.turn_id,
    turn_matters.c.matter_id == bindparam("this_matter"),
)
_MESSAGES_ABOUT = _MESSAGES.where(exists().where(_KNOWS_MATTER))
_RATED_TURNS = select(turns.c.tenant, turns.c.user_id, turns.c.session_id, turns.c.turn_id, *_RATING).where(
    RATED, turns.c.tenant == bindparam("this_tenant")
)
_RATINGS = RowsByTime(_RATED_TURNS, turns.c.rate_time, turns.c.turn_id, newest_first=True)
_OF_KIND = _RATED_TURNS.where(turns.c.rating == bindparam("this_rating"))
_RATINGS_OF_KIND = RowsByTime(_OF_KIND, turns.c.rate_time, turns.c.turn_id, newest_first=True)

_ANSWERS = frozenset({MessageRole.ASSISTANT, MessageRole.ERROR})
"""The roles of a message that ends a turn."""


class MessageRows(Store):
    """The methods of SessionStore for messages and for ratings."""

    @reading
    def messages(
        self, transaction: Connection, caller: Caller, session_id: str, page: PageRequest, matter_id: str = ""
    ) -> Page[ChatMessage]:
        key, total_size = _key_and_count(transaction, caller, session_id)
        scope = ("messages", caller.tenant, key)
        values = {"this_tenant": caller.tenant, "this_key": key, "last_position": _last_position(page, scope)}
        statement = _MESSAGES_ABOUT if matter_id else _MESSAGES
        rows = transaction.execute(statement, {**values, "most_rows": page.size + 1, "this_matter": matter_id}).all()
        found = [_rated_message_of(row) for row in rows[: page.size]]
        token = page_token(scope, str(rows[page.size - 1].position)) if len(rows) > page.size else ""
        if not matter_id and (question := _open_question(transaction, caller, session_id)):
            # It is stored when its turn has ended; until then it stands behind the others.
            total_size += 1
            if len(found) < page.size:
                found.append(question)
            else:
                token = page_token(scope, str(rows[page.size - 1].position))
        return Page(found, token, total_size)

    @reading
    def about(
        self, transaction: Connection, tenant: str, matter_id: str, user: str | None = None
    ) -> Sequence[tuple[Caller, str]]:
        query = (
            select(sessions.c.user_id, sessions.c.session_id)
            .where(
                sessions.c.tenant == tenant,
                sessions.c.session_key.in_(
                    select(messages.c.session_key)
                    .join(turn_matters, _KNOWS_MATTER)
                    .where(turn_matters.c.tenant == tenant)
                ),
            )
            .order_by(sessions.c.create_time, sessions.c.session_key)
        )
        if user is not None:
            query = query.where(sessions.c.user_id == user)
        rows = transaction.execute(query, {"this_matter": matter_id}).all()
        return [(Caller(tenant, row.user_id), row.session_id) for row in rows]

    @looking_up
    def history(
        self, transaction: Connection, caller: Caller, session_id: str, max_chars: int
    ) -> tuple[HistoryMessage, ...]:
        newest = _HISTORY.plain_rows(transaction, _place(caller, session_id))
        rows = _within(max_chars, newest, itemgetter(1))
        return tuple([HistoryMessage(_ROLES[role], content) for role, content in rows])

    @reading
    def recent_contexts(
        self, transaction: Connection, caller: Caller, session_id: str, limit: int
    ) -> tuple[RequestContext, ...]:
        key = session_key(transaction, caller, session_id)
        query = (
            select(messages.c.request_context)
            .where(
                *_in_session(caller, key),
                messages.c.role == MessageRole.ASSISTANT,
                messages.c.request_context.is_not(None),
            )
            .order_by(messages.c.position.desc())
            .limit(limit)
        )
        return tuple(transaction.execute(query).scalars())

    @writing
    def rate(
        self,
        transaction: Connection,
        caller: Caller,
        turn_id: str,
        rating: Rating | None,
        reason: RatingReason | None = None,
        text: str = "",
    ) -> AnswerRating | None:
        this = (turns.c.tenant == caller.tenant, turns.c.user_id == caller.user, turns.c.turn_id == turn_id)
        state = transaction.execute(select(turns.c.state).where(*this)).scalar_one_or_none()
        if state is None:
            raise TurnUnknown(turn_id)
        if state is not TurnState.ENDED:
            raise TurnNotEnded(turn_id)
        if rating is None:
            transaction.execute(update(turns).where(*this).values({column: null() for column in _RATING}))
            record(transaction, self._database.now(), caller.tenant, Done("take rating back", "turn", turn_id))
            return None
        values = (rating, self._database.now(), reason, text)
        transaction.execute(update(turns).where(*this).values(dict(zip(_RATING, values, strict=True))))
        record(transaction, self._database.now(), caller.tenant, Done("rate", "turn", turn_id))
        return AnswerRating(*values)

    @reading
    def ratings(
        self, transaction: Connection, tenant: str, page: PageRequest, rating: Rating | None = None
    ) -> Page[RatedAnswer]:
        listed = _RATINGS if rating is None else _RATINGS_OF_KIND
        values = {"this_tenant": tenant, "this_rating": rating}
        return listed.page(transaction, values, ("ratings", tenant, rating or ""), page).map(_rated_answer_of)


def is_session(caller: Caller, session_id: str) -> tuple[ColumnElement[bool], ...]:
    return (
        sessions.c.tenant == caller.tenant,
        sessions.c.user_id == caller.user,
        sessions.c.session_id == session_id,
    )


def _place(caller: Caller, session_id: str) -> dict[str, object]:
    return {"this_tenant": caller.tenant, "this_user": caller.user, "this_session": session_id}


def session_key(transaction: Connection, caller: Caller, session_id: str) -> str:
    """The key of the session. Raises SessionNotFound."""
    return _key_and_count(transaction, caller, session_id)[0]


def _key_and_count(transaction: Connection, caller: Caller, session_id: str) -> tuple[str, int]:
    """The key of the session and the number of its messages. Raises SessionNotFound."""
    row = transaction.execute(_KEY_AND_COUNT, _place(caller, session_id)).one_or_none()
    if row is None:
        raise SessionNotFound(session_id)
    return row.session_key, row.message_count


def _open_question(transaction: Connection, caller: Caller, session_id: str) -> ChatMessage | None:
    """The message of the turn that is open in the session, if there is one."""
    query = select(turns.c.turn_id, turns.c.create_time, turns.c.suspended).where(
        turns.c.tenant == caller.tenant,
        turns.c.user_id == caller.user,
        turns.c.session_id == session_id,
        OPEN_IN_SESSION,
    )
    row = transaction.execute(query).one_or_none()
    text = parse_marker(question_of(row.suspended)).text if row else ""
    if row is None or is_blank(text):
        return None
    return ChatMessage(MessageRole.USER, text, None, row.turn_id, question_id(row.turn_id), row.create_time)


def append(
    transaction: Connection,
    caller: Caller,
    key: str,
    turn_id: str,
    first: int,
    new: Sequence[ChatMessage],
    now: datetime,
) -> None:
    rows = [
        {
            "tenant": caller.tenant,
            "session_key": key,
            "position": position,
            "message_id": message.message_id or _new_id(message, turn_id),
            "turn_id": message.turn_id or turn_id,
            "role": message.role,
            "create_time": message.create_time or now,
            "character_count": len(message.content),
            "content": message.content,
            "request_context": message.request_context,
            "turn": message.turn,
            "unsent": message.unsent,
        }
        for position, message in enumerate(new, start=first)
    ]
    _APPEND.run_each(transaction, rows)


def _new_id(message: ChatMessage, turn_id: str) -> str:
    is_question = message.role is MessageRole.USER and message.turn_id == turn_id != ""
    return question_id(turn_id) if is_question else str(uuid4())


def question_id(turn_id: str) -> str:
    """The id of the message of a turn, which is the same before and after it is stored."""
    return str(uuid5(_QUESTIONS, turn_id))


def history_within(transaction: Connection, caller: Caller, session_id: str, max_chars: int) -> tuple[ChatMessage, ...]:
    """The messages of `TurnSessions.history`, whole."""
    newest = _WHOLE_HISTORY.rows(transaction, _place(caller, session_id))
    return tuple(map(_message_of, _within(max_chars, newest, attrgetter("content"))))


def _within(max_chars: int, newest: Iterator[Any], content_of: Callable[[Any], str]) -> list[Any]:
    """The newest rows, the oldest of them first, up to and including the first that takes their total over `max_chars`.
    Older ones are not read, however long the session is."""
    rows = []
    for row in newest:
        rows.append(row)
        max_chars -= len(content_of(row))
        if max_chars < 0:
            break
    return rows[::-1]


def newest_exchanges(history: Sequence[ChatMessage], max_chars: int) -> list[ChatMessage]:
    """The newest of the messages that have at most `max_chars` code points in all, as new messages. They begin with a
    question, so that no answer stands without its own."""
    kept, left = [], max_chars
    for message in reversed(history):
        left -= len(message.content)
        if left < 0:
            break
        kept.append(replace(message, message_id=""))
    kept.reverse()
    first = next((at for at, message in enumerate(kept) if message.role is MessageRole.USER), len(kept))
    return kept[first:]


def _message_of(row: Row[Any]) -> ChatMessage:
    return ChatMessage(
        role=row.role,
        content=row.content,
        request_context=row.request_context,
        turn_id=row.turn_id,
        message_id=row.message_id,
        create_time=row.create_time,
        turn=row.turn,
        unsent=row.unsent,
    )


def _rated_message_of(row: Row[Any]) -> ChatMessage:
    message = _message_of(row)
    is_rated = row.rating is not None and message.role in _ANSWERS
    return replace(message, rating=_rating_of(row)) if is_rated else message


def _rating_of(row: Row[Any]) -> AnswerRating:
    return AnswerRating(row.rating, row.rate_time, row.rating_reason, row.rating_text)


def _rated_answer_of(row: Row[Any]) -> RatedAnswer:
    return RatedAnswer(Caller(row.tenant, row.user_id), row.session_id, row.turn_id, _rating_of(row))


def _in_session(caller: Caller, key: str) -> tuple[ColumnElement[bool], ...]:
    return messages.c.tenant == caller.tenant, messages.c.session_key == key


def _last_position(page: PageRequest, scope: tuple[str, ...]) -> int:
    after = page.after(scope, 1)
    if after is None:
        return -1
    if not after[0].isdecimal() or len(after[0]) > 9:
        raise foreign_token()
    return int(after[0])
