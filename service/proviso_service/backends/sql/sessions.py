"""SqlSessionStore: sessions and their messages."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, func, select, update

from proviso_service.backends.sql.conversations import ensure_session, message_of, session_key, this_session
from proviso_service.backends.sql.database import Store, reading, writing
from proviso_service.backends.sql.pages import Order, foreign_token, next_token, rows_by_time, start_after
from proviso_service.backends.sql.tables import OPEN_IN_SESSION, messages, sessions, turns
from proviso_service.context.model import ItemsChange, NewSession, RequestContext
from proviso_service.errors import SessionBusy, SessionExists, SessionNotFound
from proviso_service.identity import Caller
from proviso_service.paging import Page, PageRequest
from proviso_service.turns.sessions import ChatMessage, MessageRole, Session, with_late_items


class SqlSessionStore(Store):
    """The SessionStore port on a Database."""

    @writing
    def create(self, transaction: Connection, caller: Caller, session_id: str, new: NewSession) -> Session:
        if not ensure_session(transaction, caller, session_id, self._database.now(), new):
            raise SessionExists(session_id)
        return _get(transaction, caller, session_id)

    @reading
    def get(self, transaction: Connection, caller: Caller, session_id: str) -> Session:
        return _get(transaction, caller, session_id)

    @writing
    def get_or_create(self, transaction: Connection, caller: Caller, session_id: str, new: NewSession) -> Session:
        ensure_session(transaction, caller, session_id, self._database.now(), new)
        session = _get(transaction, caller, session_id)
        joined = with_late_items(session, new)
        if joined is not session:
            changed = {"items": joined.items, "pending_servers": joined.pending_servers}
            transaction.execute(update(sessions).where(*this_session(caller, session_id)).values(changed))
        return joined

    @reading
    def list(self, transaction: Connection, caller: Caller, page: PageRequest) -> Page[Session]:
        scope = ("sessions", caller.tenant, caller.user)
        order = Order(sessions.c.create_time, sessions.c.session_key, scope, newest_first=True)
        rows, token = rows_by_time(transaction, _of(caller), order, page)
        return Page([_session_of(row) for row in rows], token)

    @writing
    def delete(self, transaction: Connection, caller: Caller, session_id: str) -> None:
        """The ended turns of the session go too: their final states repeat its messages."""
        mine = (
            turns.c.tenant == caller.tenant,
            turns.c.user_id == caller.user,
            turns.c.session_id == session_id,
        )
        key = session_key(transaction, caller, session_id)
        open_turn = select(turns.c.turn_id).where(*mine, OPEN_IN_SESSION)
        turn_id = transaction.execute(open_turn).scalar_one_or_none()
        if turn_id is not None:
            raise SessionBusy(session_id, turn_id)
        transaction.execute(delete(turns).where(*mine))
        transaction.execute(delete(sessions).where(sessions.c.tenant == caller.tenant, sessions.c.session_key == key))

    @writing
    def change_items(self, transaction: Connection, caller: Caller, session_id: str, change: ItemsChange) -> Session:
        """Reads and writes in one transaction, of which there is one at a time."""
        before = _get(transaction, caller, session_id)
        items = change(before.items)
        if items == before.items:
            return before
        statement = update(sessions).where(*this_session(caller, session_id))
        transaction.execute(statement.values(items=items, update_time=self._database.now()))
        return _get(transaction, caller, session_id)

    @reading
    def messages(
        self, transaction: Connection, caller: Caller, session_id: str, page: PageRequest
    ) -> Page[ChatMessage]:
        key = session_key(transaction, caller, session_id)
        scope = ("messages", caller.tenant, key)
        query = (
            select(messages)
            .where(*_in_session(caller, key), messages.c.position > _last_position(page, scope))
            .order_by(messages.c.position)
            .limit(page.size + 1)
        )
        rows = transaction.execute(query).all()
        found = [message_of(row) for row in rows[: page.size]]
        more = len(rows) > page.size
        return Page(found, next_token(scope, str(rows[page.size - 1].position)) if more else "")

    @reading
    def history(
        self, transaction: Connection, caller: Caller, session_id: str, max_chars: int
    ) -> tuple[ChatMessage, ...]:
        newer = func.sum(messages.c.character_count).over(order_by=messages.c.position.desc())
        sized = (
            select(messages, (newer - messages.c.character_count).label("newer_chars"))
            .join_from(messages, sessions)
            .where(
                sessions.c.tenant == caller.tenant,
                sessions.c.user_id == caller.user,
                sessions.c.session_id == session_id,
                messages.c.role.in_([MessageRole.USER, MessageRole.ASSISTANT]),
            )
            .subquery()
        )
        query = select(sized).where(sized.c.newer_chars <= max_chars).order_by(sized.c.position)
        return tuple(message_of(row) for row in transaction.execute(query))

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


def _get(transaction: Connection, caller: Caller, session_id: str) -> Session:
    row = transaction.execute(_of(caller).where(sessions.c.session_id == session_id)).one_or_none()
    if row is None:
        raise SessionNotFound(session_id)
    return _session_of(row)


def _of(caller: Caller) -> Select[Any]:
    running = select(turns.c.turn_id).where(
        turns.c.tenant == sessions.c.tenant,
        turns.c.user_id == sessions.c.user_id,
        turns.c.session_id == sessions.c.session_id,
        OPEN_IN_SESSION,
    )
    return select(sessions, running.scalar_subquery().label("running_turn_id")).where(
        sessions.c.tenant == caller.tenant, sessions.c.user_id == caller.user
    )


def _session_of(row: Row[Any]) -> Session:
    return Session(
        session_id=row.session_id,
        items=row.items,
        matter_context=row.matter_context,
        create_time=row.create_time,
        update_time=row.update_time,
        running_turn_id=row.running_turn_id or "",
        message_count=row.message_count,
        pending_servers=row.pending_servers,
        approved_tools=row.approved_tools,
    )


def _in_session(caller: Caller, key: str) -> tuple[ColumnElement[bool], ...]:
    return messages.c.tenant == caller.tenant, messages.c.session_key == key


def _last_position(page: PageRequest, scope: tuple[str, ...]) -> int:
    after = start_after(page, scope, 1)
    if after is None:
        return -1
    if not after[0].isdecimal() or len(after[0]) > 9:
        raise foreign_token()
    return int(after[0])
