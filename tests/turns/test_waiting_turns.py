"""Turns that wait for a person's decisions on their tool calls."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from proviso_service.context.model import ItemRef, ItemType
from proviso_service.errors import Draining, SessionBusy, TurnExpired, TurnNotWaiting, TurnUnknown
from proviso_service.turns.events import ApprovalRequired, DiscardReason, Event, Heartbeat, TextDiscarded, Token
from proviso_service.turns.exit_reasons import ExitReason, Retryable
from proviso_service.turns.ports import AskedCall, OnDisconnect, TurnOutcome, TurnRequest, TurnState
from proviso_service.turns.records import Decision, ToolCallRecord, Usage
from proviso_service.turns.service import Turns
from tests.turns.scripted import (
    ANN,
    ASKED,
    BEN,
    QUESTION,
    TIME,
    TOOL_END,
    TOOL_START,
    TURN_START,
    USAGE_SO_FAR,
    MemoryTurnStore,
    Program,
    ScriptedExecution,
    assert_gapless,
    collect,
    completed,
    final_of,
    read_to,
    running,
)

SAME_TOOL = replace(ASKED, call_id="call-2")
OTHER_TOOL = AskedCall("call-3", "send", ItemRef(ItemType.TOOL, "send", "mail"), "{}")
IN_SESSION = replace(QUESTION, session_id="lease")
SHORT_S = 0.02
ONCE, FOR_SESSION, DENY = Decision.APPROVE_ONCE, Decision.APPROVE_FOR_SESSION, Decision.DENY


@dataclass
class Asking:
    """A script that emits `before`, asks about each batch of `calls`, waits for `gate`, and completes with the
    decisions in words. A run that goes on after a restart asks again about the batch that its state names."""

    calls: tuple[tuple[AskedCall, ...], ...] = ((ASKED,),)
    before: tuple[Event, ...] = (TURN_START, Token("t1", "Let me "), Token("t1", "look."))
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    resumed: asyncio.Event = field(default_factory=asyncio.Event)
    states: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate.set()

    @property
    def program(self) -> Program:
        return Program(self._script)

    async def _script(self, execution: ScriptedExecution) -> TurnOutcome:
        self.states.append(execution.state)
        if not execution.state:
            for event in self.before:
                execution.emit(event)
        words = []
        for number, batch in enumerate(self.calls):
            if number >= int(execution.state or 0):
                words.append(await self._ask(execution, batch, number))
        self.resumed.set()
        execution.emit(TOOL_START)
        await self.gate.wait()
        execution.emit(TOOL_END)
        return completed("; ".join(words))

    async def _ask(self, execution: ScriptedExecution, batch: tuple[AskedCall, ...], number: int) -> str:
        async def suspend() -> str:
            return str(number)

        decisions = await execution.approvals.decide(batch, suspend)
        return ", ".join(f"{call_id} {decision}" for call_id, decision in decisions.items())


async def waiting(turns: Turns, request: TurnRequest = QUESTION, sequence: int = 4) -> str:
    """A turn that has asked with its event `sequence`; nobody reads it any more."""
    turn_id = await turns.start(ANN, request)
    await read_to(turns, turn_id, sequence)
    return turn_id


async def message_of(turns: Turns, turn_id: str) -> str:
    return (await turns.wait(ANN, turn_id)).message


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
        assert store.rows[turn_id].suspended == ""


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
        assert store.approved == [TIME]
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
    async with running(Asking().program, store, approval_s=SHORT_S) as turns:
        turn_id = await waiting(turns)
        deciding = asyncio.create_task(turns.decide(ANN, turn_id, "call-1", ONCE))
        await asyncio.sleep(2 * SHORT_S)  # the time passes
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
        assert loop.time() - decided < limit_s + 0.05


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


async def test_draining_leaves_it_and_does_not_wait_for_it() -> None:
    store, loop = MemoryTurnStore(), asyncio.get_running_loop()
    async with running(Asking().program, store, time_limit_s=60) as turns:
        turn_id = await waiting(turns)
        reading = asyncio.create_task(collect(turns, turn_id))
        invoking = asyncio.create_task(turns.wait(ANN, turn_id))
        await asyncio.sleep(0)
        began = loop.time()
        await turns.drain(grace_s=30)
        assert loop.time() - began < 5
        for call in (reading, invoking, turns.decide(ANN, turn_id, "call-1", ONCE), collect(turns, turn_id)):
            with pytest.raises(Draining):
                await call
        assert turns.running == 0
    row = store.rows[turn_id]
    assert row.record.state is TurnState.AWAITING_APPROVAL
    assert not store.finished


async def test_a_decision_that_comes_too_late_for_this_life_is_told_to_come_again() -> None:
    store, asking = MemoryTurnStore(), Asking(((ASKED, OTHER_TOOL),))
    store.gates["record_decision"] = asyncio.Event()
    async with running(asking.program, store) as turns:
        turn_id = await waiting(turns, sequence=5)
        stored = asyncio.create_task(turns.decide(ANN, turn_id, "call-1", ONCE))
        await store.reached["record_decision"].wait()
        queued = asyncio.create_task(turns.decide(ANN, turn_id, "call-3", DENY))
        draining = asyncio.create_task(turns.drain(grace_s=0))
        for _ in range(5):
            await asyncio.sleep(0)  # the turn is left, but for the decision that is being stored
        store.gates["record_decision"].set()
        await stored
        with pytest.raises(Draining):
            await queued
        await draining
    assert (await store.suspended(ANN, turn_id)).decisions == (ONCE, None)


async def test_cancelling_a_turn_that_the_next_life_goes_on_with_is_told_to_come_again() -> None:
    store = MemoryTurnStore()
    async with running(Asking().program, store) as turns:
        turn_id = await waiting(turns)
        store.gates["record_decision"] = asyncio.Event()
        deciding = asyncio.create_task(turns.decide(ANN, turn_id, "call-1", ONCE))
        await store.reached["record_decision"].wait()
        draining = asyncio.create_task(turns.drain(grace_s=0))
        await asyncio.sleep(0)  # the turn is being left
        cancelling = asyncio.create_task(turns.cancel(ANN, turn_id))
        await asyncio.sleep(0)
        store.gates["record_decision"].set()
        await deciding
        with pytest.raises(Draining):
            await cancelling
        await draining
        with pytest.raises(Draining):
            await turns.cancel(ANN, turn_id)
    assert not store.finished


async def test_a_turn_that_is_decided_while_the_service_drains_goes_on() -> None:
    store, asking = MemoryTurnStore(), Asking()
    asking.gate.clear()
    async with running(asking.program, store) as turns:
        busy = await waiting(turns)
        await turns.decide(ANN, busy, "call-1", ONCE)
        await asking.resumed.wait()
        turn_id = await waiting(turns)
        draining = asyncio.create_task(turns.drain(grace_s=30))
        await asyncio.sleep(0)
        await turns.decide(ANN, turn_id, "call-1", DENY)
        asking.gate.set()
        assert await message_of(turns, turn_id) == "call-1 deny"
        await draining


async def restarted(
    store: MemoryTurnStore, asking: Asking, request: TurnRequest = QUESTION, *, approval_s: float = 600
) -> tuple[str, list[Event]]:
    """A turn that waits in the store after its process has gone, and its events so far."""
    async with running(asking.program, store, approval_s=approval_s) as turns:
        sequence = len(asking.before) + len(asking.calls[0])
        turn_id = await waiting(turns, request, sequence)
        return turn_id, [logged.event for logged in await read_to(turns, turn_id, sequence)]


async def test_after_a_restart_it_waits_on_and_its_readers_go_on_anywhere() -> None:
    before_asking = (TURN_START, Token("t1", "Hm"), TextDiscarded("t1", DiscardReason.NOT_FINAL))
    store, asking = MemoryTurnStore(), Asking(before=before_asking)
    turn_id, before = await restarted(store, asking)
    async with running(asking.program, store) as turns:
        record = await turns.get(ANN, turn_id)
        assert record.state is TurnState.AWAITING_APPROVAL
        assert list(record.pending_approvals) == [event for event in before if isinstance(event, ApprovalRequired)]
        assert [logged.event for logged in await read_to(turns, turn_id, 4)] == before
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        for after in range(7):
            assert_gapless(await collect(turns, turn_id, after), after, 7)
        assert await message_of(turns, turn_id) == "call-1 approve_once"
    assert asking.states == ["", "0"]


async def test_decisions_before_a_restart_hold_after_it() -> None:
    store, asking = MemoryTurnStore(), Asking(((ASKED, OTHER_TOOL),))
    async with running(asking.program, store) as turns:
        turn_id = await waiting(turns, sequence=5)
        await turns.decide(ANN, turn_id, "call-3", DENY)
    async with running(asking.program, store) as turns:
        await turns.decide(ANN, turn_id, "call-3", DENY)
        with pytest.raises(TurnNotWaiting):
            await turns.decide(ANN, turn_id, "call-3", ONCE)
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        assert await message_of(turns, turn_id) == "call-1 approve_once, call-3 deny"


async def test_a_turn_all_of_whose_calls_were_decided_before_the_restart_goes_on_at_once() -> None:
    store, asking = MemoryTurnStore(), Asking()
    store.gates["resume"] = asyncio.Event()
    async with running(asking.program, store) as turns:
        turn_id = await waiting(turns)
        await store.record_decision(ANN, turn_id, "", (0,), ONCE, None)
    store.gates.clear()
    async with running(asking.program, store) as turns:
        assert await message_of(turns, turn_id) == "call-1 approve_once"


async def test_a_turn_whose_time_ran_out_meanwhile_goes_on_as_expired() -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking, approval_s=SHORT_S)
    await asyncio.sleep(2 * SHORT_S)  # the time passes while no process runs
    async with running(asking.program, store) as turns:
        assert await message_of(turns, turn_id) == "call-1 None"


async def test_the_time_used_before_a_restart_counts() -> None:
    store, asking = MemoryTurnStore(), Asking()
    asking.gate.clear()
    turn_id, _ = await restarted(store, asking)
    suspended = await store.suspended(ANN, turn_id)
    assert 0 < suspended.used_s < 5
    store.rows[turn_id].suspended = store.rows[turn_id].suspended.replace(
        f'"used_s": {suspended.used_s}', '"used_s": 59.95'
    )
    async with running(asking.program, store, time_limit_s=60) as turns:
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        async with asyncio.timeout(5):
            assert (await turns.wait(ANN, turn_id)).exit_reason is ExitReason.DEADLINE_EXCEEDED


async def test_a_turn_may_be_cancelled_after_a_restart() -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking, IN_SESSION)
    async with running(asking.program, store) as turns:
        assert await turns.cancel(ANN, turn_id)
        final = await turns.wait(ANN, turn_id)
        assert (final.exit_reason, final.retryable) == (ExitReason.CANCELLED, Retryable.NOT_APPLICABLE)
        assert final.usage == USAGE_SO_FAR
        await turns.start(ANN, replace(IN_SESSION, message="And now?"))


@dataclass
class SlowToResume(Program):
    """Reads its state only the `reads`th time that it is asked to."""

    reads: int = 2
    reading: asyncio.Event = field(default_factory=asyncio.Event)

    async def resume(self, *args: Any) -> ScriptedExecution:
        self.reading.set()
        self.reads -= 1
        if self.reads:
            await asyncio.Event().wait()
        return await super().resume(*args)


@pytest.mark.parametrize(("reads", "usage"), [(2, USAGE_SO_FAR), (9, Usage())], ids=["again", "never"])
async def test_a_turn_may_be_cancelled_while_its_state_is_read(reads: int, usage: Usage) -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking)
    program = SlowToResume(asking.program.script, reads=reads)
    async with running(program, store, unwind_s=SHORT_S) as turns:
        await program.reading.wait()
        assert await turns.cancel(ANN, turn_id)
        final = await turns.wait(ANN, turn_id)
        assert (final.exit_reason, final.usage) == (ExitReason.CANCELLED, usage)


async def test_a_decision_that_comes_while_the_state_is_read_counts() -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking)
    program = SlowToResume(asking.program.script)
    async with running(program, store) as turns:
        await program.reading.wait()
        await turns.decide(ANN, turn_id, "call-1", ONCE)
    async with running(asking.program, store) as turns:
        assert await message_of(turns, turn_id) == "call-1 approve_once"


async def test_a_turn_may_be_left_again_at_once_after_a_restart() -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking)
    async with running(asking.program, store):
        pass
    assert not store.finished
    async with running(asking.program, store) as turns:
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        assert await message_of(turns, turn_id) == "call-1 approve_once"


async def test_a_program_that_is_ended_while_it_waits_can_tell_what_was_decided() -> None:
    made: list[list[tuple[str, Decision]]] = []

    class Telling(ScriptedExecution):
        def interrupted(self, reason: ExitReason, retryable: Retryable) -> TurnOutcome:
            made.append([(call.call_id, decision) for call, decision in self.approvals.made])
            return super().interrupted(reason, retryable)

    asking, store = Asking(((SAME_TOOL,), (ASKED, OTHER_TOOL))), MemoryTurnStore()
    program = Program(asking.program.script, Telling)
    async with running(program, store) as turns:
        turn_id = await waiting(turns)
        await turns.decide(ANN, turn_id, "call-2", ONCE)
        await read_to(turns, turn_id, 6)
        await turns.decide(ANN, turn_id, "call-3", DENY)
    async with running(program, store) as turns:
        await turns.cancel(ANN, turn_id)
        turn_id = await waiting(turns)
        await turns.decide(ANN, turn_id, "call-2", ONCE)
        await read_to(turns, turn_id, 6)
        await turns.decide(ANN, turn_id, "call-3", DENY)
        await turns.cancel(ANN, turn_id)
    assert made == [[("call-3", DENY)]] * 2


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


async def test_a_turn_may_wait_through_many_restarts() -> None:
    store, asking = MemoryTurnStore(), Asking(((ASKED,), (OTHER_TOOL,)))
    turn_id, _ = await restarted(store, asking)
    async with running(asking.program, store) as turns:
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        await read_to(turns, turn_id, 5)
    async with running(asking.program, store) as turns:
        await turns.decide(ANN, turn_id, "call-1", ONCE)
        await turns.decide(ANN, turn_id, "call-3", DENY)
        assert_gapless(await collect(turns, turn_id), 0, 8)
        assert await message_of(turns, turn_id) == "call-3 deny"


async def test_nobody_needs_to_attach_to_a_turn_that_waits_after_a_restart() -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking)
    async with running(asking.program, store, grace_s=SHORT_S) as turns:
        await asyncio.sleep(3 * SHORT_S)  # the grace time passes
        assert (await turns.get(ANN, turn_id)).state is TurnState.AWAITING_APPROVAL


@pytest.mark.parametrize("stored", ["", "{}", "[]", "no JSON", '{"version": 0}'])
async def test_a_stored_state_that_cannot_be_read_ends_the_turn_and_not_the_service(
    stored: str, caplog: pytest.LogCaptureFixture
) -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking, IN_SESSION)
    store.rows[turn_id].suspended = stored
    async with running(asking.program, store) as turns:
        record = await turns.get(ANN, turn_id)
        assert record.final_state is not None
        assert record.final_state.exit_reason is ExitReason.INTERNAL_ERROR
        assert record.last_sequence == 5
        with pytest.raises(TurnExpired):
            await collect(turns, turn_id)
        assert turns.running == 0
    assert turn_id in caplog.text


async def test_a_program_s_state_that_it_cannot_read_ends_the_turn() -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking)

    class Forgetful(Program):
        async def resume(self, *args: object) -> ScriptedExecution:
            raise ValueError("another version")

    async with running(Forgetful(asking.program.script), store) as turns:
        events = await collect(turns, turn_id)
    assert final_of(events).exit_reason is ExitReason.INTERNAL_ERROR
    assert_gapless(events, 0, 5)
