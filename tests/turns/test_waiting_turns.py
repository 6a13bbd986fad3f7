"""Turns that wait for a person's decisions on their tool calls."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from proviso_service.context.model import ApprovedTool
from proviso_service.errors import SessionBusy, TurnNotWaiting, TurnUnknown
from proviso_service.turns import (
    ApprovalRequired,
    ExitReason,
    Heartbeat,
    OnDisconnect,
    ToolCallRecord,
    TurnOutcome,
    TurnState,
)
from tests.turns.asking import (
    DENY,
    FOR_SESSION,
    IN_SESSION,
    ONCE,
    OTHER_TOOL,
    SAME_TOOL,
    SHORT_S,
    Asking,
    message_of,
    waiting,
)
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import (
    ANN,
    ASKED,
    BEN,
    QUESTION,
    TIME,
    TURN_START,
    USAGE_SO_FAR,
    Program,
    ScriptedExecution,
    assert_gapless,
    collect,
    completed,
    final_of,
    read_to,
    running,
)


async def test_a_turn_asks_and_goes_on_with_the_decision() -> None:
    async with running(Asking().program, approval_s=60) as turns:
        turn_id = await waiting(turns)
        before = datetime.now(UTC)
        record = await turns.get(ANN, turn_id)
        assert (record.state, record.last_sequence) == (TurnState.AWAITING_APPROVAL, 4)
        (asked,) = record.pending_approvals
        assert (asked.call_id, asked.tool, asked.server_name, asked.input_json) == (
            *("call-1", "time__get_time", "time"),
            ASKED.input_json,
        )
        assert timedelta(seconds=50) < asked.expire_time - before <= timedelta(seconds=60)
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        events = await collect(turns, turn_id)
        assert_gapless(events, 0, 7)
        assert [e.event for e in events if isinstance(e.event, ApprovalRequired)] == [asked]
        assert final_of(events).message == "call-1 approve_once"
        record = await turns.get(ANN, turn_id)
        assert (record.state, record.pending_approvals) == (TurnState.ENDED, ())


async def test_the_state_is_stored_before_anybody_is_asked() -> None:
    store = MemoryTurnStore()
    store.gates["suspend"] = asyncio.Event()
    async with running(Asking().program, store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await store.reached["suspend"].wait()
        assert (await turns.get(ANN, turn_id)).last_sequence == 3
        store.gates["suspend"].set()
        await read_to(turns, turn_id, 4)
        assert store.rows[turn_id].record.state is TurnState.AWAITING_APPROVAL
        await turns.decide(ANN, turn_id, "call-1", DENY)
        assert await message_of(turns, turn_id) == "call-1 deny"


async def test_a_turn_that_cannot_be_stored_asks_nobody() -> None:
    store = MemoryTurnStore()
    store.failures["suspend"] = [OSError("disk full")]
    async with running(Asking().program, store) as turns:
        events = await collect(turns, await turns.start(ANN, QUESTION))
    assert final_of(events).exit_reason is ExitReason.INTERNAL_ERROR
    assert not any(isinstance(logged.event, ApprovalRequired) for logged in events)


async def test_a_turn_whose_log_has_no_room_for_the_questions_ends_and_is_not_left_waiting() -> None:
    store = MemoryTurnStore()
    store.gates["finish"] = asyncio.Event()
    asking = Asking(((ASKED, OTHER_TOOL),), before=(TURN_START,) * 99)
    async with running(asking.program, store, log_max_events=100) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await store.reached["finish"].wait()
        assert (await turns.get(ANN, turn_id)).pending_approvals == ()
        with pytest.raises(TurnNotWaiting):
            await turns.decide(ANN, turn_id, "call-1", ONCE)
        draining = asyncio.create_task(turns.drain(grace_s=0))
        await asyncio.sleep(0)
        store.gates["finish"].set()
        await draining
        assert final_of(await collect(turns, turn_id)).exit_reason is ExitReason.INTERNAL_ERROR


async def test_it_waits_for_all_calls() -> None:
    asking = Asking(((ASKED, OTHER_TOOL),))
    async with running(asking.program) as turns:
        turn_id = await waiting(turns, sequence=5)
        await turns.decide(ANN, turn_id, "call-3", DENY)
        record = await turns.get(ANN, turn_id)
        assert [asked.call_id for asked in record.pending_approvals] == ["call-1"]
        assert not asking.resumed.is_set()
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        assert await message_of(turns, turn_id) == "call-1 approve_once, call-3 deny"


async def test_an_approval_for_the_session_covers_waiting_calls_of_the_same_tool_and_is_stored_at_once() -> None:
    store = MemoryTurnStore()
    async with running(Asking(((ASKED, SAME_TOOL, OTHER_TOOL),)).program, store) as turns:
        turn_id = await waiting(turns, IN_SESSION, sequence=6)
        await turns.decide(ANN, turn_id, "call-2", FOR_SESSION)
        assert store.approved == [ApprovedTool.of(TIME, "what it is")]
        record = await turns.get(ANN, turn_id)
        assert [asked.call_id for asked in record.pending_approvals] == ["call-3"]
        await turns.decide(ANN, turn_id, "call-1", FOR_SESSION)
        with pytest.raises(TurnNotWaiting):
            await turns.decide(ANN, turn_id, "call-1", DENY)
        await turns.decide(ANN, turn_id, "call-3", ONCE)
        assert await message_of(turns, turn_id) == (
            "call-1 approve_for_session, call-2 approve_for_session, call-3 approve_once"
        )


async def test_a_decision_may_be_repeated_but_not_changed_also_after_the_end() -> None:
    asking = Asking()
    asking.gate.clear()
    async with running(asking.program) as turns:
        turn_id = await waiting(turns)
        for _ in range(2):
            await turns.decide(ANN, turn_id, "call-1", ONCE)
        with pytest.raises(TurnNotWaiting):
            await turns.decide(ANN, turn_id, "call-1", DENY)
        asking.gate.set()
        await turns.wait(ANN, turn_id)
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        with pytest.raises(TurnNotWaiting):
            await turns.decide(ANN, turn_id, "call-1", DENY)


async def test_a_decision_may_be_repeated_when_the_events_are_no_longer_kept() -> None:
    made = ToolCallRecord("call-1", "get_time", "time", "{}", datetime.now(UTC), 0.1, decision=ONCE)

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        await Asking().program.script(execution)
        outcome = completed()
        return replace(outcome, final_state=replace(outcome.final_state, tool_call_records=(made,)))

    store = MemoryTurnStore()
    async with running(Program(script), store) as turns:
        turn_id = await waiting(turns)
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        await turns.wait(ANN, turn_id)
    async with running(Program(script), store) as turns:
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        for call_id, decision in (("call-1", DENY), ("call-2", ONCE)):
            with pytest.raises(TurnNotWaiting):
                await turns.decide(ANN, turn_id, call_id, decision)
        with pytest.raises(TurnUnknown):
            await turns.decide(BEN, turn_id, "call-1", ONCE)


async def test_of_contrary_decisions_at_once_one_holds() -> None:
    async with running(Asking().program) as turns:
        turn_id = await waiting(turns)
        deciding = (turns.decide(ANN, turn_id, "call-1", decision) for decision in (ONCE, DENY))
        first, second = await asyncio.gather(*deciding, return_exceptions=True)
        assert first is None
        assert isinstance(second, TurnNotWaiting)
        assert await message_of(turns, turn_id) == "call-1 approve_once"


async def test_who_may_not_decide() -> None:
    asking = Asking()
    async with running(asking.program) as turns:
        with pytest.raises(TurnUnknown):
            await turns.decide(ANN, "no-such-turn", "call-1", ONCE)
        turn_id = await waiting(turns)
        with pytest.raises(TurnUnknown):
            await turns.decide(BEN, turn_id, "call-1", ONCE)
        with pytest.raises(TurnNotWaiting):
            await turns.decide(ANN, turn_id, "call-9", ONCE)
        assert not asking.resumed.is_set()


async def test_a_decision_that_cannot_be_stored_is_none() -> None:
    store = MemoryTurnStore()
    store.failures["record_decision"] = [OSError("disk full")]
    async with running(Asking().program, store) as turns:
        turn_id = await waiting(turns)
        with pytest.raises(OSError, match="disk full"):
            await turns.decide(ANN, turn_id, "call-1", ONCE)
        await turns.decide(ANN, turn_id, "call-1", DENY)
        assert await message_of(turns, turn_id) == "call-1 deny"


async def test_a_caller_who_goes_away_while_the_decision_is_stored_has_decided() -> None:
    store = MemoryTurnStore()
    store.gates["record_decision"] = asyncio.Event()
    async with running(Asking().program, store) as turns:
        turn_id = await waiting(turns)
        deciding = asyncio.create_task(turns.decide(ANN, turn_id, "call-1", ONCE))
        await store.reached["record_decision"].wait()
        deciding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await deciding
        store.gates["record_decision"].set()
        assert await message_of(turns, turn_id) == "call-1 approve_once"


async def test_calls_expire() -> None:
    async with running(Asking(((ASKED, OTHER_TOOL),)).program, approval_s=SHORT_S) as turns:
        turn_id = await waiting(turns, sequence=5)
        await turns.decide(ANN, turn_id, "call-3", ONCE)
        assert await message_of(turns, turn_id) == "call-1 None, call-3 approve_once"
        with pytest.raises(TurnNotWaiting):
            await turns.decide(ANN, turn_id, "call-1", ONCE)


async def test_a_decision_that_is_being_stored_when_the_time_is_over_counts() -> None:
    store = MemoryTurnStore()
    store.gates["record_decision"] = asyncio.Event()
    limit_s = 0.5  # the decision has to come before it is over, also on a busy machine
    async with running(Asking().program, store, approval_s=limit_s) as turns:
        turn_id = await waiting(turns)
        deciding = asyncio.create_task(turns.decide(ANN, turn_id, "call-1", ONCE))
        await asyncio.sleep(limit_s + SHORT_S)  # the time passes
        store.gates["record_decision"].set()
        await deciding
        assert await message_of(turns, turn_id) == "call-1 approve_once"


async def test_a_turn_may_wait_more_than_once() -> None:
    async with running(Asking(((ASKED,), (SAME_TOOL, OTHER_TOOL))).program) as turns:
        turn_id = await waiting(turns)
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        await read_to(turns, turn_id, 6)
        await turns.decide(ANN, turn_id, "call-2", DENY)
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        await turns.decide(ANN, turn_id, "call-3", DENY)
        assert await message_of(turns, turn_id) == "call-1 approve_once; call-2 deny, call-3 deny"


async def test_the_time_limit_stands_still_and_counts_on_afterwards() -> None:
    limit_s = 0.2
    asking = Asking()
    asking.gate.clear()
    async with running(asking.program, time_limit_s=limit_s) as turns:
        turn_id = await waiting(turns)
        await asyncio.sleep(1.5 * limit_s)  # more than the limit passes
        loop = asyncio.get_running_loop()
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        decided = loop.time()
        assert (await turns.wait(ANN, turn_id)).exit_reason is ExitReason.DEADLINE_EXCEEDED
        assert asking.resumed.is_set()
        assert loop.time() - decided < limit_s + 10


@pytest.mark.parametrize("on_disconnect", [OnDisconnect.GRACE, OnDisconnect.CANCEL])
async def test_being_left_alone_does_not_end_it_while_it_waits_but_does_afterwards(
    on_disconnect: OnDisconnect,
) -> None:
    store, asking = MemoryTurnStore(), Asking()
    asking.gate.clear()
    async with running(asking.program, store, grace_s=SHORT_S) as turns:
        turn_id = await turns.start(ANN, replace(QUESTION, on_disconnect=on_disconnect))
        await store.reached["suspend"].wait()
        await read_to(turns, turn_id, 4)
        await asyncio.sleep(3 * SHORT_S)  # the grace time passes
        assert (await turns.get(ANN, turn_id)).state is TurnState.AWAITING_APPROVAL
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        await store.reached["finish"].wait()
        assert store.finished[0].final_state.exit_reason is ExitReason.CANCELLED
        assert asking.resumed.is_set()


async def test_a_reader_of_a_waiting_turn_gets_heartbeats_and_then_the_rest() -> None:
    async with running(Asking().program, heartbeat_s=SHORT_S) as turns:
        turn_id = await waiting(turns)
        async with aclosing(turns.read(ANN, turn_id, 4)) as items:
            assert isinstance(await anext(items), Heartbeat)
            await turns.decide(ANN, turn_id, "call-1", ONCE)
            rest = [item async for item in items if not isinstance(item, Heartbeat)]
    assert_gapless(rest, 4, 7)


async def test_cancelling_ends_it_with_the_program_s_account() -> None:
    store = MemoryTurnStore()
    async with running(Asking().program, store) as turns:
        turn_id = await waiting(turns)
        assert await turns.cancel(ANN, turn_id)
        final = await turns.wait(ANN, turn_id)
        assert (final.exit_reason, final.usage) == (ExitReason.CANCELLED, USAGE_SO_FAR)
        with pytest.raises(TurnNotWaiting):
            await turns.decide(ANN, turn_id, "call-1", ONCE)
        assert (await turns.get(ANN, turn_id)).pending_approvals == ()


async def test_its_session_is_busy() -> None:
    async with running(Asking().program) as turns:
        turn_id = await waiting(turns, IN_SESSION)
        with pytest.raises(SessionBusy) as busy:
            await turns.start(ANN, IN_SESSION)
        assert busy.value.turn_id == turn_id


async def test_a_turn_that_is_being_cancelled_takes_no_more_decisions() -> None:
    store = MemoryTurnStore()
    store.gates["finish"] = asyncio.Event()
    async with running(Asking().program, store) as turns:
        turn_id = await waiting(turns)
        cancelling = asyncio.create_task(turns.cancel(ANN, turn_id))
        await store.reached["finish"].wait()
        with pytest.raises(TurnNotWaiting):
            await turns.decide(ANN, turn_id, "call-1", ONCE)
        assert (await turns.get(ANN, turn_id)).pending_approvals == ()
        store.gates["finish"].set()
        assert await cancelling
