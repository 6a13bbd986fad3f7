"""Every tool call that has begun has an end in the log, whatever becomes of its turn."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.turns import (
    CALL_UNFINISHED,
    Event,
    ExitReason,
    FinalState,
    LoggedEvent,
    Retryable,
    Token,
    ToolEnd,
    ToolStart,
    TurnOutcome,
)
from proviso_service.turns.log import MemoryTurnLog, TurnLogFull
from tests.turns.scripted import (
    ANN,
    QUESTION,
    TOOL_END,
    TOOL_START,
    TURN_START,
    Gated,
    ScriptedExecution,
    assert_gapless,
    collect,
    completed,
    emits,
    final_of,
    running,
)

OTHER = replace(TOOL_START, call_id="call-2")


def assert_cut(events: Sequence[LoggedEvent], reason: ExitReason, *cut: ToolStart) -> None:
    ends = [event.event for event in events if isinstance(event.event, ToolEnd)]
    assert [(end.call_id, end.tool, end.error) for end in ends] == [
        (call.call_id, call.tool, CALL_UNFINISHED) for call in cut
    ]
    assert all(end.duration_s >= 0 and not end.output for end in ends)
    assert_gapless(list(events), 0, events[-1].sequence)
    assert final_of(list(events)).exit_reason is reason


async def test_calls_that_a_cancellation_cuts_off_end_before_the_final_state() -> None:
    program = Gated(before=(TURN_START, TOOL_START, OTHER))
    async with running(program) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await program.waiting.wait()
        await turns.cancel(ANN, turn_id)
        assert_cut(await collect(turns, turn_id), ExitReason.CANCELLED, TOOL_START, OTHER)


async def test_calls_that_the_time_limit_cuts_off_end() -> None:
    async with running(Gated(before=(TURN_START, TOOL_START)), time_limit_s=0.01) as turns:
        events = await collect(turns, await turns.start(ANN, QUESTION))
        assert_cut(events, ExitReason.DEADLINE_EXCEEDED, TOOL_START)


async def test_calls_that_run_when_the_log_is_full_end() -> None:
    tokens = [Token("a", "x" * 1_000)] * 200
    async with running(emits(TURN_START, TOOL_START, *tokens), log_max_bytes=64 * 1024) as turns:
        events = await collect(turns, await turns.start(ANN, QUESTION))
        assert_cut(events, ExitReason.INTERNAL_ERROR, TOOL_START)


async def test_a_program_that_ignores_its_cancellation_leaves_no_open_call() -> None:
    class Deaf(Gated):
        async def _script(self, execution: ScriptedExecution) -> TurnOutcome:
            with suppress(asyncio.CancelledError):
                await super()._script(execution)
            await self.gate.wait()
            return completed()

    program = Deaf(before=(TURN_START, TOOL_START))
    async with running(program, unwind_s=0.01) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await program.waiting.wait()
        await turns.cancel(ANN, turn_id)
        assert_cut(await collect(turns, turn_id), ExitReason.CANCELLED, TOOL_START)
        program.gate.set()
        await asyncio.sleep(0)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abcdef")), max_size=30), st.integers(100, 110))
def test_after_the_end_each_call_that_began_has_one_end(steps: list[tuple[bool, str]], most: int) -> None:
    log = MemoryTurnLog(most, 1_000_000)
    for _ in range(most - 20):
        log.append(Token("a", "x"))
    open_calls: set[str] = set()
    seen: set[str] = set()
    for is_start, call_id in steps:
        event: Event = replace(TOOL_START, call_id=call_id) if is_start else replace(TOOL_END, call_id=call_id)
        if (is_start and call_id in seen) or (not is_start and call_id not in open_calls):
            continue
        try:
            log.append(event)
        except TurnLogFull:
            break
        seen.add(call_id)
        (open_calls.add if is_start else open_calls.discard)(call_id)
    log.close_calls()
    log.close_calls()
    log.seal()
    log.end(FinalState(ExitReason.CANCELLED, Retryable.NOT_APPLICABLE, False, ""))
    ended = [event.event.call_id for event in log.history() if isinstance(event.event, ToolEnd)]
    assert sorted(ended) == sorted(seen)
