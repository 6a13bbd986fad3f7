import asyncio

import pytest

from proviso_service.concurrency import settled


async def test_work_ends_before_its_caller_is_cancelled_however_often_that_is_asked() -> None:
    go_on, started, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        started.set()
        await go_on.wait()
        ended.set()

    caller = asyncio.ensure_future(settled(work()))
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

    caller = asyncio.ensure_future(settled(work()))
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

    assert await settled(work(fails=False)) == "done"
    with pytest.raises(ValueError, match="failed"):
        await settled(work(fails=True))
