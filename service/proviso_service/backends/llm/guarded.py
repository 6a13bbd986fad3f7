"""A chat model of any provider's, with what its client leaves open: time, replies that are not whole, what is told of
failures."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import Runnable, RunnableBinding
from pydantic import Field

from proviso_service.backends.llm.provider_failures import told
from proviso_service.backends.llm.refusals import ProviderRefusal
from proviso_service.backends.llm.replies import StreamedReplies, parts_of

_FINISH = ("finish_reason", "stop_reason", "stopReason", "done_reason")
"""What providers call the reason why a reply has ended."""

_NOT_WHOLE = frozenset(
    {
        "abort",
        "content_filter",
        "content_filtered",
        "error",
        "guardrail_intervened",
        "length",
        "max_tokens",
        "model_context_window_exceeded",
        "model_length",
        "pause_turn",
        "refusal",
        "safety",
    }
)


class GuardedChatModel(StreamedReplies):
    """Streams replies of `inner`. Nothing may come for `silence_s` at most, and all within `timeout_s`.

    It raises ProviderRefusal for an HTTP status other than 200 and for a reply that was blocked or broken off;
    ConnectionError where the connection failed or, with `tells_end`, the stream ended without saying why; TimeoutError
    where it took too long."""

    inner: BaseChatModel = Field(repr=False)
    provider: str
    silence_s: float
    timeout_s: float
    tells_end: bool

    @property
    def _llm_type(self) -> str:
        return self.inner._llm_type

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Takes tools in OpenAI's form."""
        bound = self.inner.bind_tools(tools, **kwargs)
        if not isinstance(bound, RunnableBinding):
            raise TypeError(f"{type(self.inner).__name__}.bind_tools does not return a binding")
        return self.bind(**bound.kwargs)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        stream = self.inner._astream(messages, stop=stop, run_manager=run_manager, **kwargs)
        finish_reason = ""
        parts = parts_of(stream, self.silence_s, self.timeout_s, partial(told, self.provider))
        async with aclosing(parts):
            async for part in parts:
                finish_reason = _finish_reason(part) or finish_reason
                yield part
        if self.tells_end and not finish_reason:
            raise ConnectionError(f"the stream of {self.provider} ended before its reply did")
        if finish_reason.lower() in _NOT_WHOLE:
            raise ProviderRefusal(f"{self.provider} gave no whole reply: {finish_reason.lower()}")


def _finish_reason(part: ChatGenerationChunk) -> str:
    told_in = {**part.message.response_metadata, **(part.generation_info or {})}
    return next((said for name in _FINISH if isinstance(said := told_in.get(name), str)), "")
