"""ModelServer, which makes the calls of one model server over HTTP, and the forms of the answers."""

import asyncio
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from proviso_service.backends.hosted_calls import (
    Answered,
    CallConfig,
    FailedAttempt,
    HostedCalls,
    Sleep,
    asked_wait_s,
    connection_failed,
    phrase_of,
    timed_out,
    unusable_answer,
)
from proviso_service.errors import ModelApiRefused, ModelApiUnavailable
from proviso_service.model_address import ServerAddress
from proviso_service.telemetry.spans import NO_SPANS, STATUS_CODE, Spans, error_type, failed, send_trace_context

if TYPE_CHECKING:
    import httpx
    from opentelemetry.trace import Span

SERVICE = "Model server"

_TRANSIENT = frozenset({408, 409, 424, 429})
"""424 is what text-embeddings-inference answers when the inference itself fails."""

_HINTS = {401: "check the key in its address", 403: "check the key in its address", 404: "check its address"}


class ModelServerConfig(CallConfig):
    """The limits of calls of a model server. Replicas share it, so that it is often busy for a moment."""

    retries: int = 6
    total_s: float = 60.0
    texts_per_call: int = Field(32, ge=1, le=1_024, description="Most texts in one call where the server names none.")
    max_answer_bytes: int = Field(32 * 1024 * 1024, ge=1, description="Size of the largest answer that is read.")


Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


_STRICT = ConfigDict(strict=True, frozen=True)


class ServerAnswer(BaseModel):
    model_config = _STRICT


class Labels(ServerAnswer):
    id2label: dict[str, str]


class ServedKind(ServerAnswer):
    """What kind of model is served: one of the three is there."""

    embedding: dict[str, Any] | None = None
    classifier: Labels | None = None
    reranker: Labels | None = None


class Info(ServerAnswer):
    """The answer of GET /info of text-embeddings-inference."""

    model_id: str
    model_sha: str | None = None
    model_type: ServedKind
    max_concurrent_requests: Annotated[int, Field(ge=1)]
    max_client_batch_size: Annotated[int, Field(ge=1)]

    @property
    def name(self) -> str:
        """Identifies the model and its revision, where that is known."""
        return "/".join(filter(None, ("tei", self.model_id, self.model_sha)))

    @property
    def texts_per_call(self) -> int:
        """Each text of a call takes one of the requests that the server has at once."""
        return min(self.max_client_batch_size, self.max_concurrent_requests)


class Embedded(RootModel[list[list[float]]]):
    """The answer of POST /embed."""

    model_config = _STRICT


class NamedEmbedding(ServerAnswer):
    index: Count
    embedding: list[float]


class Usage(ServerAnswer):
    prompt_tokens: Count = 0


class NamedEmbeddings(ServerAnswer):
    """The answer of POST /embeddings in OpenAI's form."""

    data: list[NamedEmbedding]
    model: str
    usage: Usage = Usage()


class Rank(ServerAnswer):
    index: Count
    score: Fraction


class Ranks(RootModel[list[Rank]]):
    """The answer of POST /rerank."""

    model_config = _STRICT


class Prediction(ServerAnswer):
    label: str
    score: Fraction


class Predictions(RootModel[list[list[Prediction]]]):
    """The answer of POST /predict for a list of pairs."""

    model_config = _STRICT


A = TypeVar("A", bound=BaseModel)


class ModelServer:
    """One model server. What it says of an error is not repeated, since that may hold what it was sent."""

    def __init__(
        self, http: "httpx.AsyncClient", url: str, config: ModelServerConfig, sleep: Sleep, spans: Spans
    ) -> None:
        self.config = config
        self._http = http
        self._calls = HostedCalls(SERVICE, "model_server", url, config, sleep, spans)

    @classmethod
    def open(
        cls,
        address: ServerAddress,
        config: ModelServerConfig,
        sleep: Sleep = asyncio.sleep,
        spans: Spans = NO_SPANS,
    ) -> Self:
        """A client of the server; makes no call. It reads the certificates of authorities, so call it in a thread."""
        import httpx

        key = address.key.get_secret_value()
        http = httpx.AsyncClient(
            base_url=f"{address.url}/",
            headers={"accept-encoding": "identity"} | ({"authorization": f"Bearer {key}"} if key else {}),
            timeout=config.timeout_s,
            event_hooks={"request": [send_trace_context]},
        )
        return cls(http, address.url, config, sleep, spans)

    async def post(self, endpoint: str, body: Any, texts: int, answer: type[A], *, urgent: bool) -> A:
        """Sends a call with so many texts. Raises ModelApiError, ModelBusy and ModelClosed."""
        exchange = partial(self._exchange, "POST", endpoint, body, answer)
        return await self._calls.call(endpoint, texts, exchange, urgent=urgent)

    async def info(self) -> Info:
        """What text-embeddings-inference serves. Raises as `post` does."""
        exchange = partial(self._exchange, "GET", "info", None, Info)
        return await self._calls.call("info", 0, exchange, urgent=True, method="GET")

    async def confirm(self, name: str) -> None:
        """Makes sure that what has been answered came from the model of this name: another one may be served at the
        same address since the start. Raises ModelApiRefused where it is, and as `post` does."""
        served = (await self.info()).name
        if served != name:
            raise other_model(served, name)

    async def close(self) -> None:
        """Refuses further calls, logs the usage and closes the connections."""
        self._calls.close()
        await self._http.aclose()

    async def _exchange(
        self, method: str, endpoint: str, body: Any, answer: type[A], span: "Span"
    ) -> Answered[A] | FailedAttempt:
        import httpx

        try:
            async with (
                asyncio.timeout(self.config.timeout_s),
                self._http.stream(method, endpoint, json=body) as response,
            ):
                span.set_attribute(STATUS_CODE, response.status_code)
                if response.status_code != HTTPStatus.OK:
                    failed(span, str(response.status_code))
                    return _rejected(response)
                content = bytearray()
                async for part in response.aiter_bytes():
                    content += part
                    if len(content) > self.config.max_answer_bytes:
                        return FailedAttempt(unusable_answer(SERVICE, "it is too large"))
        except (TimeoutError, httpx.TimeoutException):
            failed(span, "timeout")
            return timed_out(SERVICE, self.config.timeout_s)
        except httpx.RequestError as error:
            failed(span, error_type(error))
            return connection_failed(SERVICE)
        try:
            parsed = answer.model_validate_json(bytes(content))
        except ValidationError:
            return FailedAttempt(unusable_answer(SERVICE, "it is malformed"))
        return Answered(parsed, _tokens(response, parsed))


def other_model(served: str, name: str) -> ModelApiRefused:
    return ModelApiRefused(SERVICE, f"it serves {served} in place of {name}; start the service again to use that")


def _rejected(response: "httpx.Response") -> FailedAttempt:
    status = response.status_code
    details = f"{phrase_of(status)} (status {status})"
    if status in _TRANSIENT or status >= 500:
        wait_s = asked_wait_s(response.headers.get("retry-after"))
        error = ModelApiUnavailable(SERVICE, details, 1.0 if wait_s is None else wait_s)
        return FailedAttempt(error, is_transient=True, retry_after_s=wait_s)
    hint = _HINTS[404] if status < 400 else _HINTS.get(status)
    return FailedAttempt(ModelApiRefused(SERVICE, f"{details}; {hint}" if hint else details))


def _tokens(response: "httpx.Response", answer: BaseModel) -> int:
    """The tokens that an answer states: OpenAI's form has them, text-embeddings-inference sends them in a header."""
    if isinstance(answer, NamedEmbeddings):
        return answer.usage.prompt_tokens
    stated = response.headers.get("x-compute-tokens", "")
    return int(stated) if stated.isdecimal() else 0
