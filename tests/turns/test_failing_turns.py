"""Whatever fails, a turn ends in an internal error that says nothing of the cause; the log of the service does."""

import asyncio
from collections.abc import Callable

import pytest

from proviso_service.turns import (
    EXIT_SEMANTICS,
    ExitCause,
    ExitReason,
    FinalState,
    Retryable,
    RunningTurn,
    Token,
    TurnExecution,
    TurnOutcome,
    TurnState,
)
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import (
    ANN,
    QUESTION,
    TURN_START,
    USAGE_SO_FAR,
    NeverWaits,
    Program,
    ScriptedExecution,
    assert_gapless,
    collect,
    completed,
    emits,
    final_of,
    running,
)

PRIVATE = "postgresql://user:secret@host"


async def fails_at_once(_: ScriptedExecution) -> TurnOutcome:
    raise ValueError(PRIVATE)


async def fails_after_events(execution: ScriptedExecution) -> TurnOutcome:
    execution.emit(TURN_START)
    await asyncio.sleep(0)
    raise ValueError(PRIVATE)


async def cancels_itself(_: ScriptedExecution) -> TurnOutcome:
    raise asyncio.CancelledError


async def returns_nonsense(_: ScriptedExecution) -> TurnOutcome:
    return "an answer"  # type: ignore[return-value]


async def returns_no_final_state(_: ScriptedExecution) -> TurnOutcome:
    return TurnOutcome(None)  # type: ignore[arg-type]


async def emits_a_final_state(execution: ScriptedExecution) -> TurnOutcome:
    execution.emit(completed().final_state)
    return completed()


async def emits_nonsense(execution: ScriptedExecution) -> TurnOutcome:
    execution.emit("text")  # type: ignore[arg-type]
    return completed()


@pytest.mark.parametrize(
    "script",
    [
        fails_at_once,
        fails_after_events,
        cancels_itself,
        returns_nonsense,
        returns_no_final_state,
        emits_a_final_state,
        emits_nonsense,
    ],
)
async def test_a_failing_program_ends_in_internal_error_with_the_usage_so_far(
    script: Callable[[ScriptedExecution], asyncio.Future[TurnOutcome]], caplog: pytest.LogCaptureFixture
) -> None:
    store = MemoryTurnStore()
    async with running(Program(script), store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        events = await collect(turns, turn_id)
    final = final_of(events)
    assert (final.exit_reason, final.retryable) == (ExitReason.INTERNAL_ERROR, Retryable.MAYBE)
    assert final.usage == USAGE_SO_FAR
    assert PRIVATE not in repr(events)
    assert store.rows[turn_id].record.final_state == final
    assert turn_id in caplog.text


async def test_the_exception_of_a_failed_program_goes_to_the_service_s_log(caplog: pytest.LogCaptureFixture) -> None:
    async with running(Program(fails_after_events)) as turns:
        await collect(turns, await turns.start(ANN, QUESTION))
    assert PRIVATE in caplog.text


class FailsToStart(NeverWaits):
    def start(self, turn: RunningTurn) -> TurnExecution:
        raise ValueError(PRIVATE)


class StartsNothing(NeverWaits):
    def start(self, turn: RunningTurn) -> TurnExecution:
        return None  # type: ignore[return-value]


class Unaccountable(NeverWaits):
    """Fails to run and to account for it."""

    def start(self, turn: RunningTurn) -> TurnExecution:
        return self

    async def run(self) -> TurnOutcome:
        raise ValueError(PRIVATE)

    def release(self) -> None:
        raise AssertionError("this program has never waited for a person")

    def interrupted(self, reason: ExitReason, cause: ExitCause | None = None) -> TurnOutcome:
        raise KeyError(PRIVATE)


class Misreporting(Unaccountable):
    """Says COMPLETED of a turn that failed."""

    def interrupted(self, reason: ExitReason, cause: ExitCause | None = None) -> TurnOutcome:
        return completed()


@pytest.mark.parametrize("program", [FailsToStart(), StartsNothing(), Unaccountable(), Misreporting()])
async def test_a_turn_whose_program_gives_no_account_ends_in_a_bare_internal_error(
    program: FailsToStart | StartsNothing | Unaccountable,
) -> None:
    async with running(program) as turns:
        final = final_of(await collect(turns, await turns.start(ANN, QUESTION)))
    semantics = EXIT_SEMANTICS[ExitReason.INTERNAL_ERROR]
    assert final == FinalState(
        ExitReason.INTERNAL_ERROR, semantics.retryable, semantics.display_message, semantics.message
    )


async def test_an_end_that_cannot_be_stored_is_an_internal_error(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryTurnStore()
    store.failures["finish"] = [OSError(PRIVATE)]
    async with running(emits(TURN_START), store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        final = final_of(await collect(turns, turn_id))
        assert final.exit_reason is ExitReason.INTERNAL_ERROR
        assert PRIVATE not in repr(final)
        assert PRIVATE in caplog.text
        assert store.rows[turn_id].record.final_state == final


async def test_a_store_that_is_gone_at_the_end_keeps_no_reader_waiting() -> None:
    store = MemoryTurnStore()
    store.failures["finish"] = [OSError("gone"), OSError("gone")]
    async with running(emits(TURN_START), store) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        final = final_of(await collect(turns, turn_id))
        assert final.exit_reason is ExitReason.INTERNAL_ERROR
        record = await turns.get(ANN, turn_id)
        assert (record.state, record.last_sequence, record.final_state) == (TurnState.ENDED, 2, final)


@pytest.mark.parametrize(
    ("max_events", "max_bytes", "text"),
    [(100, 1024 * 1024, "x"), (20_000, 64 * 1024, "x" * 1024)],
    ids=["events", "bytes"],
)
@pytest.mark.parametrize("swallowed", [False, True])
async def test_a_turn_that_fills_its_log_ends_in_internal_error(
    max_events: int, max_bytes: int, text: str, swallowed: bool
) -> None:
    async def script(execution: ScriptedExecution) -> TurnOutcome:
        try:
            for _ in range(1_000):
                execution.emit(Token("a", text))
        except Exception:
            if not swallowed:
                raise
        return completed()

    store = MemoryTurnStore()
    async with running(Program(script), store, log_max_events=max_events, log_max_bytes=max_bytes) as turns:
        turn_id = await turns.start(ANN, QUESTION)
        events = await collect(turns, turn_id)
        assert final_of(events).exit_reason is ExitReason.INTERNAL_ERROR
        assert_gapless(events, 0, store.rows[turn_id].record.last_sequence)
        assert events[-1].sequence <= 101
