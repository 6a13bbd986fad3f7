"""Tests of the agent's spans: their names are in the registry of the conventions, and they record failures rightly."""

import asyncio

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import (
    error_attributes,
    gen_ai_attributes,
    http_attributes,
    rpc_attributes,
    server_attributes,
    url_attributes,
)
from opentelemetry.trace import INVALID_SPAN, SpanKind, StatusCode, get_current_span

from proviso_service.errors import TooBusy
from proviso_service.settings import TelemetrySettings
from proviso_service.telemetry.spans import NO_SPANS, Spans, provider_and_model, trace_headers
from proviso_service.telemetry.tracing import tracer_provider
from proviso_service.turns import Usage

CONFIDENTIAL = "the settlement is swordfish"

KNOWN = {
    value
    for module in (
        error_attributes, gen_ai_attributes, http_attributes, rpc_attributes, server_attributes, url_attributes
    )
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, str)
}  # fmt: skip


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Spans:
    provider = tracer_provider(TelemetrySettings(), SimpleSpanProcessor(exporter))
    assert provider is not None
    return Spans(provider.get_tracer("test"))


def every_kind(spans: Spans) -> None:
    """Starts one span of each kind, with all attributes that it can have."""
    used = iter([Usage(1, 2), Usage(11, 5, cached_input_tokens=3)])
    with spans.chat("google_genai:gemini-2.5-flash", lambda: next(used)) as call, spans.attempt(1):
        call.finished("STOP")
    with spans.kept_reply("google_genai:gemini-2.5-flash"):
        pass
    with (
        spans.tool("isaacus_search", "call-1"),
        spans.retrieval("matter"),
        pytest.raises(TooBusy),
        spans.request("POST", "https://api.isaacus.com/v1/", "embeddings", resends=2),
    ):
        raise TooBusy(CONFIDENTIAL, 1.0)


def test_attributes_are_those_of_the_conventions_or_our_own(spans: Spans, exporter: InMemorySpanExporter) -> None:
    every_kind(spans)
    used = {name for span in exporter.get_finished_spans() for name in span.attributes or {}}
    assert len(used) > 15
    assert {name for name in used if not name.startswith("proviso.")} <= KNOWN


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("google_genai:gemini-2.5-flash", "gcp.gemini", "gemini-2.5-flash"),
        ("openai:gpt-5", "openai", "gpt-5"),
        ("xai:grok-4", "x_ai", "grok-4"),
        ("ollama:llama3:8b", "ollama", "llama3:8b"),
        ("local", "proviso", "local"),
    ],
)
def test_a_models_name_is_told_in_the_conventions_words(name: str, provider: str, model: str) -> None:
    assert provider_and_model(name) == (provider, model)


def test_the_providers_that_the_conventions_name_are_named_so() -> None:
    names = {value.value for value in gen_ai_attributes.GenAiProviderNameValues}
    known = ("google_genai", "google_vertexai", "azure_openai", "azure_ai", "bedrock", "bedrock_converse", "mistralai",
             "ibm", "xai", "openai", "anthropic", "cohere", "deepseek", "groq", "perplexity")  # fmt: skip
    assert {provider_and_model(f"{provider}:m")[0] for provider in known} <= names


def only(exporter: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exporter.get_finished_spans()
    return span


class Refused(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(CONFIDENTIAL)
        self.code = code


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        (Refused(429), "429", StatusCode.ERROR),
        (TimeoutError(CONFIDENTIAL), "TimeoutError", StatusCode.ERROR),
        (asyncio.CancelledError(CONFIDENTIAL), "CancelledError", StatusCode.UNSET),
    ],
)
def test_a_failure_is_told_by_its_kind_and_never_by_its_text(
    spans: Spans, exporter: InMemorySpanExporter, error: BaseException, kind: str, status: StatusCode
) -> None:
    with pytest.raises(type(error)), spans.tool("lookup", "call-1"):
        raise error
    span = only(exporter)
    assert (span.attributes or {})["error.type"] == kind
    assert span.status.status_code is status
    assert "swordfish" not in span.to_json()


def test_tokens_of_a_call_that_failed_are_told(spans: Spans, exporter: InMemorySpanExporter) -> None:
    used = iter([Usage(1, 2), Usage(11, 5)])
    with pytest.raises(TimeoutError), spans.chat("local", lambda: next(used)):
        raise TimeoutError
    attributes = only(exporter).attributes or {}
    assert (attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]) == (10, 3)


@pytest.mark.parametrize(("before", "told"), [(0, 7), (4, 3), (7, None)])
def test_tokens_that_the_provider_had_seen_before_are_told_where_there_were_any(
    spans: Spans, exporter: InMemorySpanExporter, before: int, told: int | None
) -> None:
    used = iter([Usage(1, 2, cached_input_tokens=before), Usage(11, 5, cached_input_tokens=7)])
    with spans.chat("openai:gpt-5", lambda: next(used)):
        pass
    assert (only(exporter).attributes or {}).get("gen_ai.usage.cache_read.input_tokens") == told


def test_a_reply_that_was_kept_is_told_from_a_call(spans: Spans, exporter: InMemorySpanExporter) -> None:
    with spans.kept_reply("openai:gpt-5"):
        pass
    span = only(exporter)
    assert (span.name, span.kind, dict(span.attributes or {})) == (
        "chat gpt-5",
        SpanKind.INTERNAL,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-5",
            "proviso.from_cache": True,
        },
    )


@pytest.mark.parametrize(
    ("model", "kind"), [("local", SpanKind.INTERNAL), ("openai:gpt-5", SpanKind.CLIENT), ("", SpanKind.INTERNAL)]
)
def test_what_leaves_the_process_is_a_clients_span(
    spans: Spans, exporter: InMemorySpanExporter, model: str, kind: SpanKind
) -> None:
    with spans.attempt(1, model):
        pass
    assert only(exporter).kind is kind


def test_an_endless_id_of_a_model_is_cut(spans: Spans, exporter: InMemorySpanExporter) -> None:
    with spans.tool("lookup", "i" * 100_000):
        pass
    assert len(str((only(exporter).attributes or {})["gen_ai.tool.call.id"])) == 256


def test_without_a_tracer_nothing_is_current_and_nothing_is_passed_on() -> None:
    with NO_SPANS.tool("lookup", "call-1"), NO_SPANS.chat("m", Usage), NO_SPANS.attempt(1), NO_SPANS.kept_reply("m"):
        assert get_current_span() is INVALID_SPAN
        assert trace_headers() == {}


def test_failures_pass_through_where_nothing_is_traced() -> None:
    for nothing in (NO_SPANS.chat("local", Usage), NO_SPANS.attempt(1), NO_SPANS.tool("lookup", "call-1")):
        with pytest.raises(TimeoutError), nothing:
            raise TimeoutError
