"""IsaacusClient, which makes the calls of Isaacus's API, and the forms of the API's responses.

Calls are limited in number and time, retried where that may help, and counted. A response is checked against its form
before anything is read from it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from proviso_service.backends.hosted_calls import (
    Answered,
    CallConfig,
    EndpointUsage,
    FailedAttempt,
    HostedCalls,
    Sleep,
    connection_failed,
    timed_out,
    unusable_answer,
)
from proviso_service.backends.isaacus.failures import SERVICE, rejected
from proviso_service.telemetry.spans import NO_SPANS, STATUS_CODE, Spans, error_type, failed, send_trace_context

if TYPE_CHECKING:
    import httpx
    from isaacus import AsyncIsaacus
    from opentelemetry.trace import Span


class IsaacusConfig(CallConfig):
    """The models of Isaacus that are used, and the limits of calls of its API."""

    texts_per_call: int = Field(64, ge=1, le=128, description="Most texts in one call.")
    dimensions: int = Field(1_024, ge=1, le=1_792, description="Number of values of an embedding.")
    embedder_model: str = "kanon-2-embedder"
    classifier_model: str = "kanon-universal-classifier"
    reranker_model: str = "kanon-2-reranker"
    extractor_model: str = "kanon-answer-extractor"


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


A = TypeVar("A", bound=ApiResponse)


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call of one endpoint. `send` makes one request and returns the SDK's raw response. `texts` and `query` are what
    the request holds; error messages must not repeat them. A person waits for an `urgent` call."""

    endpoint: str
    send: Callable[[], Awaitable[Any]]
    texts: Sequence[str]
    query: str = ""
    urgent: bool = False


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
        self._limit_s = settings.timeout_s
        self._calls = HostedCalls(SERVICE, "isaacus", str(sdk.base_url), settings, sleep, spans)

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
        return self._calls.usage

    async def call(self, call: ApiCall, answer: type[A]) -> A:
        """Makes the call, with retries, and returns its parsed response. Raises ModelApiError, ModelBusy and
        ModelClosed."""
        exchange = partial(self._exchange, call, answer)
        return await self._calls.call(call.endpoint, len(call.texts), exchange, urgent=call.urgent)

    async def close(self) -> None:
        """Refuses further calls, logs the usage and closes the connections."""
        self._calls.close()
        await self.sdk.close()

    async def _exchange(self, call: ApiCall, answer: type[A], span: "Span") -> Answered[A] | FailedAttempt:
        """One request: the parsed response, or why it failed. The span records status and kind of failure."""
        from isaacus import APIConnectionError, APIStatusError, APITimeoutError

        try:
            async with asyncio.timeout(self._limit_s):
                response: httpx.Response = (await call.send()).http_response
        except (TimeoutError, APITimeoutError):
            failed(span, "timeout")
            return timed_out(SERVICE, self._limit_s)
        except APIConnectionError as error:
            failed(span, error_type(error))
            return connection_failed(SERVICE)
        except APIStatusError as error:
            span.set_attribute(STATUS_CODE, error.status_code)
            failed(span, error_type(error))
            return rejected(error.response, error.body, [self.sdk.api_key, call.query, *call.texts])
        span.set_attribute(STATUS_CODE, response.status_code)
        try:
            parsed = answer.model_validate_json(response.content)
        except ValidationError:
            return FailedAttempt(unusable_answer(SERVICE, "it is malformed"))
        return Answered(parsed, parsed.usage.input_tokens)
