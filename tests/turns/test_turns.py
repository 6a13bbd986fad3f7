"""A turn ends in exactly one final state, stored and then logged, whatever happens."""

import asyncio
import gc
import logging
import weakref
from collections.abc import Callable

import pytest

from proviso_service.errors import NotReady, SessionBusy, TooBusy, TurnExpired, TurnUnknown
from proviso_service.security.identity import Caller
from proviso_service.turns.events import Event, FinalState, Token
from proviso_service.turns.exit_reasons import EXIT_SEMANTICS, ExitReason, Retryable
from proviso_service.turns.log import TurnLogSealed
from proviso_service.turns.ports import (
    Approvals,
    Emit,
    OnDisconnect,
    TurnBegun,
    TurnExecution,
    TurnOutcome,
    TurnRequest,
    TurnState,
)
from tests.turns.scripted import (
    ANN,
    ANSWER,
    BEN,
    QUESTION,
    TURN_START,
    USAGE_SO_FAR,
    Gated,
    MemoryTurnStore,
    NeverWaits,
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

PRIVATE = "postgresql://user:secret@host"


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


async def test_two_hundred_turns_at_once_each_keep_their_own_events() -> None:
    async def script(execution: ScriptedExecution) -> TurnOutcome:
        for number in range(20):
            execution.emit(Token("a", f"{execution.request.message}.{number} "))
            await asyncio.sleep(0)
        return completed(execution.request.message)

    async with running(Program(script)) as turns:
        requests = [TurnRequest(message=f"question {n}") for n in range(200)]
        turn_ids = await asyncio.gather(*(turns.start(ANN, request) for request in requests))
        assert turns.running == 200
        runs = await asyncio.gather(*(collect(turns, turn_id) for turn_id in turn_ids))
        for request, events in zip(requests, runs, strict=True):
            assert_gapless(events, 0, 21)
            assert text_of(events) == "".join(f"{request.message}.{number} " for number in range(20))
            assert final_of(events).message == request.message


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
    def start(
        self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit, approvals: Approvals
    ) -> TurnExecution:
        raise ValueError(PRIVATE)


class StartsNothing(NeverWaits):
    def start(
        self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit, approvals: Approvals
    ) -> TurnExecution:
        return None  # type: ignore[return-value]


class Unaccountable(NeverWaits):
    """Fails to run and to account for it."""

    def start(
        self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit, approvals: Approvals
    ) -> TurnExecution:
        return self

    async def run(self) -> TurnOutcome:
        raise ValueError(PRIVATE)

    def left(self) -> None:
        raise AssertionError("this program has never waited for a person")

    def interrupted(self, reason: ExitReason, retryable: Retryable) -> TurnOutcome:
        raise KeyError(PRIVATE)


class Misreporting(Unaccountable):
    """Says COMPLETED of a turn that failed."""

    def interrupted(self, reason: ExitReason, retryable: Retryable) -> TurnOutcome:
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
        assert await turns.cancel(ANN, turn_id)
        assert (await turns.wait(ANN, turn_id)).exit_reason is ExitReason.INTERNAL_ERROR


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


async def test_a_session_runs_one_turn_at_a_time_and_names_it() -> None:
    program = Gated()
    request = TurnRequest(message="And the fee?", session_id="lease")
    async with running(program) as turns:
        turn_id = await turns.start(ANN, request)
        with pytest.raises(SessionBusy) as busy:
            await turns.start(ANN, request)
        assert busy.value.turn_id == turn_id
        await turns.start(BEN, request)
        program.gate.set()
        await turns.wait(ANN, turn_id)
        assert await turns.start(ANN, request) != turn_id


async def test_turns_at_once_are_bounded() -> None:
    program = Gated()
    async with running(program, max_running=2) as turns:
        first, _ = await asyncio.gather(*(turns.start(ANN, QUESTION) for _ in range(2)))
        with pytest.raises(TooBusy) as busy:
            await turns.start(ANN, QUESTION)
        assert busy.value.retry_after_s == 1
        program.gate.set()
        await turns.wait(ANN, first)
        await turns.start(ANN, QUESTION)


async def test_turns_that_are_being_registered_count_as_running() -> None:
    store = MemoryTurnStore()
    store.gates["begin"] = asyncio.Event()
    async with running(emits(), store, max_running=1) as turns:
        starting = asyncio.create_task(turns.start(ANN, QUESTION))
        await store.reached["begin"].wait()
        with pytest.raises(TooBusy):
            await turns.start(ANN, QUESTION)
        store.gates["begin"].set()
        await turns.wait(ANN, await starting)


async def test_a_start_that_fails_leaves_nothing() -> None:
    store = MemoryTurnStore()
    store.failures["begin"] = [OSError("gone")]
    async with running(emits(), store) as turns:
        with pytest.raises(OSError, match="gone"):
            await turns.start(ANN, QUESTION)
        await asyncio.sleep(0)
        assert turns.running == 0


class AnswerLost(MemoryTurnStore):
    """Registers turns, but its answer does not arrive."""

    async def begin(
        self, caller: Caller, turn_id: str, request: TurnRequest, payload_sha256: str, owner: str, lease_s: float
    ) -> TurnBegun:
        await super().begin(caller, turn_id, request, payload_sha256, owner, lease_s)
        raise OSError("answer lost")


async def test_a_turn_of_which_it_is_unknown_whether_it_began_does_not_run() -> None:
    store = AnswerLost()
    async with running(emits(TURN_START), store) as turns:
        with pytest.raises(OSError, match="answer lost"):
            await turns.start(ANN, QUESTION)
        await asyncio.sleep(0)
        (turn_id,) = store.rows
        with pytest.raises(TurnExpired):
            await collect(turns, turn_id)
        assert turns.running == 0


async def test_a_caller_who_goes_away_while_the_turn_begins_leaves_a_turn_that_nobody_reads() -> None:
    store = MemoryTurnStore()
    store.gates["begin"] = asyncio.Event()
    request = TurnRequest(message="Hello?", request_id="r-1", on_disconnect=OnDisconnect.CONTINUE)
    async with running(emits(TURN_START), store) as turns:
        starting = asyncio.create_task(turns.start(ANN, request))
        await store.reached["begin"].wait()
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        store.gates["begin"].set()
        turn_id = await turns.start(ANN, request)
        assert len(store.rows) == 1
        assert final_of(await collect(turns, turn_id)).exit_reason is ExitReason.COMPLETED


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
