"""A turn ends in exactly one final state, stored and then logged, whatever happens."""

import asyncio
import gc
import logging
import weakref
from collections.abc import Callable

import pytest

from proviso_service.errors import Draining, NotReady, TurnUnknown
from proviso_service.identity import Caller
from proviso_service.turns import (
    Event,
    ExitReason,
    Retryable,
    Token,
    TurnLogSealed,
    TurnOutcome,
    TurnRequest,
    TurnState,
)
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import (
    ANN,
    ANSWER,
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
    text_of,
)


async def test_a_turn_ends_in_the_program_s_final_state_stored_before_it_is_read() -> None:
    store = MemoryTurnStore()
    async with running(emits(TURN_START, Token("a", "Thirty "), Token("a", "days.")), store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        events = await collect(turns, turn_id)
        assert_gapless(events, 0, 4)
        assert text_of(events) == ANSWER
        assert final_of(events).exit_reason is ExitReason.COMPLETED
        record = store.rows[turn_id].record
        assert (record.state, record.last_sequence, record.final_state) == (TurnState.ENDED, 4, final_of(events))
        assert await turns.wait(ANN, turn_id) == final_of(events)
        assert await turns.get(ANN, turn_id) == record
        assert turns.running == 0


async def test_fifty_turns_at_once_each_keep_their_own_events() -> None:
    all_run = asyncio.Event()

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        await all_run.wait()
        for number in range(20):
            execution.emit(Token("a", f"{execution.request.message}.{number} "))
            await asyncio.sleep(0)
        return completed(execution.request.message)

    async with running(Program(script)) as turns:
        requests = [TurnRequest(message=f"question {n}") for n in range(50)]
        turn_ids = await asyncio.gather(*(turns.start(ANN, request) for request in requests))
        assert turns.running == 50
        all_run.set()
        runs = await asyncio.gather(*(collect(turns, turn_id) for turn_id in turn_ids))
        for request, events in zip(requests, runs, strict=True):
            assert_gapless(events, 0, 21)
            assert text_of(events) == "".join(f"{request.message}.{number} " for number in range(20))
            assert final_of(events).message == request.message


async def test_a_store_that_does_not_answer_is_waited_for_within_a_limit() -> None:
    store = MemoryTurnStore()
    async with running(Gated(), store, store_s=0.02) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        store.gates = {name: asyncio.Event() for name in ("begin", "get", "finish")}
        with pytest.raises(NotReady):
            await turns.start(ANN, QUESTION)
        with pytest.raises(NotReady):
            await turns.get(ANN, turn_id)
        assert turns.running == 1
        with pytest.raises(Draining):  # nobody is told an end that is not stored
            await turns.cancel(ANN, turn_id)
        assert turns.running == 0


async def test_what_a_program_emits_after_it_has_returned_is_refused() -> None:
    emit: list[Callable[[Event], None]] = []

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        emit.append(execution.emit)
        return completed()

    store = MemoryTurnStore()
    store.gates["finish"] = asyncio.Event()
    async with running(Program(script), store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await store.reached["finish"].wait()
        with pytest.raises(TurnLogSealed):
            emit[0](Token("a", "late"))
        store.gates["finish"].set()
        assert len(await collect(turns, turn_id)) == 1


async def test_a_turn_over_its_time_limit_ends_in_deadline_exceeded() -> None:
    async with running(Gated(), time_limit_s=0.02) as turns:
        final = final_of(await collect(turns, await turns.start(ANN, QUESTION)))
    assert (final.exit_reason, final.retryable) == (ExitReason.DEADLINE_EXCEEDED, Retryable.YES)
    assert final.display_message
    assert final.usage == USAGE_SO_FAR


async def test_another_caller_s_turn_looks_unknown_to_every_method() -> None:
    program = Gated()
    async with running(program) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        for caller, unknown in ((BEN, turn_id), (Caller("other", "ann"), turn_id), (ANN, "no-such-turn")):
            with pytest.raises(TurnUnknown):
                await collect(turns, unknown, caller=caller)
            for method in (turns.wait, turns.cancel, turns.get):
                with pytest.raises(TurnUnknown):
                    await method(caller, unknown)
        assert turns.running == 1


async def test_a_running_turn_shows_its_live_sequence() -> None:
    program = Gated(before=(TURN_START, Token("a", "Thirty ")))
    async with running(program) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await program.waiting.wait()
        record = await turns.get(ANN, turn_id)
        assert (record.state, record.last_sequence, record.final_state) == (TurnState.RUNNING, 2, None)


async def test_an_ended_turn_holds_its_events_and_nothing_of_its_program() -> None:
    executions: list[weakref.ref[ScriptedExecution]] = []

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        executions.append(weakref.ref(execution))
        return completed()

    async with running(Program(script)) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await turns.wait(ANN, turn_id)
        await asyncio.sleep(0)
        gc.collect()
        assert executions[0]() is None
        final_of(await collect(turns, turn_id))


async def test_the_service_s_log_is_quiet_about_turns_that_go_well(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "proviso_service"):
        async with running(emits(TURN_START)) as turns:
            await collect(turns, await turns.start(ANN, QUESTION))
    assert [record for record in caplog.records if record.name.startswith("proviso_service")] == []
