"""SqlSessionStore keeps sessions; SqlContentStore keeps the texts that the contexts of their messages name by hash.

The functions below the stores run inside a transaction of the caller's; the store of turns uses some of them, too."""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Row, Select, bindparam, delete, select, update

from proviso_service.access import Done
from proviso_service.backends.sql.audit import record
from proviso_service.backends.sql.conversation_tables import OPEN_IN_SESSION, item_contents, sessions, turns
from proviso_service.backends.sql.database import Store, looking_up, reading, writing
from proviso_service.backends.sql.deletions import begin_deletion
from proviso_service.backends.sql.dialects import insert
from proviso_service.backends.sql.holds import any_knows_held
from proviso_service.backends.sql.messages import (
    MessageRows,
    append,
    history_within,
    is_session,
    newest_exchanges,
    session_key,
)
from proviso_service.backends.sql.pages import RowsByTime
from proviso_service.backends.sql.prepared import Prepared
from proviso_service.backends.sql.tables import WITH_REQUEST_ID
from proviso_service.backends.sql.turn_matters import forget_matters_of, turns_named_in
from proviso_service.context.model import ApprovedTool, ContextChange, ItemsChange, NewSession
from proviso_service.erasure import DeletionKind
from proviso_service.errors import RequestIdReused, SessionBusy, SessionExists, SessionNotFound, UnderLegalHold
from proviso_service.identity import NEVER_RETRIED, Caller, RetryKey
from proviso_service.paging import Page, PageRequest
from proviso_service.turns import DeletedSession, Session, TurnOutcome, with_late_items

_MAX_REMEMBERED = 10_000


class SqlSessionStore(MessageRows):
    """A SessionStore in a Database."""

    @writing
    def create(
        self,
        transaction: Connection,
        caller: Caller,
        session_id: str,
        new: NewSession,
        retry: RetryKey = NEVER_RETRIED,
    ) -> Session:
        if earlier := _made_before(transaction, caller, retry):
            return _get(transaction, caller, earlier)
        if not ensure_session(transaction, caller, session_id, self._database.now(), new, retry=retry):
            raise SessionExists(session_id)
        return self._recorded(transaction, "create", caller, _get(transaction, caller, session_id))

    @writing
    def go_on(
        self,
        transaction: Connection,
        caller: Caller,
        session_id: str,
        new_session_id: str,
        max_chars: int,
        retry: RetryKey = NEVER_RETRIED,
    ) -> Session:
        if earlier := _made_before(transaction, caller, retry):
            return _get(transaction, caller, earlier)
        before = _idle(transaction, caller, session_id)
        now = self._database.now()
        new = NewSession(before.items, before.pending_servers)
        if not ensure_session(transaction, caller, new_session_id, now, new, retry=retry):
            raise SessionExists(new_session_id)
        taken = newest_exchanges(history_within(transaction, caller, session_id, max_chars), max_chars)
        statement = update(sessions).where(*is_session(caller, new_session_id))
        transaction.execute(statement.values(matter_context=before.matter_context, message_count=len(taken)))
        append(transaction, caller, session_key(transaction, caller, new_session_id), "", 0, taken, now)
        return self._recorded(transaction, "create", caller, _get(transaction, caller, new_session_id))

    @looking_up
    def get(self, transaction: Connection, caller: Caller, session_id: str) -> Session:
        return _get(transaction, caller, session_id)

    async def get_or_create(
        self, caller: Caller, session_id: str, new: NewSession, change: ContextChange | None = None
    ) -> Session:
        with suppress(SessionNotFound):
            session = await self.get(caller, session_id)
            if _joined(session, new, change) == session:  # as nearly always: nothing need be written
                return session
        return await self._get_or_create(caller, session_id, new, change)

    @writing
    def _get_or_create(
        self, transaction: Connection, caller: Caller, session_id: str, new: NewSession, change: ContextChange | None
    ) -> Session:
        ensure_session(transaction, caller, session_id, self._database.now(), new, change)
        session = _get(transaction, caller, session_id)
        joined = _joined(session, new, change)
        if joined != session:
            changed = {
                "items": joined.items,
                "pending_servers": joined.pending_servers,
                "matter_context": joined.matter_context,
            }
            transaction.execute(update(sessions).where(*is_session(caller, session_id)).values(changed))
        return joined

    @reading
    def list(self, transaction: Connection, caller: Caller, page: PageRequest) -> Page[Session]:
        scope = ("sessions", caller.tenant, caller.user)
        return _SESSIONS.page(transaction, _values(caller), scope, page).map(_session_of)

    @writing
    def update(
        self,
        transaction: Connection,
        caller: Caller,
        session_id: str,
        *,
        title: str | None = None,
        notes: str | None = None,
    ) -> Session:
        before = _get(transaction, caller, session_id)
        after = replace(
            before, title=before.title if title is None else title, notes=before.notes if notes is None else notes
        )
        if after == before:
            return before
        after = replace(after, update_time=self._database.now())
        values = {"title": after.title, "notes": after.notes, "update_time": after.update_time}
        transaction.execute(update(sessions).where(*is_session(caller, session_id)).values(values))
        return self._recorded(transaction, "update", caller, after)

    @writing
    def delete(self, transaction: Connection, caller: Caller, session_id: str) -> DeletedSession:
        """Deletes the session with its ended turns, whose final states repeat its messages, and with their ratings."""
        session = _idle(transaction, caller, session_id)
        tenant, key = caller.tenant, session_key(transaction, caller, session_id)
        mine = turns.c.tenant == tenant, turns.c.user_id == caller.user, turns.c.session_id == session_id
        own = transaction.execute(select(turns.c.turn_id).where(*mine)).scalars().all()
        named = turns_named_in(transaction, tenant, key)
        if any_knows_held(transaction, tenant, {*own, *named}):
            raise UnderLegalHold(f"sessions/{session_id}")
        transaction.execute(delete(sessions).where(*is_session(caller, session_id)))
        transaction.execute(delete(turns).where(*mine))
        forget_matters_of(transaction, tenant, {*own, *named})
        self._recorded(transaction, "delete", caller, session)
        deletion_id = begin_deletion(
            transaction,
            self._database.now(),
            tenant,
            DeletionKind.SESSION,
            session.matter_context.matter_id if session.matter_context else "",
            session_id,
            turns=len(own),
            messages=session.message_count,
        )
        return DeletedSession(deletion_id, tuple(own))

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
        return self._recorded(transaction, "change items", caller, _get(transaction, caller, session_id))

    def _recorded(self, transaction: Connection, action: str, caller: Caller, session: Session) -> Session:
        """The session, once the audit has what was done to it."""
        matter_id = session.matter_context.matter_id if session.matter_context else ""
        done = Done(action, "session", session.session_id, matter_id)
        record(transaction, self._database.now(), caller.tenant, done)
        return session


class SqlContentStore(Store):
    """A ContentStore in a Database."""

    @reading
    def contents(self, transaction: Connection, tenant: str, hashes: Collection[str]) -> Mapping[str, str]:
        query = select(item_contents.c.content_sha256, item_contents.c.content).where(
            item_contents.c.tenant == tenant, item_contents.c.content_sha256.in_(list(hashes))
        )
        return {row.content_sha256: row.content for row in transaction.execute(query)}


def ensure_session(
    transaction: Connection,
    caller: Caller,
    session_id: str,
    now: datetime,
    new: NewSession,
    change: ContextChange | None = None,
    retry: RetryKey = NEVER_RETRIED,
) -> bool:
    """Creates the session unless it exists; returns whether it was created. One that exists is not changed."""
    statement = insert(sessions).values(
        tenant=caller.tenant,
        session_key=uuid4().hex,
        user_id=caller.user,
        session_id=session_id,
        items=new.items,
        pending_servers=new.pending_servers,
        matter_context=change.matter_context if change else None,
        message_count=0,
        create_time=now,
        update_time=now,
        request_id=retry.request_id,
        payload_sha256=retry.payload_sha256,
    )
    unique = ["tenant", "user_id", "session_id"]
    result = transaction.execute(
        statement.on_conflict_do_nothing(index_elements=unique).returning(sessions.c.session_key)
    )
    return result.one_or_none() is not None


def _joined(session: Session, new: NewSession, change: ContextChange | None) -> Session:
    """The session with what a turn brings to it."""
    joined = with_late_items(session, new)
    return joined if change is None else replace(joined, matter_context=change.matter_context)


def keep_outcome(
    transaction: Connection, caller: Caller, session_id: str, turn_id: str, outcome: TurnOutcome, now: datetime
) -> None:
    """Appends a turn's messages to its session, and updates the session's matter context. An unknown session is
    created, but only when there is something to store in it."""
    added = outcome.new_messages
    keep = _KEEP_WITH_CONTEXT if outcome.update_matter_context else _KEEP
    values = _values(caller) | {
        "this_session": session_id,
        "new_messages": len(added),
        "update_time": now,
        "matter_context": outcome.matter_context,
    }
    session = keep.one(transaction, values)
    if session is None and (added or outcome.update_matter_context):
        ensure_session(transaction, caller, session_id, now, outcome.new_session)
        session = keep.one(transaction, values)
    if session is not None:
        append(transaction, caller, session.session_key, turn_id, session.message_count - len(added), added, now)


def approve_tool(transaction: Connection, caller: Caller, session_id: str, tool: ApprovedTool) -> None:
    """Records that the tool needs no further approval in the session, if the session exists. An earlier approval of a
    tool of the same name is replaced."""
    this = is_session(caller, session_id)
    approved = transaction.execute(select(sessions.c.approved_tools).where(*this)).scalar_one_or_none()
    if approved is not None and tool not in approved:
        others = [known for known in approved if known.ref != tool.ref]
        transaction.execute(update(sessions).where(*this).values(approved_tools=(*others, tool)))


def _made_before(transaction: Connection, caller: Caller, retry: RetryKey) -> str:
    """The id of the session that the same call has made before; empty where there is none. Raises RequestIdReused."""
    if not retry.request_id:
        return ""
    query = select(sessions.c.session_id, sessions.c.payload_sha256).where(
        sessions.c.tenant == caller.tenant,
        sessions.c.user_id == caller.user,
        sessions.c.request_id == retry.request_id,
        WITH_REQUEST_ID,
    )
    row = transaction.execute(query).one_or_none()
    if row is not None and row.payload_sha256 != retry.payload_sha256:
        raise RequestIdReused(retry.request_id)
    return row.session_id if row else ""


def _get(transaction: Connection, caller: Caller, session_id: str) -> Session:
    row = _ONE_SESSION.one(transaction, _values(caller) | {"this_session": session_id})
    if row is None:
        raise SessionNotFound(session_id)
    return _session_of(row)


def _idle(transaction: Connection, caller: Caller, session_id: str) -> Session:
    """The session. Raises SessionBusy while a turn of it is open."""
    session = _get(transaction, caller, session_id)
    if session.running_turn_id:
        raise SessionBusy(session_id, session.running_turn_id)
    return session


def _values(caller: Caller) -> dict[str, object]:
    return {"this_tenant": caller.tenant, "this_user": caller.user}


def _owned_sessions() -> Select[Any]:
    running = select(turns.c.turn_id).where(
        turns.c.tenant == sessions.c.tenant,
        turns.c.user_id == sessions.c.user_id,
        turns.c.session_id == sessions.c.session_id,
        OPEN_IN_SESSION,
    )
    return select(sessions, running.scalar_subquery().label("running_turn_id")).where(
        sessions.c.tenant == bindparam("this_tenant"), sessions.c.user_id == bindparam("this_user")
    )


# Built once, because building a statement takes longer than running it.
_ONE_SESSION = Prepared(_owned_sessions().where(sessions.c.session_id == bindparam("this_session")))
_SESSIONS = RowsByTime(_owned_sessions(), sessions.c.create_time, sessions.c.session_key, newest_first=True)


_KEPT = (
    update(sessions)
    .where(
        sessions.c.tenant == bindparam("this_tenant"),
        sessions.c.user_id == bindparam("this_user"),
        sessions.c.session_id == bindparam("this_session"),
    )
    .values(update_time=bindparam("update_time"), message_count=sessions.c.message_count + bindparam("new_messages"))
    .returning(sessions.c.session_key, sessions.c.message_count)
)
_KEEP = Prepared(_KEPT)
_KEEP_WITH_CONTEXT = Prepared(_KEPT.values(matter_context=bindparam("matter_context")))


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
        title=row.title,
        notes=row.notes,
    )


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
