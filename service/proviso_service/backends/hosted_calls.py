"""HostedCalls, which makes the calls of a hosted model's API: limited in number and time, retried where that may help,
and counted."""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from typing import TYPE_CHECKING, Generic, TypeVar

import structlog
from pydantic import Field

from proviso_service.errors import ModelApiError, ModelApiUnavailable
from proviso_service.models import ModelBusy, ModelClosed
from proviso_service.retrying import RETRY_BASE_S, RETRY_MAX_S, Backoff, RetryPolicy, retry_after_seconds
from proviso_service.settings import Seconds, Section
from proviso_service.telemetry.spans import Spans

if TYPE_CHECKING:
    from opentelemetry.trace import Span

_log = structlog.get_logger(__name__)

MAX_WAITING = 1_024
"""Calls that may wait for a place."""

LONGEST_RETRY_AFTER_S = 24 * 3_600.0

_RETRY_AFTER_S = 2.0

Sleep = Callable[[float], Awaitable[None]]
T = TypeVar("T")


class CallConfig(Section):
    """The limits of the calls of one API."""

    calls_at_once: int = Field(8, ge=1, le=64, description="Most calls at once.")
    timeout_s: Seconds = Field(20.0, description="Time limit of one call; each retry has its own.")
    total_s: float = Field(math.inf, gt=0, description="No retry begins that could end later than this.")
    retries: int = Field(2, ge=0, le=10, description="Retries of a call after a transient failure.")
    retry_base_s: Seconds = Field(RETRY_BASE_S, description="Longest first pause before a retry; it doubles each time.")
    retry_max_s: Seconds = Field(RETRY_MAX_S, description="Longest pause before a retry that the API did not ask for.")
    retry_after_max_s: Seconds = Field(
        30.0, description="Longest wait that the API may ask for; where it asks for more, the call fails."
    )


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """The parsed answer of an API, and the input tokens that it states."""

    value: T
    input_tokens: int = 0


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """Why one attempt of a call failed. When `is_transient`, another attempt may succeed; `retry_after_s` is the wait
    in seconds that the API asked for, None where it named none."""

    error: ModelApiError
    is_transient: bool = False
    retry_after_s: float | None = None


def timed_out(service: str, limit_s: float) -> FailedAttempt:
    return FailedAttempt(ModelApiUnavailable(service, f"no answer within {limit_s:g} s"), is_transient=True)


def connection_failed(service: str) -> FailedAttempt:
    return FailedAttempt(ModelApiUnavailable(service, "the connection failed"), is_transient=True)


def unusable_answer(service: str, why: str) -> ModelApiUnavailable:
    return ModelApiUnavailable(service, f"the answer cannot be used: {why}")


def asked_wait_s(header: str | None) -> float | None:
    """The seconds that the header Retry-After asks for, at most a day; None where it asks for nothing."""
    seconds = None if header is None else retry_after_seconds(header)
    return None if seconds is None else min(seconds, LONGEST_RETRY_AFTER_S)


def phrase_of(status: int) -> str:
    """The standard phrase of an HTTP status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "failure"


class CallGate:
    """Lets `at_once` calls run at a time. Where that is more than one, one place is reserved for urgent calls, so that
    a search does not wait for an analysis to end."""

    def __init__(self, service: str, at_once: int) -> None:
        self._service = service
        self._all = asyncio.Semaphore(at_once)
        self._bulk = asyncio.Semaphore(max(1, at_once - 1))
        self._waiting = 0

    @asynccontextmanager
    async def place(self, *, urgent: bool) -> AsyncIterator[None]:
        """Waits for a place, and holds it inside. Raises ModelBusy when MAX_WAITING calls wait already."""
        if self._waiting >= MAX_WAITING:
            raise ModelBusy(f"Too many calls are waiting for the models of {self._service}", _RETRY_AFTER_S)
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


Attempt = Callable[["Span"], Awaitable[Answered[T] | FailedAttempt]]
"""One request: its parsed answer, or why it failed. The span records status and kind of failure."""


class _AttemptFailed(Exception):
    """An attempt has failed. Only the retry policy sees this exception."""

    def __init__(self, attempt: FailedAttempt) -> None:
        super().__init__(attempt.error.message)
        self.attempt = attempt


class HostedCalls:
    """The calls of one API. `service` names it in messages, `log_name` in the names of log lines."""

    def __init__(
        self, service: str, log_name: str, base_url: str, config: CallConfig, sleep: Sleep, spans: Spans
    ) -> None:
        self._service = service
        self._log_name = log_name
        self._base_url = base_url
        self._config = config
        self._gate = CallGate(service, config.calls_at_once)
        self._usage: defaultdict[str, EndpointUsage] = defaultdict(EndpointUsage)
        self._retries = RetryPolicy(config.retries, Backoff(config.retry_base_s, config.retry_max_s))
        self._sleep = sleep
        self._spans = spans
        self._is_closed = False

    @property
    def usage(self) -> Mapping[str, EndpointUsage]:
        """The use of each endpoint, by its path."""
        return dict(self._usage)

    async def call(self, endpoint: str, texts: int, attempt: Attempt[T], *, urgent: bool, method: str = "POST") -> T:
        """Makes a call with so many texts (0 for a question about the server itself, which is of little interest in
        the log), with retries, and returns its parsed answer. A call keeps its place among
        those under way while it waits to be retried, so that an API that asks its clients to wait gets fewer calls.

        Raises ModelApiError, ModelBusy and ModelClosed."""
        start_s = time.monotonic()
        async with self._gate.place(urgent=urgent):
            outcome = await self._outcome(method, endpoint, attempt)
        seconds = round(time.monotonic() - start_s, 3)
        about = {"endpoint": endpoint, "seconds": seconds}
        if isinstance(outcome, FailedAttempt):
            self._usage[endpoint] += EndpointUsage(calls=1, failures=1)
            log = _log.warning if texts else _log.info
            log(f"{self._log_name}_call_failed", reason=outcome.error.message, **about)
            raise outcome.error
        tokens = outcome.input_tokens
        self._usage[endpoint] += EndpointUsage(calls=1, input_tokens=tokens)
        if texts:
            _log.info(f"{self._log_name}_call", texts=texts, input_tokens=tokens, **about)
        return outcome.value

    def close(self) -> None:
        """Refuses further calls, and logs the usage."""
        self._is_closed = True
        for endpoint, usage in self._usage.items():
            _log.info(
                f"{self._log_name}_usage",
                endpoint=endpoint,
                calls=usage.calls,
                tries=usage.tries,
                failures=usage.failures,
                input_tokens=usage.input_tokens,
            )

    async def _outcome(self, method: str, endpoint: str, attempt: Attempt[T]) -> Answered[T] | FailedAttempt:
        """What the last attempt came to. A failure is a value, so that the error that is raised for it carries no
        exception of a library."""
        earlier = count()
        time_left_s = self._config.total_s - self._config.timeout_s
        tries = self._retries.attempts(
            self._may_retry, _asked_wait_s, time_left_s=max(0.0, time_left_s), sleep=self._sleep
        )
        try:
            async for one in tries:
                with one:
                    return await self._attempt(method, endpoint, attempt, earlier)
        except _AttemptFailed as last:
            return last.attempt
        raise AssertionError("the retry policy ends in a response or an exception")

    async def _attempt(self, method: str, endpoint: str, attempt: Attempt[T], earlier: Iterator[int]) -> Answered[T]:
        if self._is_closed:
            raise ModelClosed(f"The client of {self._service}'s models is closed")
        self._usage[endpoint] += EndpointUsage(tries=1)
        with self._spans.request(method, self._base_url, endpoint, next(earlier)) as span:
            outcome = await attempt(span)
        if isinstance(outcome, FailedAttempt):
            raise _AttemptFailed(outcome)
        return outcome

    def _may_retry(self, error: BaseException) -> bool:
        if not isinstance(error, _AttemptFailed) or not error.attempt.is_transient:
            return False
        return (error.attempt.retry_after_s or 0.0) <= self._config.retry_after_max_s


def _asked_wait_s(error: BaseException) -> float | None:
    return error.attempt.retry_after_s if isinstance(error, _AttemptFailed) else None
