"""Work within a time limit, side by side, and to its end: results, failures, cancellation."""

import asyncio
from functools import partial

import pytest

from proviso_service.concurrency import SharedPlaces, all_of, run_to_end, together, with_timeout


async def test_both_go_on_at_the_same_time() -> None:
    meeting = asyncio.Barrier(2)

    async def one(value: str) -> str:
        await meeting.wait()
        return value

    async with asyncio.timeout(5):
        assert await together(one("first"), one("second")) == ("first", "second")


@pytest.mark.parametrize("failing", ["first", "second"])
async def test_a_failure_is_raised_as_it_is_and_ends_the_other(failing: str) -> None:
    begun = asyncio.Barrier(2)
    ended: list[str] = []

    async def work(name: str) -> None:
        try:
            await begun.wait()
            if name == failing:
                raise KeyError("lost")
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    with pytest.raises(KeyError, match="lost"):
        await together(work("first"), work("second"))
    assert sorted(ended) == ["first", "second"]


async def test_cancelling_the_caller_ends_both() -> None:
    begun = asyncio.Barrier(3)
    ended: list[str] = []

    async def wait(name: str) -> None:
        try:
            await begun.wait()
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    task = asyncio.create_task(together(wait("first"), wait("second")))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(ended) == ["first", "second"]


async def test_all_is_done_so_much_of_it_at_a_time() -> None:
    running = most = 0
    done: list[int] = []

    async def work(number: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        done.append(number)

    await all_of((partial(work, number) for number in range(10)), at_once=3)
    assert (sorted(done), most) == (list(range(10)), 3)


async def test_nothing_to_do_is_done() -> None:
    await all_of([], at_once=3)


async def test_the_first_failure_of_many_is_raised_as_it_is_and_ends_the_others() -> None:
    begun = asyncio.Barrier(2)
    ended: list[str] = []

    async def wait() -> None:
        try:
            await begun.wait()
            await asyncio.Event().wait()
        finally:
            ended.append("waiting")

    async def fail() -> None:
        await begun.wait()
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        await all_of([wait, fail], at_once=2)
    assert ended == ["waiting"]


async def test_a_holder_takes_no_more_than_its_share_and_is_forgotten_afterwards() -> None:
    places = SharedPlaces(3, share=2)
    held: list[str] = []
    release = asyncio.Event()

    async def hold(holder: str) -> None:
        async with places.one(holder):
            held.append(holder)
            await release.wait()

    tasks = [asyncio.ensure_future(hold(holder)) for holder in ("greedy", "greedy", "greedy", "modest", "other")]
    while len(held) < 3:  # noqa: ASYNC110 - the tasks' own steps come first
        await asyncio.sleep(0)
    assert (sorted(held), places.holders) == (["greedy", "greedy", "modest"], 3)
    tasks[2].cancel()
    release.set()
    await asyncio.wait(tasks)
    assert (sorted(held), places.holders) == (["greedy", "greedy", "modest", "other"], 0)


async def test_work_ends_before_its_caller_is_cancelled_however_often_that_is_asked() -> None:
    go_on, started, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        started.set()
        await go_on.wait()
        ended.set()

    caller = asyncio.ensure_future(run_to_end(work()))
    await started.wait()
    for _ in range(3):
        caller.cancel()
        await asyncio.sleep(0)
        assert not caller.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended.is_set()


async def test_a_cancelled_caller_gets_its_cancellation_even_when_the_work_fails() -> None:
    go_on, started = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        started.set()
        await go_on.wait()
        raise ValueError

    caller = asyncio.ensure_future(run_to_end(work()))
    await started.wait()
    caller.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await caller


async def test_the_result_and_the_failure_of_work_pass_through() -> None:
    async def work(fails: bool) -> str:
        if fails:
            raise ValueError("failed")
        return "done"

    assert await run_to_end(work(fails=False)) == "done"
    with pytest.raises(ValueError, match="failed"):
        await run_to_end(work(fails=True))


class TooLate(Exception):
    pass


async def test_work_in_time_gives_its_result_and_late_work_is_cancelled_and_told_in_the_callers_words() -> None:
    ended = asyncio.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    assert await with_timeout(5, asyncio.sleep(0, "done")) == "done"
    with pytest.raises(TooLate) as raised:
        await with_timeout(0.01, forever(), late=TooLate)
    assert ended.is_set()
    assert raised.value.__cause__ is raised.value.__context__ is None
    with pytest.raises(TimeoutError):
        await with_timeout(0, forever())


async def test_a_timeout_of_the_work_itself_passes_through() -> None:
    async def fails() -> None:
        raise TimeoutError("the work's own")

    with pytest.raises(TimeoutError, match="the work's own"):
        await with_timeout(5, fails(), late=TooLate)
