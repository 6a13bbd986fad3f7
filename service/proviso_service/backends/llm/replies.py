"""Replies as they come, from every provider alike: within limits of time, and none unless it is whole."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import agenerate_from_stream
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult


class StreamedReplies(BaseChatModel):
    """A model whose every call is a stream, so that `ainvoke` promises what `astream` does. Asynchronous only."""

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await agenerate_from_stream(self._astream(messages, stop, run_manager, **kwargs))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("this model is called asynchronously")


async def parts_of(
    stream: AsyncIterator[ChatGenerationChunk],
    silence_s: float,
    timeout_s: float,
    told: Callable[[Exception], Exception],
) -> AsyncGenerator[ChatGenerationChunk, None]:
    """The reply's parts. Nothing may come for `silence_s` at most, before the first and between them, and all within
    `timeout_s`; a failure, also of time, is raised as what `told` makes of it."""
    clock = asyncio.get_running_loop().time
    end = clock() + timeout_s
    async with aclosing(cast(AsyncGenerator[ChatGenerationChunk, None], stream)):
        while True:
            try:
                async with asyncio.timeout_at(min(clock() + silence_s, end)):
                    part = await anext(stream, None)
            except Exception as error:
                raise told(error) from None
            if part is None:
                return
            yield part
