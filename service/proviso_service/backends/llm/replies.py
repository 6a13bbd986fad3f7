"""Replies of chat models as they come, from every provider alike: within limits of time, and none unless it is whole.

A provider's failure is told in the service's own words: what the provider says may repeat what was sent to it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.exceptions import ModelAPIError, ModelConnectionError, ModelRateLimitError, ModelTimeoutError
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.chat_models import agenerate_from_stream
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding
from pydantic import Field

from proviso_service.retrying import retry_after_seconds, with_causes

_TIMEOUTS = frozenset({"TimeoutError", "TimeoutException", "APITimeoutError", "ServerTimeoutError"})
_CONNECTIONS = frozenset(
    {"ConnectionError", "APIConnectionError", "TransportError", "ClientConnectionError", "ClientPayloadError"}
)
"""By name: which libraries a client is made of depends on what is installed."""

_NOT_JSON = frozenset({"JSONDecodeError"})
_STATUS_OF_TYPE = {
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "internal_server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Of failures that are told in the middle of a stream, whose status was 200."""

_HINTS = {
    401: "check its key",
    403: "check what its key may be used for",
    404: "check the model's name in PROVISO_LLM and the address of the API",
}


class ProviderRefusal(Exception):
    """The provider gave no reply, or none that is whole. `code` is the HTTP status, None where it was 200;
    `retry_after_s` are the seconds that the provider asked to wait. The message is for logs: it holds nothing that the
    provider said, which may repeat what was sent."""

    def __init__(self, message: str, code: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after_s = retry_after_s


def told(provider: str, error: Exception) -> Exception:
    """The failure in words of the service's own. What is no failure of a call is told by its type only, too."""
    chain = list(with_causes(error))
    if code := next((code for one in chain if (code := _status(one))), None):
        hint = f"; {_HINTS[code]}" if code in _HINTS else ""
        return ProviderRefusal(f"{provider} refused the call: {code}{hint}", code, _retry_after_s(chain))
    names = {base.__name__ for one in chain for base in type(one).__mro__}
    if isinstance(error, ModelTimeoutError) or names & _TIMEOUTS:
        return TimeoutError(f"{provider} took too long")
    if isinstance(error, ModelConnectionError) or names & _CONNECTIONS:
        return ConnectionError(f"the connection to {provider} failed: {type(error).__name__}")
    if names & _NOT_JSON:
        return ConnectionError(f"what {provider} sent is not JSON")
    return ProviderRefusal(f"the call of {provider} failed: {type(error).__name__}")


def _status(error: BaseException) -> int | None:
    """The HTTP status of a refusal, or the one that it would have had before the reply began."""
    response = getattr(error, "response", None)
    candidates = (
        getattr(error, "status_code", None),
        getattr(error, "code", None),
        getattr(response, "status_code", None),
    )
    for value in candidates:
        if (status := _number(value)) is not None and 400 <= status <= 599:
            return status
    if said := _STATUS_OF_TYPE.get(_type_said(error)):
        return said
    if isinstance(error, ModelRateLimitError):
        return 429
    return 500 if isinstance(error, ModelAPIError) else None


def _number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
        return int(value)
    return value if isinstance(value, int) else None


def _type_said(error: BaseException) -> str:
    """The provider's word for the kind of failure: `{"type": ...}`, or inside `error`."""
    body = getattr(error, "body", None)
    inner = body.get("error") if isinstance(body, Mapping) else None
    for said in (inner, body):
        if isinstance(said, Mapping) and isinstance(kind := said.get("type"), str):
            return kind
    return ""


def _retry_after_s(chain: list[BaseException]) -> float | None:
    for error in chain:
        headers = getattr(getattr(error, "response", None), "headers", None)
        value = headers.get("retry-after") if isinstance(headers, Mapping) else None
        if isinstance(value, str):
            return retry_after_seconds(value)
    return None


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
