"""Streams the replies of any provider's chat model: within time limits, and with an error for an incomplete reply.

Failures of a provider get messages of the service's own: the provider's messages may repeat what was sent to it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
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

from proviso_service.agent.chat_models import NO_TOOL_CALLS
from proviso_service.agent.failures import UnusableReply
from proviso_service.retrying import retry_after_seconds, with_causes
from proviso_service.turns import ExitCause

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
    "insufficient_quota": 429,
    "billing_error": 402,
}
"""HTTP statuses of failures that come in the middle of a stream, whose own status was 200."""

_BUDGET_WORDS = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"})

_HINTS = {
    401: "check its key",
    403: "check what its key may be used for",
    404: "check the model's name in PROVISO_LLM and the address of the API",
}


class ProviderRefusal(Exception):
    """The provider refused a call. `code` is the HTTP status, None where it was 200; `retry_after_s` is the wait in
    seconds that the provider asked for; `is_over_budget` says that a budget or quota is used up, which no wait of that
    length helps. The message is for logs: it holds no words of the provider's, which may repeat what was sent."""

    def __init__(
        self, message: str, code: int | None = None, retry_after_s: float | None = None, *, is_over_budget: bool = False
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after_s = retry_after_s
        self.is_over_budget = is_over_budget


def provider_failure(provider: str, error: Exception) -> Exception:
    """The exception to raise for `error`, with a message of the service's own: TimeoutError, ConnectionError or
    ProviderRefusal. Of an exception that is of no known kind the message holds only the type."""
    chain = list(with_causes(error))
    if code := next((code for one in chain if (code := _status(one))), None):
        hint = f"; {_HINTS[code]}" if code in _HINTS else ""
        is_over_budget = any(_BUDGET_WORDS & set(_words_in_body(one)) for one in chain)
        words = f"{provider} refused the call: {code}{hint}"
        return ProviderRefusal(words, code, _retry_after_s(chain), is_over_budget=is_over_budget)
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
    if of_type := [_STATUS_OF_TYPE[word] for word in _words_in_body(error) if word in _STATUS_OF_TYPE]:
        return of_type[0]
    if isinstance(error, ModelRateLimitError):
        return 429
    return 500 if isinstance(error, ModelAPIError) else None


def _as_status(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
        return int(value)
    return value if isinstance(value, int) else None


def _words_in_body(error: BaseException) -> Iterator[str]:
    """The provider's names for the kind of failure: the fields `type` and `code` of the body or of its `error`."""
    body = getattr(error, "body", None)
    inner = body.get("error") if isinstance(body, Mapping) else None
    for part in (inner, body):
        if isinstance(part, Mapping):
            yield from (word for name in ("type", "code") if isinstance(word := part.get(name), str))


def _retry_after_s(chain: list[BaseException]) -> float | None:
    for error in chain:
        headers = getattr(getattr(error, "response", None), "headers", None)
        value = headers.get("retry-after") if isinstance(headers, Mapping) else None
        if isinstance(value, str):
            return retry_after_seconds(value)
    return None


_FINISH_FIELDS = ("finish_reason", "stop_reason", "stopReason", "done_reason")
"""The fields in which providers state why a reply has ended."""

_CAUSES: Mapping[str, ExitCause] = {
    "abort": ExitCause.STOPPED,
    "blocklist": ExitCause.BLOCKED,
    "content_filter": ExitCause.BLOCKED,
    "content_filtered": ExitCause.BLOCKED,
    "continuation": ExitCause.CUT,
    "error": ExitCause.STOPPED,
    "guardrail_intervened": ExitCause.BLOCKED,
    "image_prohibited_content": ExitCause.BLOCKED,
    "image_recitation": ExitCause.RECITATION,
    "image_safety": ExitCause.BLOCKED,
    "language": ExitCause.LANGUAGE,
    "length": ExitCause.CUT,
    "malformed_function_call": ExitCause.MALFORMED,
    "max_tokens": ExitCause.CUT,
    "model_context_window_exceeded": ExitCause.CUT,
    "model_length": ExitCause.CUT,
    "other": ExitCause.STOPPED,
    "pause_turn": ExitCause.STOPPED,
    "prohibited_content": ExitCause.BLOCKED,
    "recitation": ExitCause.RECITATION,
    "refusal": ExitCause.BLOCKED,
    "safety": ExitCause.BLOCKED,
    "spii": ExitCause.BLOCKED,
    "unexpected_tool_call": ExitCause.MALFORMED,
}
"""What the providers' words for the end of a reply mean, where the reply is of no use. Reasons that are not among them
belong to whole replies, such as "stop" and "tool_calls"."""


def cause_of(finish_reason: str) -> ExitCause | None:
    """Why a reply that ended for this reason is of no use; None where it is not known to be."""
    return _CAUSES.get(finish_reason.lower())


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
    other than 200; UnusableReply for a reply that was blocked, cut short or not readable; ConnectionError when the
    connection failed, or the stream ended without a reason that the provider always states; TimeoutError when a limit
    has passed."""

    inner: BaseChatModel = Field(repr=False)
    provider: str
    silence_s: float
    timeout_s: float
    names_end_reason: bool

    @property
    def _llm_type(self) -> str:
        return self.inner._llm_type

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with these tools, which are in OpenAI's form. A provider's client that knows no way of telling a
        model to call none of them is given none in that case."""
        try:
            bound = self.inner.bind_tools(tools, **kwargs)
        except (NotImplementedError, TypeError, ValueError):
            if kwargs.get("tool_choice") != NO_TOOL_CALLS:
                raise
            return self.bind()
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
        if cause := cause_of(finish_reason):
            raise UnusableReply(f"{self.provider} gave no whole reply: {finish_reason.lower()}", cause)


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
