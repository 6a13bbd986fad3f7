"""SqlSessionStore keeps sessions and their messages; SqlContentStore keeps the texts that their contexts name by hash.

The functions below the stores run inside a transaction of the caller's; the store of turns uses some of them, too."""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    delete,
    func,
    select,
    update,
)

from proviso_service.backends.sql.database import Store, insert, reading, writing
from proviso_service.backends.sql.pages import Order, foreign_token, next_token, rows_by_time, start_after
from proviso_service.backends.sql.tables import (
    OPEN_IN_SESSION,
    item_contents,
    messages,
    sessions,
    turns,
)
from proviso_service.context.model import ApprovedTool, ItemsChange, NewSession, RequestContext
from proviso_service.errors import SessionBusy, SessionExists, SessionNotFound
from proviso_service.identity import Caller
from proviso_service.paging import Page, PageRequest
from proviso_service.turns import ChatMessage, MessageRole, Session, TurnOutcome, with_late_items

_MAX_REMEMBERED = 10_000


class SqlSessionStore(Store):
    """A SessionStore in a Database."""

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
            transaction.execute(update(sessions).where(*is_session(caller, session_id)).values(changed))
        return joined

    @reading
    def list(self, transaction: Connection, caller: Caller, page: PageRequest) -> Page[Session]:
        scope = ("sessions", caller.tenant, caller.user)
        order = Order(sessions.c.create_time, sessions.c.session_key, scope, newest_first=True)
        rows, token = rows_by_time(transaction, _owned_by(caller), order, page)
        return Page([_session_of(row) for row in rows], token)

    @writing
    def delete(self, transaction: Connection, caller: Caller, session_id: str) -> None:
        """Deletes the session with its ended turns, whose final states repeat its messages."""
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
        """Applies the change to the session's items. Only one transaction writes at a time, so no other change is
        lost."""
        before = _get(transaction, caller, session_id)
        items = change(before.items)
        if items == before.items:
            return before
        statement = update(sessions).where(*is_session(caller, session_id))
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


class SqlContentStore(Store):
    """A ContentStore in a Database."""

    @reading
    def contents(self, transaction: Connection, tenant: str, hashes: Collection[str]) -> Mapping[str, str]:
        query = select(item_contents.c.content_sha256, item_contents.c.content).where(
            item_contents.c.tenant == tenant, item_contents.c.content_sha256.in_(list(hashes))
        )
        return {row.content_sha256: row.content for row in transaction.execute(query)}


def ensure_session(transaction: Connection, caller: Caller, session_id: str, now: datetime, new: NewSession) -> bool:
    """Creates the session unless it exists; returns whether it was created."""
    statement = insert(sessions).values(
        tenant=caller.tenant,
        session_key=uuid4().hex,
        user_id=caller.user,
        session_id=session_id,
        items=new.items,
        pending_servers=new.pending_servers,
        matter_context=None,
        message_count=0,
        create_time=now,
        update_time=now,
    )
    unique = ["tenant", "user_id", "session_id"]
    result = transaction.execute(statement.on_conflict_do_nothing(unique).returning(sessions.c.session_key))
    return result.one_or_none() is not None


def session_key(transaction: Connection, caller: Caller, session_id: str) -> str:
    """The key of the session. Raises SessionNotFound."""
    query = select(sessions.c.session_key).where(*is_session(caller, session_id))
    key: str | None = transaction.execute(query).scalar_one_or_none()
    if key is None:
        raise SessionNotFound(session_id)
    return key


def keep_outcome(
    transaction: Connection, caller: Caller, session_id: str, turn_id: str, outcome: TurnOutcome, now: datetime
) -> None:
    """Appends a turn's messages to its session, and updates the session's matter context. An unknown session is
    created, but only when there is something to store in it."""
    if outcome.new_messages or outcome.update_matter_context:
        ensure_session(transaction, caller, session_id, now, outcome.new_session)
    changes: dict[str, Any] = {
        "update_time": now,
        "message_count": sessions.c.message_count + len(outcome.new_messages),
    }
    if outcome.update_matter_context:
        changes["matter_context"] = outcome.matter_context
    statement = (
        update(sessions)
        .where(*is_session(caller, session_id))
        .values(changes)
        .returning(sessions.c.session_key, sessions.c.message_count)
    )
    session = transaction.execute(statement).one_or_none()
    if session is not None:
        first = session.message_count - len(outcome.new_messages)
        _append(transaction, caller, session.session_key, turn_id, first, outcome.new_messages, now)


def approve_tool(transaction: Connection, caller: Caller, session_id: str, tool: ApprovedTool) -> None:
    """Records that the tool needs no further approval in the session, if the session exists. An earlier approval of a
    tool of the same name is replaced."""
    this = is_session(caller, session_id)
    approved = transaction.execute(select(sessions.c.approved_tools).where(*this)).scalar_one_or_none()
    if approved is not None and tool not in approved:
        others = [known for known in approved if known.ref != tool.ref]
        transaction.execute(update(sessions).where(*this).values(approved_tools=(*others, tool)))


def is_session(caller: Caller, session_id: str) -> tuple[ColumnElement[bool], ...]:
    return (
        sessions.c.tenant == caller.tenant,
        sessions.c.user_id == caller.user,
        sessions.c.session_id == session_id,
    )


def _append(
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
            "message_id": message.message_id or str(uuid4()),
            "turn_id": message.turn_id or turn_id,
            "role": message.role,
            "create_time": message.create_time or now,
            "character_count": len(message.content),
            "content": message.content,
            "request_context": message.request_context,
            "turn": message.turn,
        }
        for position, message in enumerate(new, start=first)
    ]
    if rows:
        transaction.execute(insert(messages), rows)


def message_of(row: Row[Any]) -> ChatMessage:
    return ChatMessage(
        role=row.role,
        content=row.content,
        request_context=row.request_context,
        turn_id=row.turn_id,
        message_id=row.message_id,
        create_time=row.create_time,
        turn=row.turn,
    )


def _get(transaction: Connection, caller: Caller, session_id: str) -> Session:
    row = transaction.execute(_owned_by(caller).where(sessions.c.session_id == session_id)).one_or_none()
    if row is None:
        raise SessionNotFound(session_id)
    return _session_of(row)


def _owned_by(caller: Caller) -> Select[Any]:
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


def keep_contents(transaction: Connection, tenant: str, contents: Mapping[str, str]) -> None:
    """Stores the contents that are not stored yet; keys are their hashes."""
    if contents:
        rows = [{"tenant": tenant, "content_sha256": sha, "content": text} for sha, text in contents.items()]
        transaction.execute(insert(item_contents).on_conflict_do_nothing(), rows)


class KnownContents:
    """The hashes of at most _MAX_REMEMBERED contents that this process has stored, so that not every turn writes the
    same texts again."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def new(self, tenant: str, contents: Mapping[str, str]) -> dict[str, str]:
        """The contents that are not known to be stored."""
        return {sha: text for sha, text in contents.items() if (tenant, sha) not in self._known}

    def stored(self, tenant: str, hashes: Iterable[str]) -> None:
        """Remembers contents as stored; to be called after the commit."""
        for sha in hashes:
            self._known[tenant, sha] = None
        while len(self._known) > _MAX_REMEMBERED:
            self._known.popitem(last=False)
