"""IsaacusClient, which makes the calls of Isaacus's API, and the forms of the API's responses.

Calls are limited in number and time, retried where that may help, and counted. A response is checked against its form
before anything is read from it."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Protocol, Self, TypeVar

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from proviso_service.backends.isaacus.failures import (
    FailedAttempt,
    connection_failed,
    rejected,
    timed_out,
    unusable_answer,
)
from proviso_service.models import ModelBusy, ModelClosed
from proviso_service.retrying import RETRY_BASE_S, RETRY_MAX_S, Backoff, RetryPolicy
from proviso_service.settings import Seconds, Section
from proviso_service.telemetry.spans import NO_SPANS, STATUS_CODE, Spans, error_type, failed, send_trace_context

if TYPE_CHECKING:
    import httpx
    from isaacus import AsyncIsaacus
    from opentelemetry.trace import Span

_log = structlog.get_logger(__name__)


class IsaacusConfig(Section):
    """The models of Isaacus that are used, and the limits of calls of its API."""

    calls_at_once: int = Field(8, ge=1, le=64, description="Most calls at once.")
    timeout_s: Seconds = Field(20.0, description="Time limit of one call; each retry has its own.")
    retries: int = Field(2, ge=0, le=10, description="Retries of a call after a transient failure.")
    retry_base_s: Seconds = Field(RETRY_BASE_S, description="Longest first pause before a retry; it doubles each time.")
    retry_max_s: Seconds = Field(RETRY_MAX_S, description="Longest pause before a retry that Isaacus did not ask for.")
    retry_after_max_s: Seconds = Field(
        30.0, description="Longest wait that Isaacus may ask for; where it asks for more, the call fails."
    )
    texts_per_call: int = Field(64, ge=1, le=128, description="Most texts in one call.")
    dimensions: int = Field(1_024, ge=1, le=1_792, description="Number of values of an embedding.")
    embedder_model: str = "kanon-2-embedder"
    classifier_model: str = "kanon-universal-classifier"
    reranker_model: str = "kanon-2-reranker"
    extractor_model: str = "kanon-answer-extractor"


MAX_WAITING = 1_024
"""Calls that may wait for a place."""

_RETRY_AFTER_S = 2.0

Sleep = Callable[[float], Awaitable[None]]

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class _ResponseModel(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class _BilledTokens(_ResponseModel):
    input_tokens: Count


class ApiResponse(_ResponseModel):
    usage: _BilledTokens


class TextScore(_ResponseModel):
    index: Count
    score: Fraction


class Classifications(ApiResponse):
    """The response of POST /classifications/universal."""

    classifications: tuple[TextScore, ...]


class Rerankings(ApiResponse):
    """The response of POST /rerankings."""

    results: tuple[TextScore, ...]


class Embedding(_ResponseModel):
    index: Count
    embedding: list[float]


class Embeddings(ApiResponse):
    """The response of POST /embeddings."""

    embeddings: tuple[Embedding, ...]


class ExtractedAnswer(_ResponseModel):
    text: str
    start: Count
    end: Count
    score: Fraction


class TextExtraction(_ResponseModel):
    index: Count
    answers: tuple[ExtractedAnswer, ...]
    inextractability_score: Fraction


class Extractions(ApiResponse):
    """The response of POST /extractions/qa."""

    extractions: tuple[TextExtraction, ...]


class _Indexed(Protocol):
    @property
    def index(self) -> int: ...


T = TypeVar("T", bound=_Indexed)
A = TypeVar("A", bound=ApiResponse)


def by_index(results: Sequence[T], count: int) -> list[T]:
    """The results in the order of the `count` texts that were sent. Raises ModelApiUnavailable unless each text has
    exactly one result."""
    ordered = sorted(results, key=lambda result: result.index)
    if [result.index for result in ordered] != list(range(count)):
        raise unusable_answer("it does not have exactly one result for each text")
    return ordered


class CallGate:
    """Lets `at_once` calls run at a time. Where that is more than one, one place is reserved for urgent calls, so that
    a search does not wait for an analysis to end."""

    def __init__(self, at_once: int) -> None:
        self._all = asyncio.Semaphore(at_once)
        self._bulk = asyncio.Semaphore(max(1, at_once - 1))
        self._waiting = 0

    @asynccontextmanager
    async def place(self, *, urgent: bool) -> AsyncIterator[None]:
        """Waits for a place, and holds it inside. Raises ModelBusy when MAX_WAITING calls wait already."""
        if self._waiting >= MAX_WAITING:
            raise ModelBusy("Too many calls are waiting for Isaacus's models", _RETRY_AFTER_S)
        async with AsyncExitStack() as held:
            self._waiting += 1
            try:
                if not urgent:
                    await held.enter_async_context(self._bulk)
                await held.enter_async_context(self._all)
            finally:
                self._waiting -= 1
            yield


@dataclass(frozen=True, slots=True)
class EndpointUsage:
    """What has been used of one endpoint since the start. `tries` counts every request, with those that repeat a call;
    `input_tokens` is the sum that the API's responses state, which is what it bills."""

    calls: int = 0
    tries: int = 0
    failures: int = 0
    input_tokens: int = 0

    def __add__(self, other: "EndpointUsage") -> "EndpointUsage":
        return EndpointUsage(
            self.calls + other.calls,
            self.tries + other.tries,
            self.failures + other.failures,
            self.input_tokens + other.input_tokens,
        )


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call of one endpoint. `send` makes one request and returns the SDK's raw response. `texts` and `query` are what
    the request holds; error messages must not repeat them. A person waits for an `urgent` call."""

    endpoint: str
    send: Callable[[], Awaitable[Any]]
    texts: Sequence[str]
    query: str = ""
    urgent: bool = False


class _AttemptFailed(Exception):
    """An attempt has failed. Only the retry policy sees this exception."""

    def __init__(self, attempt: FailedAttempt) -> None:
        super().__init__(attempt.error.message)
        self.attempt = attempt


class IsaacusClient:
    """Calls the API through the official SDK, whose own retries are off.

    Responses are parsed here and not by the SDK, which would accept any form, and would check each number of an
    embedding on the event loop."""

    def __init__(
        self,
        sdk: "AsyncIsaacus",
        settings: IsaacusConfig,
        sleep: Sleep = asyncio.sleep,
        spans: Spans = NO_SPANS,
    ) -> None:
        self.sdk = sdk
        self.calls_at_once = settings.calls_at_once
        self._settings = settings
        self._gate = CallGate(settings.calls_at_once)
        self._usage: defaultdict[str, EndpointUsage] = defaultdict(EndpointUsage)
        self._retries = RetryPolicy(settings.retries, Backoff(settings.retry_base_s, settings.retry_max_s))
        self._sleep = sleep
        self._spans = spans
        self._is_closed = False

    @classmethod
    def open(
        cls,
        key: str,
        base_url: str,
        settings: IsaacusConfig,
        sleep: Sleep = asyncio.sleep,
        spans: Spans = NO_SPANS,
    ) -> Self:
        """A client of the API at `base_url`; makes no call. It imports the SDK, which takes about a second, so call it
        in a thread."""
        from isaacus import AsyncIsaacus, DefaultAsyncHttpxClient

        # At level DEBUG, which an environment variable of the SDK turns on, it logs requests with their texts.
        logging.getLogger("isaacus").setLevel(logging.WARNING)
        sdk = AsyncIsaacus(
            api_key=key,
            base_url=base_url,
            max_retries=0,
            timeout=settings.timeout_s,
            # Texts are sent to this address only, so redirects are not followed.
            http_client=DefaultAsyncHttpxClient(
                follow_redirects=False,
                timeout=settings.timeout_s,
                event_hooks={"request": [send_trace_context]},
            ),
        )
        # The SDK imports each resource when it is first accessed: here, and not on the event loop later.
        _ = sdk.embeddings, sdk.rerankings, sdk.classifications.universal, sdk.extractions.qa
        return cls(sdk, settings, sleep, spans)

    @property
    def usage(self) -> Mapping[str, EndpointUsage]:
        """The use of each endpoint, by its path."""
        return dict(self._usage)

    async def call(self, call: ApiCall, answer: type[A]) -> A:
        """Makes the call, with retries, and returns its parsed response. A call keeps its place among those under way
        while it waits to be retried, so that an API that asks its clients to wait gets fewer calls.

        Raises ModelApiError, ModelBusy and ModelClosed."""
        start_s = time.monotonic()
        async with self._gate.place(urgent=call.urgent):
            outcome = await self._outcome(call)
        result = outcome if isinstance(outcome, FailedAttempt) else _read(outcome, answer)
        seconds = round(time.monotonic() - start_s, 3)
        if isinstance(result, FailedAttempt):
            self._usage[call.endpoint] += EndpointUsage(calls=1, failures=1)
            _log.warning("isaacus_call_failed", endpoint=call.endpoint, reason=result.error.message, seconds=seconds)
            raise result.error
        tokens = result.usage.input_tokens
        self._usage[call.endpoint] += EndpointUsage(calls=1, input_tokens=tokens)
        _log.info("isaacus_call", endpoint=call.endpoint, texts=len(call.texts), input_tokens=tokens, seconds=seconds)
        return result

    async def close(self) -> None:
        """Refuses further calls, logs the usage and closes the connections."""
        self._is_closed = True
        for endpoint, usage in self._usage.items():
            _log.info(
                "isaacus_usage",
                endpoint=endpoint,
                calls=usage.calls,
                tries=usage.tries,
                failures=usage.failures,
                input_tokens=usage.input_tokens,
            )
        await self.sdk.close()

    async def _outcome(self, call: ApiCall) -> bytes | FailedAttempt:
        """What the last attempt came to. A failure is a value, so that the error that is raised for it carries no
        exception of the SDK."""
        earlier = count()
        try:
            async for attempt in self._retries.attempts(self._may_retry, _asked_wait_s, sleep=self._sleep):
                with attempt:
                    return await self._attempt(call, earlier)
        except _AttemptFailed as last:
            return last.attempt
        raise AssertionError("the retry policy ends in a response or an exception")

    async def _attempt(self, call: ApiCall, earlier: Iterator[int]) -> bytes:
        if self._is_closed:
            raise ModelClosed("The client of Isaacus's models is closed")
        self._usage[call.endpoint] += EndpointUsage(tries=1)
        with self._spans.post(str(self.sdk.base_url), call.endpoint, next(earlier)) as span:
            outcome = await self._exchange(call, span)
        if isinstance(outcome, FailedAttempt):
            raise _AttemptFailed(outcome)
        return outcome

    async def _exchange(self, call: ApiCall, span: "Span") -> "bytes | FailedAttempt":
        """One request: the body of the response, or why it failed. The span records status and kind of failure."""
        from isaacus import APIConnectionError, APIStatusError, APITimeoutError

        limit_s = self._settings.timeout_s
        try:
            async with asyncio.timeout(limit_s):
                response: httpx.Response = (await call.send()).http_response
                span.set_attribute(STATUS_CODE, response.status_code)
                return response.content
        except (TimeoutError, APITimeoutError):
            failed(span, "timeout")
            return timed_out(limit_s)
        except APIConnectionError as error:
            failed(span, error_type(error))
            return connection_failed()
        except APIStatusError as error:
            span.set_attribute(STATUS_CODE, error.status_code)
            failed(span, error_type(error))
            return rejected(error.response, error.body, [self.sdk.api_key, call.query, *call.texts])

    def _may_retry(self, error: BaseException) -> bool:
        if not isinstance(error, _AttemptFailed) or not error.attempt.is_transient:
            return False
        return (error.attempt.retry_after_s or 0.0) <= self._settings.retry_after_max_s


def _asked_wait_s(error: BaseException) -> float | None:
    return error.attempt.retry_after_s if isinstance(error, _AttemptFailed) else None


def _read(content: bytes, answer: type[A]) -> A | FailedAttempt:
    try:
        return answer.model_validate_json(content)
    except ValidationError:
        return FailedAttempt(unusable_answer("it is malformed"))
