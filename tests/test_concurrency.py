"""Work side by side: results, failures, cancellation."""

import asyncio

import pytest

from proviso_service.concurrency import together


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
