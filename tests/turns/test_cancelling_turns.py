"""A turn can be cancelled in every state, and ends once."""

import asyncio

import pytest

from proviso_service.errors import Draining
from proviso_service.turns import (
    RELEASED,
    ExitReason,
    FinalState,
    OnDisconnect,
    Retryable,
    Token,
    TurnOutcome,
    TurnRequest,
    TurnState,
)
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import (
    ANN,
    BEN,
    QUESTION,
    TURN_START,
    USAGE_SO_FAR,
    Gated,
    Program,
    ScriptedExecution,
    assert_gapless,
    collect,
    completed,
    emits,
    final_of,
    running,
)


def assert_cancelled(final: FinalState) -> None:
    assert (final.exit_reason, final.retryable) == (ExitReason.CANCELLED, Retryable.NOT_APPLICABLE)
    assert not final.display_message


async def test_cancelling_at_once() -> None:
    async with running(emits(TURN_START, Token("a", "Thirty "), Token("a", "days."))) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        assert await turns.cancel(ANN, turn_id)
        events = await collect(turns, turn_id)
        assert_cancelled(final_of(events))
        assert_gapless(events, 0, events[-1].sequence)
        assert events[-1].sequence < 4


@pytest.mark.parametrize("steps", range(20))
async def test_cancelling_after_any_step_of_the_event_loop_ends_the_turn_once_as_reported(steps: int) -> None:
    store = MemoryTurnStore()
    async with running(emits(*(Token("a", str(number)) for number in range(6))), store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        reading = asyncio.create_task(collect(turns, turn_id))
        for _ in range(steps):
            await asyncio.sleep(0)
        cancelled = await turns.cancel(ANN, turn_id)
        events = await reading
        assert_gapless(events, 0, events[-1].sequence)
        reason = final_of(events).exit_reason
        assert reason is (ExitReason.CANCELLED if cancelled else ExitReason.COMPLETED)
        assert [outcome.final_state for outcome in store.finished] == [final_of(events)]
        assert store.rows[turn_id].record.last_sequence == events[-1].sequence


async def test_a_turn_that_is_being_registered_while_the_service_stops_is_handed_over() -> None:
    store = MemoryTurnStore()
    store.gates["begin"] = asyncio.Event()
    program = Gated()
    async with running(program, store) as turns:
        starting = asyncio.create_task(turns.start(ANN, QUESTION))
        await store.reached["begin"].wait()
        draining = asyncio.create_task(turns.drain(0))
        await asyncio.sleep(0.01)
        store.gates["begin"].set()
        turn_id = await starting
        await draining
        assert store.rows[turn_id].record.owner == RELEASED
        assert not program.waiting.is_set()


async def test_a_call_that_is_cancelled_while_its_turn_is_registered_ends_it() -> None:
    store, program = MemoryTurnStore(), Gated()
    store.gates["begin"] = asyncio.Event()
    async with running(program, store) as turns:
        invoking = asyncio.create_task(turns.invoke(ANN, QUESTION, told))
        await store.reached["begin"].wait()
        invoking.cancel()
        await asyncio.wait([invoking])
        store.gates["begin"].set()
        await store.reached["finish"].wait()
    (outcome,) = store.finished
    assert_cancelled(outcome.final_state)
    assert outcome.final_state.usage == USAGE_SO_FAR, "the program accounts for a turn that it has not run"
    assert not program.waiting.is_set()


async def told(turn_id: str) -> None:
    raise AssertionError("the call was cancelled before there was a turn")


async def test_cancelling_before_the_first_event() -> None:
    program = Gated(before=())
    async with running(program) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await program.waiting.wait()
        assert await turns.cancel(ANN, turn_id)
        assert_cancelled(final_of(await collect(turns, turn_id)))


async def test_cancelling_amid_the_answer_keeps_its_events_and_its_usage() -> None:
    program = Gated(before=(TURN_START, Token("a", "Thirty ")))
    store = MemoryTurnStore()
    async with running(program, store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        reading = asyncio.create_task(collect(turns, turn_id))
        await program.waiting.wait()
        assert await turns.cancel(ANN, turn_id)
        events = await reading
        assert_gapless(events, 0, 3)
        assert_cancelled(final_of(events))
        assert final_of(events).usage == USAGE_SO_FAR
        assert store.rows[turn_id].record.final_state == final_of(events)
        assert turns.running == 0


async def test_once_cancelled_the_session_is_free_at_once() -> None:
    request = TurnRequest(message="?", session_id="lease")
    async with running(Gated()) as turns:
        turn_id = await turns.start(ANN, request)
        assert await turns.cancel(ANN, turn_id)
        assert (await turns.get(ANN, turn_id)).state is TurnState.ENDED
        await turns.start(ANN, request)


async def test_cancelling_while_the_program_cleans_up_changes_nothing() -> None:
    cleaning, cleaned = asyncio.Event(), asyncio.Event()

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await cleaned.wait()
            execution.emit(Token("a", "last words"))
        return completed()

    store = MemoryTurnStore()
    async with running(Program(script), store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        reading = asyncio.create_task(collect(turns, turn_id))
        await asyncio.sleep(0)
        first = asyncio.create_task(turns.cancel(ANN, turn_id))
        await cleaning.wait()
        second = asyncio.create_task(turns.cancel(ANN, turn_id))
        await asyncio.sleep(0)
        cleaned.set()
        assert (await first, await second) == (True, False)
        events = await reading
        assert_gapless(events, 0, 2)
        assert_cancelled(final_of(events))
        assert len(store.finished) == 1


async def test_cancelling_while_the_end_is_being_stored_comes_too_late() -> None:
    store = MemoryTurnStore()
    store.gates["finish"] = asyncio.Event()
    async with running(emits(TURN_START), store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await store.reached["finish"].wait()
        cancelling = asyncio.create_task(turns.cancel(ANN, turn_id))
        waiting = asyncio.create_task(turns.wait(ANN, turn_id))
        await asyncio.sleep(0)
        waiting.cancel()
        store.gates["finish"].set()
        assert not await cancelling
        assert final_of(await collect(turns, turn_id)).exit_reason is ExitReason.COMPLETED
        assert len(store.finished) == 1


async def test_cancelling_an_ended_turn_changes_nothing() -> None:
    async with running(emits(TURN_START)) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        events = await collect(turns, turn_id)
        assert not await turns.cancel(ANN, turn_id)
        assert await collect(turns, turn_id) == events


async def test_cancelling_a_turn_whose_log_is_gone_changes_nothing() -> None:
    async with running(emits(TURN_START), kept_bytes=0) as turns:
        gone, kept = [await turns.start(ANN, QUESTION) for _ in range(2)]
        await asyncio.gather(turns.wait(ANN, gone), turns.wait(ANN, kept))
        await asyncio.sleep(0)
        assert not await turns.cancel(ANN, gone)


async def test_a_program_that_answers_in_spite_of_its_cancellation_is_cancelled_all_the_same() -> None:
    async def script(execution: ScriptedExecution) -> TurnOutcome:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return completed()
        raise AssertionError

    async with running(Program(script)) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await asyncio.sleep(0)
        assert await turns.cancel(ANN, turn_id)
        assert_cancelled(await turns.wait(ANN, turn_id))


async def test_a_program_that_ignores_its_cancellation_is_given_up_on(caplog: pytest.LogCaptureFixture) -> None:
    release = asyncio.Event()
    stopped = asyncio.Event()

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        stopped.set()
        raise ValueError("too late to matter")

    async with running(Program(script), unwind_s=0.02) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await asyncio.sleep(0)
        assert await turns.cancel(ANN, turn_id)
        assert_cancelled(await turns.wait(ANN, turn_id))
        assert "given up" in caplog.text
        release.set()
        await stopped.wait()
        await asyncio.sleep(0)


async def test_cancelling_an_invocation_cancels_its_turn_even_when_it_would_go_on_unread() -> None:
    async with running(Gated()) as turns:
        turn_id = await turns.start(ANN, TurnRequest(message="?", on_disconnect=OnDisconnect.CONTINUE))
        reading = asyncio.create_task(collect(turns, turn_id))
        invocation = asyncio.create_task(turns.wait(ANN, turn_id))
        await asyncio.sleep(0)
        invocation.cancel()
        assert_cancelled(final_of(await reading))
        with pytest.raises(asyncio.CancelledError):
            await invocation


async def test_a_drain_refuses_new_turns_lets_running_ones_end_and_hands_the_rest_over() -> None:
    quick, endless = Gated(), Gated()
    programs = {"quick": quick, "endless": endless}

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        program = programs[execution.request.message]
        execution.emit(TURN_START)
        program.waiting.set()
        await program.gate.wait()
        return completed()

    async with running(Program(script)) as turns:
        first = await turns.start(ANN, TurnRequest(message="quick"))
        second = await turns.start(BEN, TurnRequest(message="endless"))
        await asyncio.gather(quick.waiting.wait(), endless.waiting.wait())
        draining = asyncio.create_task(turns.drain(0.1))
        await asyncio.sleep(0)
        with pytest.raises(Draining):
            await turns.start(ANN, QUESTION)
        quick.gate.set()
        assert final_of(await collect(turns, first)).exit_reason is ExitReason.COMPLETED
        assert not draining.done()
        await draining
        with pytest.raises(Draining):
            await collect(turns, second, caller=BEN)
        assert turns.running == 0


async def test_closing_leaves_running_turns_so_that_their_readers_come_again() -> None:
    program = Gated()
    async with running(program) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        reading = asyncio.create_task(collect(turns, turn_id))
        await program.waiting.wait()
        await turns.close()
        with pytest.raises(Draining):
            await reading
