"""Turns whose process has ended, or has lost them, and with which another one goes on."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import pytest

from proviso_service.errors import Draining, NotReady, StorageFailed, TooBusy
from proviso_service.turns import (
    RELEASED,
    ExitReason,
    LoggedEvent,
    MemoryTurnLog,
    RunningTurn,
    SuspendedTurn,
    Token,
    TurnOutcome,
    TurnState,
    events_from_json,
    events_to_json,
)
from proviso_service.turns.log import LOST_TEXT
from tests.turns.asking import IN_SESSION
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import (
    ANN,
    QUESTION,
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

LOST = 100


@dataclass
class Checkpoints(Program):
    """A program whose script gets the turn itself."""

    turns: list[RunningTurn] = field(default_factory=list)

    def start(self, turn: RunningTurn) -> ScriptedExecution:
        self.turns.append(turn)
        return super().start(turn)

    async def resume(self, turn: RunningTurn, state: str) -> ScriptedExecution:
        self.turns.append(turn)
        return await super().resume(turn, state)


def program_of(script: Callable[[RunningTurn, str], Awaitable[TurnOutcome]]) -> Checkpoints:
    async def run(execution: ScriptedExecution) -> TurnOutcome:
        return await script(program.turns[-1], execution.state)

    program = Checkpoints(run)
    return program


async def left(store: MemoryTurnStore, suspended: SuspendedTurn | None = None, sequence: int = 0) -> str:
    """A turn that an earlier process of this name has left."""
    await store.begin(ANN, "turn-1", IN_SESSION, "", "replica-1", 60)
    if suspended is not None:
        await store.checkpoint(ANN, "turn-1", sequence, suspended, "replica-1")
    return "turn-1"


async def answers(turn: RunningTurn, state: str) -> TurnOutcome:
    if not state:
        turn.emit(TURN_START)
    turn.emit(Token("text-9", "Thirty days."))
    return completed(f"{state or 'from the start'}, cut: {turn.was_cut}")


@pytest.mark.parametrize("seen", [0, 1, 57, LOST])
async def test_one_that_had_stored_nothing_begins_anew_after_the_sequences_that_may_be_seen(
    seen: int,
) -> None:
    store = MemoryTurnStore()
    turn_id = await left(store)
    async with running(program_of(answers), store, log_max_events=LOST) as turns:
        events = await collect(turns, turn_id, seen)
        assert_gapless(events, seen, LOST + 2)
        assert final_of(events).message == "from the start, cut: True"
        assert text_of(events) == "Thirty days."
        assert (await collect(turns, turn_id))[0].event == TURN_START


async def test_one_that_had_a_checkpoint_goes_on_from_there() -> None:
    store, events = MemoryTurnStore(), (LoggedEvent(1, 1, 0.0, TURN_START), LoggedEvent(2, 2, 0.0, Token("t", "Hm")))
    turn_id = await left(store, SuspendedTurn(IN_SESSION, "the state", events=events), 2)
    async with running(program_of(answers), store, log_max_events=LOST) as turns:
        read = await collect(turns, turn_id)
        assert_gapless(read, 0, 2 + LOST + 2)
        assert [logged.event for logged in read[:3]] == [TURN_START, Token("t", "Hm"), Token(LOST_TEXT, "")]
        assert final_of(read).message == "the state, cut: True"


async def test_one_whose_processes_have_ended_too_often_ends() -> None:
    store = MemoryTurnStore()
    turn_id = await left(store)
    store.rows[turn_id].record = replace(store.rows[turn_id].record, take_overs=2)
    async with running(program_of(answers), store) as turns:
        assert final_of(await collect(turns, turn_id)).exit_reason is ExitReason.INTERNAL_ERROR
    assert len(store.finished) == 1


async def test_a_process_that_stops_hands_over_what_its_readers_have_seen() -> None:
    store, program = MemoryTurnStore(), Gated((TURN_START, *[Token("text-1", "x")] * 4))
    async with running(program, store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        seen = await read_to(turns, turn_id, 5)
    record = store.rows[turn_id].record
    assert (record.owner, record.state, record.last_sequence) == (RELEASED, TurnState.RUNNING, 5)
    async with running(program_of(answers), store) as turns:
        rest = await collect(turns, turn_id, 5)
        assert_gapless([*seen, *rest], 0, 7)
        assert (await turns.get(ANN, turn_id)).take_overs == 0


async def test_a_process_that_has_lost_a_turn_stops_it_and_stores_nothing() -> None:
    store, lost = MemoryTurnStore(), asyncio.Event()

    async def script(turn: RunningTurn, state: str) -> TurnOutcome:
        turn.emit(TURN_START)
        await lost.wait()
        await turn.checkpoint("too late")
        raise AssertionError("it has been cancelled")

    async with running(program_of(script), store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        reading = asyncio.create_task(collect(turns, turn_id))
        await read_to(turns, turn_id, 1)
        row = store.rows[turn_id]
        row.record = replace(row.record, owner="replica-2")
        before = row.suspended
        lost.set()
        with pytest.raises(Draining):
            await reading
        assert (turns.running, row.suspended, store.finished) == (0, before, [])


async def test_a_turn_that_another_process_has_finished_is_not_told_as_ended_here() -> None:
    store, program = MemoryTurnStore(), Gated()
    async with running(program, store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        reading = asyncio.create_task(collect(turns, turn_id))
        await program.waiting.wait()
        store.rows[turn_id].record = replace(store.rows[turn_id].record, owner="replica-2")
        program.gate.set()
        with pytest.raises(Draining):
            await reading
        assert store.finished == []


AWAY = pytest.mark.parametrize(
    "away", [NotReady("away"), StorageFailed("away"), TooBusy("busy", 0.1)], ids=lambda error: type(error).__name__
)


@AWAY
async def test_a_short_loss_of_the_store_is_waited_for(away: Exception) -> None:
    store = MemoryTurnStore()
    store.failures = {"checkpoint": [away], "finish": [away, away]}

    async def script(turn: RunningTurn, state: str) -> TurnOutcome:
        turn.emit(TURN_START)
        await turn.checkpoint("stored")
        return completed()

    async with running(program_of(script), store) as turns:
        final = final_of(await collect(turns, await turns.start(ANN, QUESTION)))
        assert final.exit_reason is ExitReason.COMPLETED
    assert [outcome.final_state for outcome in store.finished] == [final]


async def test_a_turn_whose_store_stays_away_is_left_and_taken_up_again_once_it_is_back() -> None:
    store = MemoryTurnStore()
    store.failures["finish"] = [NotReady("away")]
    async with running(emits(TURN_START), store, store_s=0.05, lease_s=0.3) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        with pytest.raises(Draining):
            await collect(turns, turn_id)
        store.rows[turn_id].is_abandoned = True  # its lease expires
        await store.calls("finish", 1)
        final = await turns.wait(ANN, turn_id)
        assert final.exit_reason is ExitReason.COMPLETED
    assert [outcome.final_state for outcome in store.finished] == [final]


@AWAY
async def test_a_turn_whose_program_meets_a_store_that_stays_away_is_left_and_taken_up_again(away: Exception) -> None:
    store, tries = MemoryTurnStore(), 0

    async def script(turn: RunningTurn, state: str) -> TurnOutcome:
        nonlocal tries
        tries += 1
        if tries == 1:
            turn.emit(TURN_START)
            raise away
        return completed()

    async with running(program_of(script), store, store_s=0.05, lease_s=0.3) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        with pytest.raises(Draining):
            await collect(turns, turn_id)
        assert store.finished == []
        store.rows[turn_id].is_abandoned = True  # its lease expires
        await store.calls("finish", 1)
        assert (await turns.wait(ANN, turn_id)).exit_reason is ExitReason.COMPLETED


async def test_as_many_are_taken_over_as_there_is_room_for() -> None:
    store, program = MemoryTurnStore(), Gated()
    for number in range(3):
        await store.begin(ANN, f"turn-{number}", QUESTION, "", "replica-1", 60)
    async with running(program, store, max_running=2) as turns:
        assert turns.running == 2


@pytest.mark.parametrize("seen", range(9))
def test_events_that_are_lost_travel_as_one(seen: int) -> None:
    log = MemoryTurnLog(100, 10_000, events=(LoggedEvent(1, 1, 0.0, TURN_START),), lost=5)
    log.append(Token("a", "x"))
    log.append(Token("a", "y"))
    rest = log.since(seen, 100)
    assert_gapless(rest, seen, 8)
    assert events_from_json(events_to_json(rest), 8) == [replace(one, emit_time_s=rest_time(rest, one)) for one in rest]
    again = MemoryTurnLog(100, 10_000, events=log.history())
    assert again.since(seen, 100) == rest


def rest_time(events: list[LoggedEvent], one: LoggedEvent) -> float:
    """Tokens that are written together have the time of the first."""
    same = [other for other in events if isinstance(other.event, Token) and other.event.text_id == "a"]
    return same[0].emit_time_s if one in same else one.emit_time_s
