"""Turns that wait for a person while the service is stopped and started again."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from proviso_service.errors import Draining, TurnNotWaiting
from proviso_service.turns import (
    ApprovalRequired,
    Decision,
    DiscardReason,
    Event,
    ExitCause,
    ExitReason,
    FinalState,
    MessageRole,
    Retryable,
    SuspensionUnreadable,
    TextDiscarded,
    Token,
    TurnOutcome,
    TurnRequest,
    TurnState,
    Usage,
)
from proviso_service.turns.endings import CANNOT_RESUME
from tests.turns.asking import DENY, IN_SESSION, ONCE, OTHER_TOOL, SAME_TOOL, SHORT_S, Asking, message_of, waiting
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import (
    ANN,
    ASKED,
    QUESTION,
    TURN_START,
    USAGE_SO_FAR,
    Program,
    ScriptedExecution,
    assert_gapless,
    collect,
    final_of,
    read_to,
    running,
)


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
        await store.record_decision(ANN, turn_id, "", (0,), ONCE, None, "replica-1")
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
        f'"used_s":{suspended.used_s}', '"used_s":59.95'
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
        def interrupted(self, reason: ExitReason, cause: ExitCause | None = None) -> TurnOutcome:
            made.append([(call.call_id, decision) for call, decision in self.approvals.made])
            return super().interrupted(reason, cause)

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


@pytest.mark.parametrize("stored", ["", "{}", "[]", "no JSON", '{"version": 0}', "[" * 100_000])
async def test_a_stored_state_that_cannot_be_read_ends_the_turn_and_not_the_service(
    stored: str, caplog: pytest.LogCaptureFixture
) -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking, IN_SESSION)
    store.rows[turn_id].suspended = stored
    async with running(asking.program, store) as turns:
        record = await turns.get(ANN, turn_id)
        assert record.final_state is not None
        assert_says_what_became_of_it(record.final_state)
        assert record.last_sequence == 5
        assert [event.event for event in await collect(turns, turn_id)] == [record.final_state]
        assert turns.running == 0
    assert f"turn {turn_id}: its stored state cannot be gone on from" in caplog.text
    assert_kept_in_the_session(store.finished)


async def test_what_became_of_a_turn_is_said_in_the_language_of_its_message() -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking, replace(IN_SESSION, message="Welches Recht gilt?"))
    store.rows[turn_id].suspended = ""
    async with running(asking.program, store) as turns:
        final = (await turns.get(ANN, turn_id)).final_state
        assert final is not None
        assert final.message == CANNOT_RESUME["de"]


def assert_says_what_became_of_it(final: FinalState) -> None:
    assert (final.exit_reason, final.retryable) == (ExitReason.INTERNAL_ERROR, Retryable.YES)
    assert (final.display_message, final.message) == (True, CANNOT_RESUME["en"])


def assert_kept_in_the_session(finished: list[TurnOutcome], *questions: str) -> None:
    (outcome,) = finished
    *asked, kept = outcome.new_messages
    assert [message.content for message in asked] == [*questions]
    assert (kept.role, kept.content) == (MessageRole.ERROR, CANNOT_RESUME["en"])
    assert kept.turn
    assert kept.turn.exit_reason is ExitReason.INTERNAL_ERROR


@dataclass
class Forgetful(Program):
    """It fails to go on from its state."""

    failure: Exception = field(default_factory=Exception)

    async def resume(self, *args: object) -> ScriptedExecution:
        raise self.failure


async def test_a_program_s_state_that_it_cannot_read_ends_the_turn(caplog: pytest.LogCaptureFixture) -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking, IN_SESSION)
    program = Forgetful(asking.program.script, failure=SuspensionUnreadable("version 7 of the agent"))
    async with running(program, store) as turns:
        events = await collect(turns, turn_id)
    assert_says_what_became_of_it(final_of(events))
    assert_gapless(events, 0, 5)
    assert f"turn {turn_id}: its stored state cannot be gone on from: version 7 of the agent" in caplog.text
    assert_kept_in_the_session(store.finished, IN_SESSION.message)


async def test_a_program_that_fails_to_go_on_for_another_reason_ends_the_turn_as_any_fault_does() -> None:
    store, asking = MemoryTurnStore(), Asking()
    turn_id, _ = await restarted(store, asking)
    async with running(Forgetful(asking.program.script, failure=OSError("disk full")), store) as turns:
        final = final_of(await collect(turns, turn_id))
    assert (final.exit_reason, final.retryable) == (ExitReason.INTERNAL_ERROR, Retryable.MAYBE)
    assert final.message != CANNOT_RESUME["en"]
