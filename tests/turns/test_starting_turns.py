"""Which turns may start, and what is left of a start that fails."""

import asyncio

import pytest

from proviso_service.errors import SessionBusy, TooBusy, TurnExpired
from proviso_service.identity import Caller
from proviso_service.turns import ExitReason, OnDisconnect, TurnBegun, TurnRequest
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import ANN, BEN, QUESTION, TURN_START, Gated, collect, emits, final_of, running


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
        assert 1 <= busy.value.retry_after_s <= 2
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
