"""SqlTurnStore keeps the rows of turns, with what another process goes on from."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    TextClause,
    bindparam,
    null,
    or_,
    select,
    update,
)

from proviso_service.access import Done
from proviso_service.backends.sql.audit import record
from proviso_service.backends.sql.conversation_tables import AWAITING, OPEN, OPEN_IN_SESSION, sessions, turns
from proviso_service.backends.sql.database import Database, Store, across_tenants, reading, writing
from proviso_service.backends.sql.dialects import insert, with_items
from proviso_service.backends.sql.prepared import Prepared
from proviso_service.backends.sql.sessions import KnownContents, approve_tool, keep_contents, keep_outcome
from proviso_service.backends.sql.tables import WITH_REQUEST_ID
from proviso_service.backends.sql.turn_matters import note_matters
from proviso_service.context.marker import parse_marker
from proviso_service.context.model import OWN_SERVER, ApprovedTool
from proviso_service.errors import RequestIdReused, SessionBusy, TurnUnknown
from proviso_service.identity import Caller
from proviso_service.matters import is_uuid
from proviso_service.turns import (
    RELEASED,
    Decision,
    SuspendedTurn,
    TurnBegun,
    TurnLost,
    TurnOutcome,
    TurnRecord,
    TurnRequest,
    TurnState,
    suspended_from_json,
    suspended_to_json,
)

IDS_PER_UPDATE = 500

_BEGIN = Prepared(
    insert(turns).on_conflict_do_nothing(),
    [
        "tenant",
        "turn_id",
        "user_id",
        "session_id",
        "request_id",
        "payload_sha256",
        "state",
        "owner",
        "lease_expire_time",
        "last_sequence",
        "create_time",
        "language",
        "suspended",
    ],
)
_FINISH = Prepared(
    update(turns)
    .where(
        turns.c.tenant == bindparam("this_tenant"),
        turns.c.user_id == bindparam("this_user"),
        turns.c.turn_id == bindparam("this_turn"),
        turns.c.owner == bindparam("this_owner"),
        OPEN,
    )
    .values(
        state=TurnState.ENDED,
        end_time=bindparam("end_time"),
        last_sequence=bindparam("last_sequence"),
        final_state=bindparam("final_state"),
        suspended=null(),
    )
)

_LAST_CONTEXT = Prepared(
    select(sessions.c.matter_context).where(
        sessions.c.tenant == bindparam("this_tenant"),
        sessions.c.user_id == bindparam("this_user"),
        sessions.c.session_id == bindparam("this_session"),
    )
)

# All columns of a TurnRecord. What a turn goes on from is not one of them: it may be megabytes.
_RECORD_COLUMNS: tuple[Column[Any], ...] = (
    turns.c.tenant,
    turns.c.user_id,
    turns.c.turn_id,
    turns.c.session_id,
    turns.c.state,
    turns.c.last_sequence,
    turns.c.final_state,
    turns.c.language,
    turns.c.owner,
    turns.c.take_overs,
)


class SqlTurnStore(Store):
    """A TurnStore in a Database."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._known = KnownContents()

    @writing
    def begin(
        self,
        transaction: Connection,
        caller: Caller,
        turn_id: str,
        request: TurnRequest,
        payload_sha256: str,
        owner: str,
        lease_s: float,
    ) -> TurnBegun:
        now = self._database.now()
        row = {
            "tenant": caller.tenant,
            "turn_id": turn_id,
            "user_id": caller.user,
            "session_id": request.session_id,
            "request_id": request.request_id,
            "payload_sha256": payload_sha256,
            "state": TurnState.RUNNING,
            "owner": owner,
            "lease_expire_time": now + timedelta(seconds=lease_s),
            "last_sequence": 0,
            "create_time": now,
            "language": request.language,
            "suspended": suspended_to_json(SuspendedTurn.at_start(request)),
        }
        if _BEGIN.run(transaction, row):
            matter_id = _matter_of(transaction, caller, request)
            note_matters(transaction, caller, turn_id, request, matter_id)
            record(transaction, now, caller.tenant, Done("ask", "turn", turn_id, matter_id))
            return TurnBegun(turn_id, created=True)
        return _begun_or_busy(transaction, caller, request, payload_sha256)

    @reading
    def begun_before(self, transaction: Connection, caller: Caller, request_id: str, payload_sha256: str) -> str | None:
        return _begun_before(transaction, caller, request_id, payload_sha256)

    @writing
    @across_tenants
    def renew(self, transaction: Connection, owner: str, turn_ids: list[str], lease_s: float) -> Sequence[str]:
        until = self._database.now() + timedelta(seconds=lease_s)
        lost: list[str] = []
        for start in range(0, len(turn_ids), IDS_PER_UPDATE):
            some = turn_ids[start : start + IDS_PER_UPDATE]
            own = update(turns).where(OPEN, turns.c.owner == owner, turns.c.turn_id.in_(some))
            if transaction.execute(own.values(lease_expire_time=until)).rowcount < len(some):
                others = select(turns.c.turn_id).where(OPEN, turns.c.owner != owner, turns.c.turn_id.in_(some))
                lost += transaction.execute(others).scalars()
        return lost

    async def checkpoint(
        self, caller: Caller, turn_id: str, last_sequence: int, suspended: SuspendedTurn, owner: str
    ) -> None:
        # Encoded outside the transaction: megabytes take long, and all writes share one thread.
        text = await asyncio.to_thread(suspended_to_json, suspended)
        await self._change(caller, turn_id, owner, {"last_sequence": last_sequence, "suspended": text})

    async def finish(
        self, caller: Caller, turn_id: str, session_id: str, last_sequence: int, outcome: TurnOutcome, owner: str
    ) -> None:
        """Ends the turn, and stores its messages in its session. Raises TurnUnknown and TurnLost."""
        contents = self._known.new(caller.tenant, outcome.contents)
        if await self._finish(caller, turn_id, session_id, last_sequence, outcome, contents, owner):
            self._known.stored(caller.tenant, contents)

    @writing
    def _finish(
        self,
        transaction: Connection,
        caller: Caller,
        turn_id: str,
        session_id: str,
        last_sequence: int,
        outcome: TurnOutcome,
        contents: Mapping[str, str],
        owner: str,
    ) -> bool:
        """Returns whether this call has ended the turn; False when it had ended before."""
        now = self._database.now()
        row = {
            "this_tenant": caller.tenant,
            "this_user": caller.user,
            "this_turn": turn_id,
            "this_owner": owner,
            "end_time": now,
            "last_sequence": last_sequence,
            "final_state": outcome.final_state,
        }
        if not _FINISH.run(transaction, row):
            if _get(transaction, caller, turn_id).owner != owner:
                raise TurnLost(turn_id)
            return False
        keep_contents(transaction, caller.tenant, contents)
        if read := _read_in(turn_id, outcome):
            record(transaction, now, caller.tenant, read)
        if session_id:
            keep_outcome(transaction, caller, session_id, turn_id, outcome, now)
        return True

    async def suspend(
        self, caller: Caller, turn_id: str, last_sequence: int, suspended: SuspendedTurn, owner: str
    ) -> None:
        text = await asyncio.to_thread(suspended_to_json, suspended)
        values = {"state": TurnState.AWAITING_APPROVAL, "last_sequence": last_sequence, "suspended": text}
        await self._change(caller, turn_id, owner, values)

    async def resume(self, caller: Caller, turn_id: str, owner: str, lease_s: float) -> None:
        until = self._database.now() + timedelta(seconds=lease_s)
        await self._change(caller, turn_id, owner, {"state": TurnState.RUNNING, "lease_expire_time": until})

    @writing
    def _change(self, transaction: Connection, caller: Caller, turn_id: str, owner: str, values: Any) -> None:
        _change(transaction, caller, turn_id, owner, values)

    @writing
    def record_decision(
        self,
        transaction: Connection,
        caller: Caller,
        turn_id: str,
        session_id: str,
        positions: Sequence[int],
        decision: Decision,
        approved: ApprovedTool | None,
        owner: str,
    ) -> None:
        found = select(turns.c.suspended).where(*_is_turn(caller, turn_id), AWAITING)
        suspended = with_items(transaction, turns.c.suspended, found, "decisions", positions, decision.value)
        _change(transaction, caller, turn_id, owner, {"suspended": suspended}, AWAITING)
        record(transaction, self._database.now(), caller.tenant, Done(decision.value, "turn", turn_id))
        if approved is not None and session_id:
            approve_tool(transaction, caller, session_id, approved)

    @reading
    def suspended(self, transaction: Connection, caller: Caller, turn_id: str) -> SuspendedTurn:
        query = select(turns.c.suspended).where(*_is_turn(caller, turn_id), OPEN)
        row = transaction.execute(query).one_or_none()
        if row is None:
            raise TurnUnknown(turn_id)
        return suspended_from_json(row.suspended)

    @reading
    def get(self, transaction: Connection, caller: Caller, turn_id: str) -> TurnRecord:
        return _record_of(_get(transaction, caller, turn_id))

    @writing
    @across_tenants
    def take_over(
        self,
        transaction: Connection,
        owner: str,
        lease_s: float,
        limit: int,
        lost: int,
        *,
        is_new: bool = False,
        running: Collection[str] = (),
    ) -> Sequence[TurnRecord]:
        now = self._database.now()
        until = now + timedelta(seconds=lease_s)
        nobodys = or_(turns.c.lease_expire_time <= now, turns.c.owner == RELEASED)
        if is_new:
            nobodys = or_(nobodys, turns.c.owner == owner)
        found = select(*_RECORD_COLUMNS).where(OPEN, nobodys).order_by(turns.c.create_time)
        taken: list[TurnRecord] = []
        for row in transaction.execute(found.limit(limit + len(running))).all():
            if len(taken) == limit or (row.owner == owner and row.turn_id in running):
                continue
            was_at_work = row.state is TurnState.RUNNING and row.owner != RELEASED
            values: dict[str, Any] = {
                "owner": owner,
                "last_sequence": row.last_sequence + lost * was_at_work,
                "take_overs": row.take_overs + was_at_work,
            }
            this = turns.c.tenant == row.tenant, turns.c.turn_id == row.turn_id, turns.c.owner == row.owner
            if transaction.execute(update(turns).where(*this, OPEN).values(**values, lease_expire_time=until)).rowcount:
                taken.append(replace(_record_of(row), **values))
        return taken

    @writing
    @across_tenants
    def release(self, transaction: Connection, owner: str, last_sequences: Mapping[str, int]) -> None:
        now = self._database.now()
        for turn_id, last_sequence in last_sequences.items():
            transaction.execute(
                update(turns)
                .where(OPEN, turns.c.owner == owner, turns.c.turn_id == turn_id)
                .values(owner=RELEASED, lease_expire_time=now, last_sequence=last_sequence)
            )


def _matter_of(transaction: Connection, caller: Caller, request: TurnRequest) -> str:
    """The id of the matter that a request names, else of the one that its session last knew; empty for none. Whether
    the caller may read it is seen later."""
    context = request.matter_context or parse_marker(request.message).context
    if context is None and request.session_id:
        values = {"this_tenant": caller.tenant, "this_user": caller.user, "this_session": request.session_id}
        session = _LAST_CONTEXT.one(transaction, values)
        context = session.matter_context if session else None
    return context.matter_id if context is not None and is_uuid(context.matter_id) else ""


def _read_in(turn_id: str, outcome: TurnOutcome) -> Done | None:
    """What the agent read in a turn, for the audit; None where it called no tool that answered."""
    final = outcome.final_state
    calls = [call for call in final.tool_call_records if not call.error]
    tools = {call.tool if call.server_name == OWN_SERVER else f"{call.server_name}/{call.tool}" for call in calls}
    context = final.request_context.matter_context if final.request_context else None
    action = f"read by {', '.join(sorted(tools))}; documents: {outcome.documents_read}"
    return Done(action, "turn", turn_id, context.matter_id if context else "") if tools else None


def _begun_or_busy(transaction: Connection, caller: Caller, request: TurnRequest, payload_sha256: str) -> TurnBegun:
    """Why the row of a new turn was refused: the turn of the same request, if there was one. Raises SessionBusy when
    another turn of the session is open."""
    if request.request_id:
        earlier = _begun_before(transaction, caller, request.request_id, payload_sha256)
        if earlier is not None:
            return TurnBegun(earlier, created=False)
    in_session = select(turns.c.turn_id).where(
        *_owned_by(caller), turns.c.session_id == request.session_id, OPEN_IN_SESSION
    )
    raise SessionBusy(request.session_id, transaction.execute(in_session).scalar_one())


def _begun_before(transaction: Connection, caller: Caller, request_id: str, payload_sha256: str) -> str | None:
    query = select(turns.c.turn_id, turns.c.payload_sha256).where(
        *_owned_by(caller), turns.c.request_id == request_id, WITH_REQUEST_ID
    )
    row = transaction.execute(query).one_or_none()
    if row is None:
        return None
    if row.payload_sha256 != payload_sha256:
        raise RequestIdReused(request_id)
    turn_id: str = row.turn_id
    return turn_id


def _get(transaction: Connection, caller: Caller, turn_id: str) -> Row[Any]:
    row = transaction.execute(select(*_RECORD_COLUMNS).where(*_is_turn(caller, turn_id))).one_or_none()
    if row is None:
        raise TurnUnknown(turn_id)
    return row


def _change(
    transaction: Connection,
    caller: Caller,
    turn_id: str,
    owner: str,
    values: Any,
    condition: ColumnElement[bool] | TextClause = OPEN,
) -> None:
    """Updates the turn. Raises TurnLost where it is not the owner's, and TurnUnknown unless there is such a turn that
    fulfils the condition."""
    this = *_is_turn(caller, turn_id), turns.c.owner == owner, condition
    if transaction.execute(update(turns).where(*this).values(values)).rowcount == 0:
        if _get(transaction, caller, turn_id).owner != owner:
            raise TurnLost(turn_id)
        raise TurnUnknown(turn_id)


def _is_turn(caller: Caller, turn_id: str) -> tuple[Any, ...]:
    return *_owned_by(caller), turns.c.turn_id == turn_id


def _owned_by(caller: Caller) -> tuple[Any, ...]:
    return turns.c.tenant == caller.tenant, turns.c.user_id == caller.user


def _record_of(row: Row[Any]) -> TurnRecord:
    return TurnRecord(
        turn_id=row.turn_id,
        caller=Caller(row.tenant, row.user_id),
        session_id=row.session_id,
        state=row.state,
        last_sequence=row.last_sequence,
        final_state=row.final_state,
        language=row.language,
        owner=row.owner,
        take_overs=row.take_overs,
    )
