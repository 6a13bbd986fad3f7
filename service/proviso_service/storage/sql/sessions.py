"""SqlSessionStore: sessions and their messages."""

from typing import Any

from sqlalchemy import ColumnElement, Row, Select, delete, func, select

from proviso_service.context.model import SessionItem
from proviso_service.context.sessions import ChatMessage, MessageRole, Session
from proviso_service.errors import SessionBusy, SessionExists, SessionNotFound
from proviso_service.paging import Page, PageRequest
from proviso_service.security.identity import Caller
from proviso_service.storage.sql.conversations import ensure_session, message_of, session_key
from proviso_service.storage.sql.database import Store, Transaction
from proviso_service.storage.sql.pages import Order, foreign_token, next_token, rows_by_time, start_after
from proviso_service.storage.sql.tables import OPEN_IN_SESSION, messages, sessions, turns


class SqlSessionStore(Store):
    """The SessionStore port on a Database."""

    async def create(self, caller: Caller, session_id: str, items: tuple[SessionItem, ...]) -> Session:
        async with self._database.write() as transaction:
            if not await ensure_session(transaction, caller, session_id, self._database.now(), items):
                raise SessionExists(session_id)
            return await _get(transaction, caller, session_id)

    async def get(self, caller: Caller, session_id: str) -> Session:
        async with self._database.read() as transaction:
            return await _get(transaction, caller, session_id)

    async def get_or_create(self, caller: Caller, session_id: str, items: tuple[SessionItem, ...]) -> Session:
        async with self._database.write() as transaction:
            await ensure_session(transaction, caller, session_id, self._database.now(), items)
            return await _get(transaction, caller, session_id)

    async def list(self, caller: Caller, page: PageRequest) -> Page[Session]:
        scope = ("sessions", caller.tenant, caller.user)
        order = Order(sessions.c.create_time, sessions.c.session_key, scope, newest_first=True)
        async with self._database.read() as transaction:
            rows, token = await rows_by_time(transaction, _of(caller), order, page)
        return Page([_session_of(row) for row in rows], token)

    async def delete(self, caller: Caller, session_id: str) -> None:
        """The ended turns of the session go too: their final states repeat its messages."""
        mine = (
            turns.c.tenant == caller.tenant,
            turns.c.user_id == caller.user,
            turns.c.session_id == session_id,
        )
        async with self._database.write() as transaction:
            key = await session_key(transaction, caller, session_id)
            open_turn = select(turns.c.turn_id).where(*mine, OPEN_IN_SESSION)
            turn_id = (await transaction.execute(open_turn)).scalar_one_or_none()
            if turn_id is not None:
                raise SessionBusy(session_id, turn_id)
            await transaction.execute(delete(turns).where(*mine))
            await transaction.execute(
                delete(sessions).where(sessions.c.tenant == caller.tenant, sessions.c.session_key == key)
            )

    async def messages(self, caller: Caller, session_id: str, page: PageRequest) -> Page[ChatMessage]:
        async with self._database.read() as transaction:
            key = await session_key(transaction, caller, session_id)
            scope = ("messages", caller.tenant, key)
            query = (
                select(messages)
                .where(*_in_session(caller, key), messages.c.position > _last_position(page, scope))
                .order_by(messages.c.position)
                .limit(page.size + 1)
            )
            rows = (await transaction.execute(query)).all()
        found = [message_of(row) for row in rows[: page.size]]
        more = len(rows) > page.size
        return Page(found, next_token(scope, str(rows[page.size - 1].position)) if more else "")

    async def history(self, caller: Caller, session_id: str, max_chars: int) -> tuple[ChatMessage, ...]:
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
        async with self._database.read() as transaction:
            return tuple(message_of(row) for row in await transaction.execute(query))


async def _get(transaction: Transaction, caller: Caller, session_id: str) -> Session:
    row = (await transaction.execute(_of(caller).where(sessions.c.session_id == session_id))).one_or_none()
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
