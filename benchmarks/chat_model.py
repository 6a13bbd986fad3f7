"""A chat model that only yields the tokens of a workload, so that it costs no more than any LangChain model must."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable

from benchmarks.load import Workload


class BenchmarkChatModel(BaseChatModel):
    """Streams `texts`, one chunk each. Before each chunk it sleeps `interval_s` seconds, so that other tasks can
    run."""

    texts: tuple[str, ...]
    interval_s: float

    @classmethod
    def of(cls, workload: Workload) -> "BenchmarkChatModel":
        return cls(texts=workload.texts, interval_s=workload.interval_s)

    @property
    def _llm_type(self) -> str:
        return "benchmark"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=list(tools), **kwargs)

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError("the service streams")

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for text in self.texts:
            await asyncio.sleep(self.interval_s)
            yield ChatGenerationChunk(message=AIMessageChunk(content=text))
