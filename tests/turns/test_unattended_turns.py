"""What becomes of a turn that nobody reads (on_disconnect)."""

import asyncio

import pytest

from proviso_service.turns.exit_reasons import ExitReason
from proviso_service.turns.ports import OnDisconnect, TurnRequest
from tests.turns.scripted import ANN, TURN_START, Gated, MemoryTurnStore, collect, final_of, read_to, running

GRACE = TurnRequest(message="?", on_disconnect=OnDisconnect.GRACE)
CONTINUE = TurnRequest(message="?", on_disconnect=OnDisconnect.CONTINUE)
CANCEL = TurnRequest(message="?", on_disconnect=OnDisconnect.CANCEL)
SHORT_S = 0.02


async def ended(store: MemoryTurnStore) -> ExitReason:
    """The exit reason, without attaching to the turn."""
    await store.reached["finish"].wait()
    await asyncio.sleep(0)
    return store.finished[0].final_state.exit_reason


@pytest.mark.parametrize("request_", [GRACE, CANCEL], ids=["grace", "cancel"])
async def test_a_turn_that_no_reader_ever_attaches_to_is_cancelled_after_the_grace_time(request_: TurnRequest) -> None:
    store = MemoryTurnStore()
    async with running(Gated(), store, grace_s=SHORT_S) as turns:
        await turns.start(ANN, request_)
        assert await ended(store) is ExitReason.CANCELLED


async def test_grace_counts_from_the_last_reader_s_leaving() -> None:
    store, loop = MemoryTurnStore(), asyncio.get_running_loop()
    async with running(Gated(), store, grace_s=SHORT_S) as turns:
        turn_id = await turns.start(ANN, GRACE)
        await read_to(turns, turn_id, 1)
        left = loop.time()
        assert await ended(store) is ExitReason.CANCELLED
        assert loop.time() - left >= SHORT_S - 0.001


async def test_a_reader_that_comes_back_in_time_keeps_the_turn() -> None:
    program = Gated()
    async with running(program, grace_s=SHORT_S) as turns:
        turn_id = await turns.start(ANN, GRACE)
        await read_to(turns, turn_id, 1)
        reading = asyncio.create_task(collect(turns, turn_id, after=1))
        await asyncio.sleep(2 * SHORT_S)  # the grace time passes while somebody is attached
        program.gate.set()
        assert final_of(await reading).exit_reason is ExitReason.COMPLETED


async def test_one_reader_of_two_may_leave() -> None:
    program = Gated()
    async with running(program) as turns:
        turn_id = await turns.start(ANN, CANCEL)
        reading = asyncio.create_task(collect(turns, turn_id))
        await asyncio.sleep(0)
        await read_to(turns, turn_id, 1)
        program.gate.set()
        assert final_of(await reading).exit_reason is ExitReason.COMPLETED


async def test_cancel_ends_the_turn_when_its_last_reader_leaves() -> None:
    store = MemoryTurnStore()
    async with running(Gated(), store) as turns:
        turn_id = await turns.start(ANN, CANCEL)
        await read_to(turns, turn_id, 1)
        assert await ended(store) is ExitReason.CANCELLED


async def test_a_reader_task_that_is_cancelled_counts_as_gone() -> None:
    store = MemoryTurnStore()
    async with running(Gated(), store) as turns:
        turn_id = await turns.start(ANN, CANCEL)
        reading = asyncio.create_task(collect(turns, turn_id))
        await asyncio.sleep(0)
        reading.cancel()
        assert await ended(store) is ExitReason.CANCELLED


async def test_continue_goes_on_unread() -> None:
    store, program = MemoryTurnStore(), Gated()
    async with running(program, store, grace_s=SHORT_S) as turns:
        turn_id = await turns.start(ANN, CONTINUE)
        await read_to(turns, turn_id, 1)
        await asyncio.sleep(2 * SHORT_S)  # the grace time, which does not count here, passes
        program.gate.set()
        assert await ended(store) is ExitReason.COMPLETED


async def test_an_invocation_counts_as_attached() -> None:
    program = Gated(before=(TURN_START,))
    async with running(program, grace_s=SHORT_S) as turns:
        turn_id = await turns.start(ANN, GRACE)
        invocation = asyncio.create_task(turns.wait(ANN, turn_id))
        await asyncio.sleep(2 * SHORT_S)  # the grace time passes while somebody is attached
        program.gate.set()
        assert (await invocation).exit_reason is ExitReason.COMPLETED
