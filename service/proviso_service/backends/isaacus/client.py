"""Calls of Isaacus's API, and the answers it gives: calls are bounded in number and time, tried again where that
helps, and counted; answers are checked before anything is read from them."""

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
from tenacity import AsyncRetrying, RetryCallState, retry_if_result, stop_after_attempt, wait_exponential_jitter

from proviso_service.backends.isaacus.failures import Failure, not_in_time, not_reached, refused_with, unreadable_answer
from proviso_service.models import ModelBusy, ModelClosed
from proviso_service.settings import IsaacusSettings
from proviso_service.telemetry.spans import NO_SPANS, STATUS_CODE, Spans, error_type, failed, send_trace_context

if TYPE_CHECKING:
    import httpx
    from isaacus import AsyncIsaacus
    from opentelemetry.trace import Span

Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class _BilledTokens(_Part):
    input_tokens: Count


class Answer(_Part):
    usage: _BilledTokens


class Scored(_Part):
    index: Count
    score: Fraction


class Classifications(Answer):
    """Of POST /classifications/universal."""

    classifications: tuple[Scored, ...]


class Rerankings(Answer):
    """Of POST /rerankings."""

    results: tuple[Scored, ...]


class Embedding(_Part):
    index: Count
    embedding: list[float]


class Embeddings(Answer):
    """Of POST /embeddings."""

    embeddings: tuple[Embedding, ...]


class AnswerPart(_Part):
    text: str
    start: Count
    end: Count
    score: Fraction


class Extraction(_Part):
    index: Count
    answers: tuple[AnswerPart, ...]
    inextractability_score: Fraction


class Extractions(Answer):
    """Of POST /extractions/qa."""

    extractions: tuple[Extraction, ...]


class _Indexed(Protocol):
    @property
    def index(self) -> int: ...


T = TypeVar("T", bound=_Indexed)


def by_index(results: Sequence[T], count: int) -> list[T]:
    """The results in the order of the texts, of which each has one. Raises ModelApiUnavailable."""
    ordered = sorted(results, key=lambda result: result.index)
    if [result.index for result in ordered] != list(range(count)):
        raise unreadable_answer("it has not one result for each text")
    return ordered


MAX_WAITING = 1_024

_RETRY_AFTER_S = 2.0


class CallGate:
    """Lets `at_once` calls in. Where there is more than one place, one of them is kept for urgent calls, so that no
    search waits for the end of an analysis."""

    def __init__(self, at_once: int) -> None:
        self._all = asyncio.Semaphore(at_once)
        self._bulk = asyncio.Semaphore(max(1, at_once - 1))
        self._waiting = 0

    @asynccontextmanager
    async def place(self, *, urgent: bool) -> AsyncIterator[None]:
        """Raises ModelBusy when too many wait already."""
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


_log = structlog.get_logger(__name__)

A = TypeVar("A", bound=Answer)
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Usage:
    """Of one endpoint since the start. `tries` counts every request that was sent; `input_tokens` is what the answers
    say, which is what is paid for."""

    calls: int = 0
    tries: int = 0
    failures: int = 0
    input_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.tries + other.tries,
            self.failures + other.failures,
            self.input_tokens + other.input_tokens,
        )


@dataclass(frozen=True, slots=True)
class Call:
    """`send` makes one request by the SDK's raw responses. `texts` and `query` are what it sends, for telling what may
    not be told. Somebody waits for an `urgent` one."""

    endpoint: str
    send: Callable[[], Awaitable[Any]]
    texts: Sequence[str]
    query: str = ""
    urgent: bool = False


class IsaacusClient:
    """The API through the official SDK, whose own retries are off. Answers are read here, not by the SDK, which would
    take whatever comes and look at every number of an embedding on the event loop."""

    def __init__(
        self,
        sdk: "AsyncIsaacus",
        settings: IsaacusSettings,
        sleep: Sleep = asyncio.sleep,
        spans: Spans = NO_SPANS,
    ) -> None:
        self.sdk = sdk
        self.calls_at_once = settings.calls_at_once
        self._settings = settings
        self._gate = CallGate(settings.calls_at_once)
        self._usage: defaultdict[str, Usage] = defaultdict(Usage)
        self._own_wait = wait_exponential_jitter(
            initial=settings.retry_base_s, max=settings.retry_max_s, jitter=settings.retry_base_s
        )
        self._sleep = sleep
        self._spans = spans
        self._is_closed = False

    @classmethod
    def open(
        cls,
        key: str,
        base_url: str,
        settings: IsaacusSettings,
        sleep: Sleep = asyncio.sleep,
        spans: Spans = NO_SPANS,
    ) -> Self:
        """Makes no call. Imports the SDK, which takes about a second, so call it in a thread."""
        from isaacus import AsyncIsaacus, DefaultAsyncHttpxClient

        # It logs requests with their texts when it debugs, which a variable of its own turns on.
        logging.getLogger("isaacus").setLevel(logging.WARNING)
        sdk = AsyncIsaacus(
            api_key=key,
            base_url=base_url,
            max_retries=0,
            timeout=settings.timeout_s,
            # What is sent goes to this address and to no other.
            http_client=DefaultAsyncHttpxClient(
                follow_redirects=False,
                timeout=settings.timeout_s,
                event_hooks={"request": [send_trace_context]},
            ),
        )
        # Each is imported when it is looked at first.
        _ = sdk.embeddings, sdk.rerankings, sdk.classifications.universal, sdk.extractions.qa
        return cls(sdk, settings, sleep, spans)

    @property
    def usage(self) -> Mapping[str, Usage]:
        """By endpoint."""
        return dict(self._usage)

    async def call(self, call: Call, answer: type[A]) -> A:
        """The answer, read. A call that is tried again keeps its place among those under way, so that an API that asks
        for patience gets fewer calls. Raises ModelApiError, ModelBusy, and ModelClosed."""
        begun = time.monotonic()
        async with self._gate.place(urgent=call.urgent):
            outcome: bytes | Failure = await self._retrying()(self._try, call, count())
        result = outcome if isinstance(outcome, Failure) else _read(outcome, answer)
        seconds = round(time.monotonic() - begun, 3)
        if isinstance(result, Failure):
            self._usage[call.endpoint] += Usage(calls=1, failures=1)
            _log.warning("isaacus_call_failed", endpoint=call.endpoint, reason=result.error.message, seconds=seconds)
            raise result.error
        tokens = result.usage.input_tokens
        self._usage[call.endpoint] += Usage(calls=1, input_tokens=tokens)
        _log.info("isaacus_call", endpoint=call.endpoint, texts=len(call.texts), input_tokens=tokens, seconds=seconds)
        return result

    async def close(self) -> None:
        """Refuses further calls and hangs up."""
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

    async def _try(self, call: Call, earlier: Iterator[int]) -> "bytes | Failure":
        if self._is_closed:
            raise ModelClosed("The client of Isaacus's models is closed")
        self._usage[call.endpoint] += Usage(tries=1)
        with self._spans.post(str(self.sdk.base_url), call.endpoint, next(earlier)) as span:
            return await self._exchange(call, span)

    async def _exchange(self, call: Call, span: "Span") -> "bytes | Failure":
        """One request; its span is told the status, and the kind of a failure."""
        from isaacus import APIConnectionError, APIStatusError, APITimeoutError

        limit_s = self._settings.timeout_s
        try:
            async with asyncio.timeout(limit_s):
                response: httpx.Response = (await call.send()).http_response
                span.set_attribute(STATUS_CODE, response.status_code)
                return response.content
        except (TimeoutError, APITimeoutError):
            failed(span, "timeout")
            return not_in_time(limit_s)
        except APIConnectionError as error:
            failed(span, error_type(error))
            return not_reached()
        except APIStatusError as error:
            span.set_attribute(STATUS_CODE, error.status_code)
            failed(span, error_type(error))
            return refused_with(error.response, error.body, [self.sdk.api_key, call.query, *call.texts])

    def _retrying(self) -> AsyncRetrying:
        """For one call; outcomes are values, so that no exception of the SDK hangs on what is raised."""
        return AsyncRetrying(
            stop=stop_after_attempt(self._settings.retries + 1),
            wait=self._wait,
            retry=retry_if_result(self._may_be_tried_again),
            retry_error_callback=_last_outcome,
            sleep=self._sleep,
        )

    def _may_be_tried_again(self, outcome: "bytes | Failure") -> bool:
        if not isinstance(outcome, Failure) or not outcome.is_transient:
            return False
        return (outcome.retry_after_s or 0.0) <= self._settings.retry_after_max_s

    def _wait(self, state: RetryCallState) -> float:
        asked_s = state.outcome.result().retry_after_s if state.outcome else None
        return self._own_wait(state) if asked_s is None else float(asked_s)


def _last_outcome(state: RetryCallState) -> Any:
    """Of the last try, whatever it was."""
    return state.outcome.result() if state.outcome else None


def _read(content: bytes, answer: type[A]) -> A | Failure:
    try:
        return answer.model_validate_json(content)
    except ValidationError:
        return Failure(unreadable_answer("it is malformed"))
