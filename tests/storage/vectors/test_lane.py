"""Blocking calls in threads of their own."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from proviso_service.errors import NotReady, TooBusy
from proviso_service.storage.vectors.lane import Lane

LIMIT_S = 5.0


@pytest.fixture
async def lane() -> AsyncIterator[Lane]:
    lane = Lane("shelf", threads=1, max_calls=2, time_limit_s=LIMIT_S)
    yield lane
    await lane.close()


@pytest.fixture
async def gate() -> AsyncIterator[threading.Event]:
    """Holds a call in its thread until it is set."""
    gate = threading.Event()
    yield gate
    gate.set()


async def one_step() -> None:
    await asyncio.sleep(0)


async def test_calls_run_outside_the_event_loop_and_fail_as_they_fail(lane: Lane) -> None:
    assert await lane.run(threading.current_thread) is not threading.current_thread()
    with pytest.raises(ZeroDivisionError):
        await lane.run(divmod, 1, 0)


async def test_calls_over_the_bound_are_too_many(lane: Lane, gate: threading.Event) -> None:
    calls = [asyncio.create_task(lane.run(gate.wait)) for _ in range(2)]
    await one_step()

    with pytest.raises(TooBusy) as caught:
        await lane.run(int)

    gate.set()
    assert caught.value.retry_after_s > 0
    assert await asyncio.gather(*calls) == [True, True]
    assert await lane.run(int) == 0


async def test_a_waiting_call_that_is_cancelled_is_not_made(lane: Lane, gate: threading.Event) -> None:
    made: list[str] = []
    running = asyncio.create_task(lane.run(gate.wait))
    waiting = asyncio.create_task(lane.run(made.append, "made"))
    await one_step()
    waiting.cancel()
    await asyncio.wait([waiting])
    gate.set()

    assert await running
    assert await lane.run(int) == 0
    assert made == []


async def test_a_call_past_its_time_limit_keeps_its_place_until_it_ends(gate: threading.Event) -> None:
    lane = Lane("shelf", threads=1, max_calls=1, time_limit_s=0.01)
    with pytest.raises(TimeoutError):
        await lane.run(gate.wait)

    with pytest.raises(TooBusy):
        await lane.run(int)

    gate.set()
    await lane.close()


async def test_closing_lets_begun_calls_end_and_refuses_the_others(lane: Lane, gate: threading.Event) -> None:
    begun = threading.Event()

    def hold() -> str:
        begun.set()
        gate.wait()
        return "held"

    running = asyncio.create_task(lane.run(hold))
    waiting = asyncio.create_task(lane.run(int))
    await asyncio.to_thread(begun.wait)
    closing = asyncio.create_task(lane.close())
    await one_step()
    gate.set()
    await closing

    assert await running == "held"
    for late in (waiting, lane.run(int)):
        with pytest.raises(NotReady):
            await late
