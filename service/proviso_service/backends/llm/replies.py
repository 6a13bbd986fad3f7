"""Streams the replies of any provider's chat model: within time limits, and with an error for an incomplete reply.

Failures of a provider get messages of the service's own: the provider's messages may repeat what was sent to it."""

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
"""Classes of exceptions are known by name, since the libraries that define them may not be installed."""

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
"""HTTP statuses of failures that come in the middle of a stream, whose own status was 200."""

_HINTS = {
    401: "check its key",
    403: "check what its key may be used for",
    404: "check the model's name in PROVISO_LLM and the address of the API",
}


class ProviderRefusal(Exception):
    """The provider refused a call, or its reply is incomplete. `code` is the HTTP status, None where it was 200;
    `retry_after_s` is the wait in seconds that the provider asked for. The message is for logs: it holds no words of
    the provider's, which may repeat what was sent."""

    def __init__(self, message: str, code: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after_s = retry_after_s


def provider_failure(provider: str, error: Exception) -> Exception:
    """The exception to raise for `error`, with a message of the service's own: TimeoutError, ConnectionError or
    ProviderRefusal. Of an exception that is of no known kind the message holds only the type."""
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
    """The HTTP status of a refusal. A refusal inside a stream gets the status that it would have had before it."""
    response = getattr(error, "response", None)
    candidates = (
        getattr(error, "status_code", None),
        getattr(error, "code", None),
        getattr(response, "status_code", None),
    )
    for value in candidates:
        if (status := _as_status(value)) is not None and 400 <= status <= 599:
            return status
    if status_of_type := _STATUS_OF_TYPE.get(_type_in_body(error)):
        return status_of_type
    if isinstance(error, ModelRateLimitError):
        return 429
    return 500 if isinstance(error, ModelAPIError) else None


def _as_status(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
        return int(value)
    return value if isinstance(value, int) else None


def _type_in_body(error: BaseException) -> str:
    """The provider's name for the kind of failure, in the field `type` of the body or of its `error`; else empty."""
    body = getattr(error, "body", None)
    inner = body.get("error") if isinstance(body, Mapping) else None
    for part in (inner, body):
        if isinstance(part, Mapping) and isinstance(kind := part.get("type"), str):
            return kind
    return ""


def _retry_after_s(chain: list[BaseException]) -> float | None:
    for error in chain:
        headers = getattr(getattr(error, "response", None), "headers", None)
        value = headers.get("retry-after") if isinstance(headers, Mapping) else None
        if isinstance(value, str):
            return retry_after_seconds(value)
    return None


_FINISH_FIELDS = ("finish_reason", "stop_reason", "stopReason", "done_reason")
"""The fields in which providers state why a reply has ended."""

_INCOMPLETE_REASONS = frozenset(
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
    """A chat model that always streams, so that `ainvoke` has the same limits and checks as `astream`. It can only be
    called asynchronously."""

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
    """Streams the replies of `inner`, with at most `silence_s` seconds without any part and `timeout_s` for the whole.

    `names_end_reason`: the provider always states why a reply has ended. Raises ProviderRefusal for an HTTP status
    other than 200 and for a reply that was blocked or cut short; ConnectionError when the connection failed, or the
    stream ended without a reason that the provider always states; TimeoutError when a limit has passed."""

    inner: BaseChatModel = Field(repr=False)
    provider: str
    silence_s: float
    timeout_s: float
    names_end_reason: bool

    @property
    def _llm_type(self) -> str:
        return self.inner._llm_type

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with these tools, which are in OpenAI's form."""
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
        parts = parts_of(stream, self.silence_s, self.timeout_s, partial(provider_failure, self.provider))
        async with aclosing(parts):
            async for part in parts:
                finish_reason = _finish_reason(part) or finish_reason
                yield part
        if self.names_end_reason and not finish_reason:
            raise ConnectionError(f"the stream of {self.provider} ended before its reply did")
        if finish_reason.lower() in _INCOMPLETE_REASONS:
            raise ProviderRefusal(f"{self.provider} gave no whole reply: {finish_reason.lower()}")


def _finish_reason(part: ChatGenerationChunk) -> str:
    fields = {**part.message.response_metadata, **(part.generation_info or {})}
    return next((reason for name in _FINISH_FIELDS if isinstance(reason := fields.get(name), str)), "")


async def parts_of(
    stream: AsyncIterator[ChatGenerationChunk],
    silence_s: float,
    timeout_s: float,
    failure_of: Callable[[Exception], Exception],
) -> AsyncGenerator[ChatGenerationChunk, None]:
    """The parts of a streamed reply. The first part, and each part after another, has to come within `silence_s`
    seconds, and all of them within `timeout_s`. Failures, and limits that have passed, are raised as the exceptions
    that `failure_of` makes of them."""
    clock = asyncio.get_running_loop().time
    end = clock() + timeout_s
    async with aclosing(cast(AsyncGenerator[ChatGenerationChunk, None], stream)):
        while True:
            try:
                async with asyncio.timeout_at(min(clock() + silence_s, end)):
                    part = await anext(stream, None)
            except Exception as error:
                raise failure_of(error) from None
            if part is None:
                return
            yield part
