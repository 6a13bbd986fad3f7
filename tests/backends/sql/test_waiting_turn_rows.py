"""Tests of the rows of turns that wait for a person's decision."""

import threading
from dataclasses import replace

import pytest
from sqlalchemy import text

from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.sessions import SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.context.model import ApprovedTool, IncludeMode, ItemRef, ItemType, NewSession, SessionItem
from proviso_service.errors import SessionBusy, TurnUnknown
from proviso_service.identity import Caller
from proviso_service.turns import (
    ApprovalRequired,
    AskedCall,
    Decision,
    LoggedEvent,
    SuspendedTurn,
    SuspensionUnreadable,
    TurnRequest,
    TurnState,
    suspended_to_json,
)
from tests.support.stored import Clock, an_outcome

ANNA = Caller("acme", "anna")
OTHERS = [Caller("acme", "ben"), Caller("other", "anna")]
QUESTION = TurnRequest("When is rent due?", session_id="s")
TIME = ItemRef(ItemType.TOOL, "get_time", "time")
APPROVED = ApprovedTool.of(TIME, "sha")
CALLS = tuple(AskedCall(call_id, "time__get_time", TIME, '{"a": "😀"}', "sha") for call_id in ("a", 'b".$[0]', "c"))


@pytest.fixture
def suspended(clock: Clock) -> SuspendedTurn:
    asked = ApprovalRequired("a", "time__get_time", "time", "{}", clock())
    return SuspendedTurn(
        QUESTION, "{}", CALLS, (None,) * 3, clock(), 1.5, {}, (LoggedEvent(1, 1, clock().timestamp(), asked),)
    )


async def waits(turns: SqlTurnStore, suspended: SuspendedTurn, turn_id: str = "t-1") -> None:
    await turns.begin(ANNA, turn_id, replace(QUESTION, session_id="s" if turn_id == "t-1" else ""), "hash", "me", 60)
    await turns.suspend(ANNA, turn_id, 17, suspended, "me")


async def test_a_waiting_turn_is_found_with_all_that_it_goes_on_from(
    turns: SqlTurnStore, suspended: SuspendedTurn
) -> None:
    await waits(turns, suspended)
    record = await turns.get(ANNA, "t-1")
    assert (record.turn_id, record.caller, record.session_id) == ("t-1", ANNA, "s")
    assert (record.state, record.last_sequence) == (TurnState.AWAITING_APPROVAL, 17)
    assert await turns.suspended(ANNA, "t-1") == suspended
    with pytest.raises(SessionBusy):
        await turns.begin(ANNA, "t-2", QUESTION, "hash", "me", 60)


async def test_what_a_turn_goes_on_from_is_written_as_json_before_the_one_thread_that_writes_is_taken(
    turns: SqlTurnStore, suspended: SuspendedTurn, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []

    def encode(turn: SuspendedTurn) -> str:
        threads.append(threading.current_thread().name)
        return suspended_to_json(turn)

    monkeypatch.setattr("proviso_service.backends.sql.turns.suspended_to_json", encode)
    await waits(turns, suspended)
    thread = threads[-1]  # the first is the small one of its begin
    assert thread != threading.main_thread().name
    assert not thread.startswith("state-write")


async def test_decisions_are_kept_by_position_whatever_call_ids_look_like(
    turns: SqlTurnStore, suspended: SuspendedTurn
) -> None:
    await waits(turns, suspended)
    await turns.record_decision(ANNA, "t-1", "s", (1,), Decision.DENY, None, "me")
    await turns.record_decision(ANNA, "t-1", "s", (0, 2), Decision.APPROVE_FOR_SESSION, None, "me")
    decisions = (Decision.APPROVE_FOR_SESSION, Decision.DENY, Decision.APPROVE_FOR_SESSION)
    assert await turns.suspended(ANNA, "t-1") == replace(suspended, decisions=decisions)


async def test_a_tool_is_approved_for_the_session_once(
    turns: SqlTurnStore, sessions: SqlSessionStore, suspended: SuspendedTurn
) -> None:
    await sessions.create(ANNA, "s", NewSession((SessionItem(TIME, IncludeMode.ALWAYS),)))
    await sessions.create(OTHERS[0], "s", NewSession())
    await waits(turns, suspended)
    mail = ApprovedTool("send", "mail", "sha")
    for position, tool in enumerate((APPROVED, mail, APPROVED)):
        await turns.record_decision(ANNA, "t-1", "s", (position,), Decision.APPROVE_FOR_SESSION, tool, "me")
    assert (await sessions.get(ANNA, "s")).approved_tools == (APPROVED, mail)
    assert (await sessions.get(OTHERS[0], "s")).approved_tools == ()


async def test_an_approval_of_what_a_tool_has_become_takes_the_place_of_the_earlier_one(
    turns: SqlTurnStore, sessions: SqlSessionStore, suspended: SuspendedTurn, database: Database
) -> None:
    await sessions.create(ANNA, "s", NewSession())
    kept_before = '[{"type": "tool", "name": "get_time", "server_name": "time"}]'
    written = text("UPDATE sessions SET approved_tools = :tools").bindparams(tools=kept_before)
    await database.write(lambda transaction: transaction.execute(written))
    assert (await sessions.get(ANNA, "s")).approved_tools == (ApprovedTool("get_time", "time", ""),)
    await waits(turns, suspended)
    await turns.record_decision(ANNA, "t-1", "s", (0,), Decision.APPROVE_FOR_SESSION, APPROVED, "me")
    assert (await sessions.get(ANNA, "s")).approved_tools == (APPROVED,)


async def test_an_approval_for_no_session_or_one_that_does_not_exist_makes_none(
    turns: SqlTurnStore, sessions: SqlSessionStore, suspended: SuspendedTurn
) -> None:
    await waits(turns, suspended)
    for session_id in ("", "s"):
        await turns.record_decision(ANNA, "t-1", session_id, (0,), Decision.APPROVE_FOR_SESSION, APPROVED, "me")
    assert await sessions.history(ANNA, "s", 100) == ()


async def test_a_turn_that_goes_on_has_a_new_lease_and_what_it_was_suspended_with(
    turns: SqlTurnStore, suspended: SuspendedTurn, clock: Clock
) -> None:
    await waits(turns, suspended)
    clock.advance(1_000)
    await turns.resume(ANNA, "t-1", "me", 60)
    clock.advance(59)
    assert await turns.take_over("other", 60, 10, 0) == []
    clock.advance(1)
    assert len(await turns.take_over("other", 60, 10, 0)) == 1
    assert await turns.suspended(ANNA, "t-1") == suspended


async def test_a_turn_that_ends_while_it_waits_leaves_nothing_behind(
    turns: SqlTurnStore, suspended: SuspendedTurn, database: Database
) -> None:
    await waits(turns, suspended)
    await turns.finish(ANNA, "t-1", "s", 18, an_outcome(), "me")
    query = text("SELECT count(*) FROM turns WHERE suspended IS NOT NULL")
    assert await database.read(lambda transaction: transaction.execute(query).scalar_one()) == 0


async def test_only_an_open_turn_is_suspended_and_resumed_and_only_a_waiting_one_decided(
    turns: SqlTurnStore, suspended: SuspendedTurn
) -> None:
    await turns.begin(ANNA, "t-1", QUESTION, "hash", "me", 60)
    with pytest.raises(TurnUnknown):
        await turns.record_decision(ANNA, "t-1", "s", (0,), Decision.DENY, None, "me")
    for _ in range(2):  # nobody knows of a call that timed out whether it was carried out
        await turns.suspend(ANNA, "t-1", 17, suspended, "me")
    for _ in range(2):
        await turns.resume(ANNA, "t-1", "me", 60)
    await turns.finish(ANNA, "t-1", "s", 18, an_outcome(), "me")
    with pytest.raises(TurnUnknown):
        await turns.suspend(ANNA, "t-1", 17, suspended, "me")
    with pytest.raises(TurnUnknown):
        await turns.resume(ANNA, "t-1", "me", 60)
    with pytest.raises(TurnUnknown):
        await turns.suspended(ANNA, "t-1")


@pytest.mark.parametrize("other", OTHERS)
async def test_another_callers_turn_is_unknown(turns: SqlTurnStore, suspended: SuspendedTurn, other: Caller) -> None:
    await waits(turns, suspended)
    with pytest.raises(TurnUnknown):
        await turns.record_decision(other, "t-1", "s", (0,), Decision.DENY, None, "me")
    with pytest.raises(TurnUnknown):
        await turns.resume(other, "t-1", "me", 60)
    with pytest.raises(TurnUnknown):
        await turns.suspended(other, "t-1")


async def test_what_cannot_be_read_spoils_no_other_turn(
    turns: SqlTurnStore, suspended: SuspendedTurn, database: Database
) -> None:
    await waits(turns, suspended)
    await waits(turns, suspended, "t-2")
    spoil = text("UPDATE turns SET suspended = '{' WHERE turn_id = 't-1'")
    await database.write(lambda transaction: transaction.execute(spoil))
    assert len(await turns.take_over("me", 60, 10, 0, is_new=True)) == 2
    with pytest.raises(SuspensionUnreadable):
        await turns.suspended(ANNA, "t-1")
    assert await turns.suspended(ANNA, "t-2") == suspended
    assert (await turns.get(ANNA, "t-1")).state is TurnState.AWAITING_APPROVAL
