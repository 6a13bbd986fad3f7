"""What becomes of a turn that nobody reads (on_disconnect)."""

import asyncio
from dataclasses import replace

import pytest

from proviso_service.turns import CAUSE_SEMANTICS, ExitCause, ExitReason, OnDisconnect, TurnRequest
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import ANN, TURN_START, Gated, collect, emits, final_of, read_to, running

GRACE = TurnRequest(message="?", on_disconnect=OnDisconnect.GRACE)
CONTINUE = TurnRequest(message="?", on_disconnect=OnDisconnect.CONTINUE)
CANCEL = TurnRequest(message="?", on_disconnect=OnDisconnect.CANCEL)
SHORT_S = 0.02


async def ended(store: MemoryTurnStore) -> ExitReason:
    """The exit reason, without attaching to the turn."""
    await store.reached["finish"].wait()
    await asyncio.sleep(0)
    return store.finished[0].final_state.exit_reason


@pytest.mark.parametrize(
    ("request_", "cause"),
    [(GRACE, ExitCause.ABANDONED), (CANCEL, ExitCause.CANCELLED_BY_CALLER)],
    ids=["grace", "cancel"],
)
async def test_a_turn_that_no_reader_ever_attaches_to_is_cancelled_after_the_grace_time(
    request_: TurnRequest, cause: ExitCause
) -> None:
    store = MemoryTurnStore()
    async with running(Gated(), store, grace_s=SHORT_S) as turns:
        await turns.start(ANN, request_)
        assert await ended(store) is ExitReason.CANCELLED
    final, semantics = store.finished[0].final_state, CAUSE_SEMANTICS[cause]
    assert (final.exit_cause, final.retryable) == (cause, semantics.retryable)
    assert (final.display_message, final.message) == (semantics.display_message, semantics.message)


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


@pytest.mark.parametrize("registered", [False, True], ids=["while it is registered", "before it is read"])
async def test_a_caller_that_goes_before_it_has_read_anything_has_left_the_turn(registered: bool) -> None:
    store = MemoryTurnStore()
    if not registered:
        store.gates["begin"] = asyncio.Event()

    async def chat() -> None:
        async with turns.start_attached(ANN, CANCEL):
            await asyncio.Event().wait()

    async with running(Gated(), store) as turns:
        calling = asyncio.create_task(chat())
        await store.reached["begin"].wait()
        for _ in range(10 * registered):
            await asyncio.sleep(0)
        calling.cancel()
        await asyncio.wait([calling])
        if not registered:
            store.gates["begin"].set()
        assert await ended(store) is ExitReason.CANCELLED


async def test_a_caller_that_is_registering_a_turn_to_go_on_may_leave() -> None:
    store, program = MemoryTurnStore(), Gated()
    store.gates["begin"] = asyncio.Event()

    async def chat() -> None:
        async with turns.start_attached(ANN, CONTINUE):
            raise AssertionError("it has left")

    async with running(program, store, grace_s=SHORT_S) as turns:
        calling = asyncio.create_task(chat())
        await store.reached["begin"].wait()
        calling.cancel()
        await asyncio.wait([calling])
        store.gates["begin"].set()
        program.gate.set()
        assert await ended(store) is ExitReason.COMPLETED


async def test_attending_counts_as_attached() -> None:
    program = Gated()
    async with running(program, grace_s=SHORT_S) as turns, turns.start_attached(ANN, GRACE) as turn_id:
        await asyncio.sleep(2 * SHORT_S)  # the grace time passes while somebody is attached
        program.gate.set()
        assert final_of(await collect(turns, turn_id)).exit_reason is ExitReason.COMPLETED


async def test_a_repeated_request_attends_the_earlier_turn() -> None:
    program, request = Gated(), replace(CANCEL, request_id="r-1")
    async with running(program) as turns:
        async with turns.start_attached(ANN, request) as first:
            repeating = turns.start_attached(ANN, request)
            assert await repeating.__aenter__() == first
        program.gate.set()
        assert final_of(await collect(turns, first)).exit_reason is ExitReason.COMPLETED
        await repeating.__aexit__(None, None, None)


async def slow_to_hear(turn_id: str) -> None:
    """A caller to whom it takes a while to send the turn's id."""
    for _ in range(3):
        await asyncio.sleep(0)


@pytest.mark.parametrize("steps", range(12))
async def test_an_invocation_cancelled_at_any_moment_cancels_its_turn(steps: int) -> None:
    store = MemoryTurnStore()
    async with running(Gated(), store) as turns:
        invoking = asyncio.create_task(turns.invoke(ANN, CONTINUE, slow_to_hear))
        await store.reached["begin"].wait()
        for _ in range(steps):
            await asyncio.sleep(0)
        invoking.cancel()
        assert await ended(store) is ExitReason.CANCELLED
        assert invoking.cancelled()


async def test_an_invocation_returns_the_final_state() -> None:
    async with running(emits(TURN_START)) as turns:
        told: list[str] = []

        async def tell(turn_id: str) -> None:
            told.append(turn_id)

        turn_id, final = await turns.invoke(ANN, GRACE, tell)
        assert told == [turn_id]
        assert final == final_of(await collect(turns, turn_id))
