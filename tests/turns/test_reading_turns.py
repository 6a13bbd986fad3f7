"""Readers follow a turn from any sequence on, each at its own speed."""

import asyncio
from contextlib import aclosing

import pytest

from proviso_service.errors import InvalidRequest, TurnExpired
from proviso_service.turns import (
    Event,
    ExitReason,
    Heartbeat,
    LoggedEvent,
    OnDisconnect,
    Token,
    TurnOutcome,
    TurnRequest,
)
from proviso_service.turns.turn import JOINED_MAX_CHARS, Retention
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import (
    ANN,
    QUESTION,
    TOOL_END,
    TOOL_START,
    TURN_START,
    Gated,
    Program,
    ScriptedExecution,
    assert_gapless,
    collect,
    completed,
    emits,
    final_of,
    read_to,
    running,
    text_of,
)

SCRIPT: tuple[Event, ...] = (
    TURN_START,
    Token("a", "I "),
    Token("a", "look. "),
    TOOL_START,
    TOOL_END,
    Token("b", "Thirty "),
    Token("b", "days "),
    Token("b", "[1]."),
)
LAST = len(SCRIPT) + 1
UNREAD = TurnRequest(message="?", on_disconnect=OnDisconnect.CONTINUE)


@pytest.mark.parametrize("cut", range(1, LAST + 1))
async def test_a_reader_cut_after_any_sequence_gets_every_later_event_once(cut: int) -> None:
    async with running(emits(*SCRIPT)) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        before = await read_to(turns, turn_id, cut)
        after = await collect(turns, turn_id, before[-1].sequence)
        assert_gapless(before + after, 0, LAST)
        assert text_of(before + after) == "I look. Thirty days [1]."
        final_of(before + after)


@pytest.mark.parametrize("after", range(LAST))
async def test_an_ended_turn_can_be_read_from_any_sequence(after: int) -> None:
    async with running(emits(*SCRIPT)) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await turns.wait(ANN, turn_id)
        events = await collect(turns, turn_id, after)
        assert_gapless(events, after, LAST)
        assert text_of(events) == "".join(e.text for e in SCRIPT[after:] if isinstance(e, Token))
        final_of(events)


async def test_after_the_final_state_there_is_nothing() -> None:
    async with running(emits(*SCRIPT)) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await turns.wait(ANN, turn_id)
        assert await collect(turns, turn_id, LAST) == []


@pytest.mark.parametrize("ahead", [-1, 2, 100])
async def test_a_position_that_the_turn_has_not_reached_is_invalid(ahead: int) -> None:
    program = Gated()
    async with running(program) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        await program.waiting.wait()
        with pytest.raises(InvalidRequest) as invalid:
            await collect(turns, turn_id, ahead)
        assert [violation.field for violation in invalid.value.violations] == ["after_sequence"]
        program.gate.set()
        await turns.wait(ANN, turn_id)
        with pytest.raises(InvalidRequest):
            await collect(turns, turn_id, 3)


async def test_a_reader_that_stops_reading_neither_slows_the_turn_nor_loses_text() -> None:
    words = [f"word{number} " for number in range(2_000)]

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        execution.emit(TURN_START)
        for word in words:
            execution.emit(Token("a", word))
            await asyncio.sleep(0)
        return completed()

    async with running(Program(script)) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        async with aclosing(turns.read(ANN, turn_id, 0)) as items:
            events = [await anext(items)]
            assert (await turns.wait(ANN, turn_id)).exit_reason is ExitReason.COMPLETED
            events += [item async for item in items]
        logged = [item for item in events if isinstance(item, LoggedEvent)]
        assert_gapless(logged, 0, len(words) + 2)
        assert text_of(logged) == "".join(words)
        assert len(logged) == 3  # the start, all that waited in one token event, the final state


async def test_what_has_waited_comes_in_events_of_bounded_size() -> None:
    words = ["x" * 1_000] * 200
    async with running(emits(*(Token("a", word) for word in words))) as turns:
        turn_id = await turns.start(ANN, UNREAD)
        await turns.wait(ANN, turn_id)
        events = await collect(turns, turn_id)
        sizes = [len(logged.event.text) for logged in events if isinstance(logged.event, Token)]
        assert sum(sizes) == 200_000
        assert max(sizes) <= JOINED_MAX_CHARS
        assert len(sizes) == 4


async def test_readers_of_different_speed_see_the_same_turn() -> None:
    words = [f"{number} " for number in range(300)]

    async def read_slowly(turn_id: str, pause_steps: int) -> list[LoggedEvent]:
        events: list[LoggedEvent] = []
        async with aclosing(turns.read(ANN, turn_id, 0)) as items:
            async for item in items:
                assert isinstance(item, LoggedEvent)
                events.append(item)
                for _ in range(pause_steps):
                    await asyncio.sleep(0)
        return events

    program = emits(TURN_START, *(Token("a", word) for word in words))
    async with running(program, token_interval_s=0) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        runs = await asyncio.gather(*(read_slowly(turn_id, steps) for steps in (0, 7, 50)))
    for events in runs:
        assert_gapless(events, 0, len(words) + 2)
        assert text_of(events) == "".join(words)
        final_of(events)
    fast, slower, slowest = (len(events) for events in runs)
    assert fast > slower > slowest


async def test_tokens_that_come_fast_are_sent_together_and_no_other_event_waits_for_them() -> None:
    words = [f"{number} " for number in range(100)]
    tokens = [Token("a", word) for word in words]
    took_s: list[float] = []
    for _ in range(3):
        program = Gated(before=(TURN_START, tokens[0]), after=(*tokens[1:50], TOOL_END, *tokens[50:]))
        async with running(program, token_interval_s=1) as turns:
            turn_id = await turns.start(ANN, QUESTION)
            began = asyncio.get_running_loop().time()
            first = await read_to(turns, turn_id, 2)
            program.gate.set()
            events = await collect(turns, turn_id)
            took_s.append(asyncio.get_running_loop().time() - began)
        assert [event.event for event in first] == [TURN_START, tokens[0]]
        assert_gapless(events, 0, len(words) + 3)
        assert text_of(events) == "".join(words)
        kinds = [type(event.event).__name__ for event in events]
        assert kinds[kinds.index("ToolEnd") :] == ["ToolEnd", "Token", "FinalState"]
        assert len(kinds) <= 6
    # The best of three: a busy machine only ever adds to what it takes.
    assert min(took_s) < 0.9


async def test_silence_brings_heartbeats_that_are_no_part_of_the_turn() -> None:
    program = Gated()
    async with running(program, heartbeat_s=0.01) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        items: list[LoggedEvent | Heartbeat] = []
        async with aclosing(turns.read(ANN, turn_id, 0)) as reading:
            async for item in reading:
                items.append(item)
                if len([i for i in items if isinstance(i, Heartbeat)]) == 2:
                    program.gate.set()
    assert [type(item) for item in items] == [LoggedEvent, Heartbeat, Heartbeat, LoggedEvent]
    assert_gapless([item for item in items if isinstance(item, LoggedEvent)], 0, 2)
    assert all(item.emit_time_s > 1_700_000_000 for item in items)


async def test_events_are_kept_for_their_time_after_the_end() -> None:
    loop = asyncio.get_running_loop()
    dropped: asyncio.Future[str] = loop.create_future()
    retention = Retention(0.03, 1_000, dropped.set_result)
    before = loop.time()
    retention.keep("turn", 10)
    assert await dropped == "turn"
    assert loop.time() - before >= 0.025


async def test_after_their_time_events_expire_and_the_end_stays() -> None:
    store = MemoryTurnStore()
    async with running(emits(*SCRIPT), store, log_ttl_s=1e-9) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        final = await turns.wait(ANN, turn_id)
        await asyncio.sleep(0)
        (event,) = await collect(turns, turn_id)
        assert (event.first_sequence, event.sequence, event.event) == (LAST, LAST, final)
        assert (await turns.get(ANN, turn_id)).final_state == final
        assert await turns.wait(ANN, turn_id) == final


async def test_a_reader_that_is_attached_when_the_events_expire_reads_to_the_end() -> None:
    async with running(emits(*SCRIPT), kept_bytes=0) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        async with aclosing(turns.read(ANN, turn_id, 0)) as items:
            events = [await anext(items)]
            await turns.wait(ANN, turn_id)
            await turns.wait(ANN, await turns.start(ANN, QUESTION))
            await asyncio.sleep(0)
            assert len(await collect(turns, turn_id)) == 1
            events += [item async for item in items]
        assert_gapless([item for item in events if isinstance(item, LoggedEvent)], 0, LAST)


async def test_kept_logs_are_bounded_in_bytes_and_the_earliest_ended_go_first() -> None:
    async with running(emits(Token("a", "x" * 10_000)), kept_bytes=25_000) as turns:
        turn_ids = []
        for _ in range(3):
            turn_ids.append(await turns.start(ANN, QUESTION))
            await turns.wait(ANN, turn_ids[-1])
        await asyncio.sleep(0)
        assert len(await collect(turns, turn_ids[0])) == 1
        for turn_id in turn_ids[1:]:
            final_of(await collect(turns, turn_id))


@pytest.mark.parametrize(("after", "sequence"), [(0, LAST), (LAST - 1, LAST), (LAST, LAST), (LAST + 5, LAST + 6)])
async def test_the_stored_end_comes_whatever_the_reader_has_seen(after: int, sequence: int) -> None:
    """The process of the turn may have died before it had stored how many events it sent."""
    store = MemoryTurnStore()
    async with running(emits(*SCRIPT), store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        final = await turns.wait(ANN, turn_id)
    async with running(emits(), store) as turns:
        (event,) = await collect(turns, turn_id, after)
    assert (event.first_sequence, event.sequence, event.event) == (sequence, sequence, final)


async def test_a_turn_that_runs_on_no_process_has_no_events_and_no_end_yet() -> None:
    store = MemoryTurnStore()
    await store.begin(ANN, "turn-of-a-dead-process", QUESTION, "", "replica-2", 15)
    async with running(emits(), store) as turns:
        for read in (collect(turns, "turn-of-a-dead-process"), turns.wait(ANN, "turn-of-a-dead-process")):
            with pytest.raises(TurnExpired):
                await read
