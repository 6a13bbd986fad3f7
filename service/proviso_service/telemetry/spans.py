"""The spans of the agent's work, named by OpenTelemetry's semantic conventions for generative AI and HTTP.

Spans carry names, codes, counts and ids that the service or a model made up. They never carry prompts, queries, texts,
arguments, names of persons or keys, and of an exception only its type. docs/observability.md lists them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from opentelemetry.trace import INVALID_SPAN, Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

if TYPE_CHECKING:
    import httpx

ERROR_TYPE = "error.type"
STATUS_CODE = "http.response.status_code"
FROM_CACHE = "proviso.from_cache"

OWN_PROVIDER = "proviso"

Attributes = Mapping[str, AttributeValue]

_PROVIDERS: Mapping[str, str] = {
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "azure_openai": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock",
    "mistralai": "mistral_ai",
    "ibm": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""The conventions' names of providers that LangChain calls something else."""


class TokenUsage(Protocol):
    """The tokens that a turn has used so far."""

    @property
    def input_tokens(self) -> int: ...

    @property
    def output_tokens(self) -> int: ...

    @property
    def cached_input_tokens(self) -> int: ...


class ModelCallSpan:
    """The span of a call of a chat model."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def finished(self, reason: object) -> None:
        """Records why the reply ended, in the provider's words. A reason that is no text is not recorded."""
        if isinstance(reason, str) and reason:
            self._span.set_attribute("gen_ai.response.finish_reasons", [reason])

    def used(self, before: TokenUsage, after: TokenUsage) -> None:
        """Records the tokens that all attempts together have used: the difference of two states of the turn's usage.
        Nothing is recorded where the provider did not report them."""
        input_tokens = after.input_tokens - before.input_tokens
        output_tokens = after.output_tokens - before.output_tokens
        if input_tokens or output_tokens:
            self._span.set_attribute("gen_ai.usage.input_tokens", input_tokens)
            self._span.set_attribute("gen_ai.usage.output_tokens", output_tokens)
        record_cached_tokens(self._span, after.cached_input_tokens - before.cached_input_tokens)


class Spans:
    """Starts spans. Each is the current span inside its context, and records the type of an exception that leaves it.
    Without a tracer no spans are made, at almost no cost."""

    def __init__(self, tracer: Tracer | None) -> None:
        self._tracer = tracer

    def chat(self, model: str, usage: Callable[[], TokenUsage]) -> AbstractContextManager[ModelCallSpan]:
        """The span of a call of a chat model with all its attempts. `model` is its name in the settings; `usage`
        returns the turn's usage so far."""
        return _NO_MODEL_CALL if self._tracer is None else _chat(self._tracer, model, usage)

    def kept_reply(self, model: str) -> AbstractContextManager[Span]:
        """The span of a reply of `model` that came from the cache, without a call."""
        if self._tracer is None:
            return _NO_SPAN
        provider, name = provider_and_model(model)
        attributes: Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": name,
            FROM_CACHE: True,
        }
        return _span(self._tracer, f"chat {name}", SpanKind.INTERNAL, attributes)

    def attempt(self, number: int, model: str = "") -> AbstractContextManager[Span]:
        """The span of one attempt, numbered from 1, of the work of the span around it: a call of `model`, or of a tool
        where no model is named."""
        if self._tracer is None:
            return _NO_SPAN
        kind = _kind(provider_and_model(model)[0]) if model else SpanKind.INTERNAL
        return _span(self._tracer, "attempt", kind, {"proviso.attempt": number})

    def tool(self, name: str, call_id: str) -> AbstractContextManager[Span]:
        """The span of a tool's execution, with all its attempts."""
        if self._tracer is None:
            return _NO_SPAN
        attributes: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call_id,
        }
        return _span(self._tracer, f"execute_tool {name}", SpanKind.INTERNAL, attributes)

    def retrieval(self, source: str) -> AbstractContextManager[Span]:
        """The span of a search. `source` is the kind of what is searched, such as "matter"."""
        if self._tracer is None:
            return _NO_SPAN
        attributes: Attributes = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": source}
        return _span(self._tracer, f"retrieval {source}", SpanKind.INTERNAL, attributes)

    def request(self, method: str, base_url: str, endpoint: str, resends: int) -> AbstractContextManager[Span]:
        """The span of one HTTP request to a fixed `endpoint` below `base_url`, after `resends` earlier attempts. The
        URL is recorded, so it must hold neither contents nor credentials."""
        if self._tracer is None:
            return _NO_SPAN
        base = urlsplit(base_url)
        attributes: dict[str, AttributeValue] = {
            "http.request.method": method,
            "url.full": f"{base_url.rstrip('/')}/{endpoint}",
            "server.address": base.hostname or "",
            "server.port": base.port or (443 if base.scheme == "https" else 80),
        }
        if resends:
            attributes["http.request.resend_count"] = resends
        return _span(self._tracer, f"{method} /{endpoint}", SpanKind.CLIENT, attributes)


@contextmanager
def _chat(tracer: Tracer, model: str, usage: Callable[[], TokenUsage]) -> Iterator[ModelCallSpan]:
    before = usage()
    provider, name = provider_and_model(model)
    attributes: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": name,
        "gen_ai.request.stream": True,
    }
    with _span(tracer, f"chat {name}", _kind(provider), attributes) as span:
        call = ModelCallSpan(span)
        try:
            yield call
        finally:
            call.used(before, usage())


@contextmanager
def _span(tracer: Tracer, name: str, kind: SpanKind, attributes: Attributes) -> Iterator[Span]:
    span_of_work = tracer.start_as_current_span(
        name,
        kind=kind,
        attributes=attributes,
        # Messages of exceptions may hold what people wrote.
        record_exception=False,
        set_status_on_exception=False,
    )
    with span_of_work as span:
        try:
            yield span
        except BaseException as error:
            failed(span, error_type(error), is_fault=isinstance(error, Exception))
            raise


NO_SPANS = Spans(None)
_NO_SPAN = nullcontext(INVALID_SPAN)
_NO_MODEL_CALL = nullcontext(ModelCallSpan(INVALID_SPAN))


def record_cached_tokens(span: Span, tokens: int) -> None:
    """Records the input tokens that the provider took from its cache, unless there were none."""
    if tokens:
        span.set_attribute("gen_ai.usage.cache_read.input_tokens", tokens)


def failed(span: Span, kind: str, *, is_fault: bool = True) -> None:
    """Records the kind of failure that ended the span's work. Its status becomes an error when `is_fault`: a
    cancellation is no error."""
    span.set_attribute(ERROR_TYPE, kind)
    if is_fault:
        span.set_status(Status(StatusCode.ERROR))


def error_type(error: BaseException) -> str:
    """The HTTP status that the exception carries, else the name of its class; never its text."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and not isinstance(status, bool):
                return str(status)
    return type(error).__qualname__


def provider_and_model(name: str) -> tuple[str, str]:
    """Provider and model of a chat model's name in the settings, in the conventions' words: `google_genai:m` gives
    `gcp.gemini` and `m`. A name without a provider is one of the service's own models."""
    provider, colon, model = name.partition(":")
    return (_PROVIDERS.get(provider, provider), model) if colon else (OWN_PROVIDER, name)


def _kind(provider: str) -> SpanKind:
    return SpanKind.INTERNAL if provider == OWN_PROVIDER else SpanKind.CLIENT


_PROPAGATOR = TraceContextTextMapPropagator()


def trace_headers() -> dict[str, str]:
    """The headers `traceparent` and `tracestate` of the current span; empty when there is none."""
    headers: dict[str, str] = {}
    _PROPAGATOR.inject(headers)
    return headers


async def send_trace_context(request: "httpx.Request") -> None:
    """Adds the trace headers to a request. It is an event hook of httpx:
    `AsyncClient(event_hooks={"request": [send_trace_context]})`."""
    request.headers.update(trace_headers())
