"""Tests of the time limits on the parts of a reply."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from proviso_service.backends.llm.replies import parts_of


class Told(Exception):
    pass


def told(error: Exception) -> Exception:
    return Told(type(error).__name__)


class Stream:
    """A stream that yields one part and then nothing any more."""

    def __init__(self) -> None:
        self.closed = False

    async def parts(self) -> AsyncIterator[ChatGenerationChunk]:
        try:
            yield ChatGenerationChunk(message=AIMessageChunk(content="Hel"))
            await asyncio.Event().wait()
        finally:
            self.closed = True


@pytest.mark.parametrize(("silence_s", "timeout_s"), [(0.01, 60.0), (60.0, 0.01)])
async def test_silence_and_length_of_a_reply_are_bounded(silence_s: float, timeout_s: float) -> None:
    stream = Stream()
    parts = parts_of(stream.parts(), silence_s, timeout_s, told)
    assert (await anext(parts)).text == "Hel"
    with pytest.raises(Told, match="TimeoutError"):
        await anext(parts)
    assert stream.closed


async def test_a_reader_that_leaves_ends_the_stream() -> None:
    stream = Stream()
    parts = parts_of(stream.parts(), 60, 60, told)
    assert (await anext(parts)).text == "Hel"
    await parts.aclose()
    assert stream.closed
