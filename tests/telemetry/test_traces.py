"""Each call has one span, where traces are switched on."""

import socket
import time
from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, get_current_span

from proviso_service.settings import TelemetrySettings
from proviso_service.telemetry import tracing
from proviso_service.telemetry.tracing import tracer_provider
from tests.api.probe import Probe, probe
from tests.api.serving import NO_DOMAIN, refusal, served
from tests.support.otlp_receiver import otlp_receiver

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
CONFIDENTIAL = "the settlement is swordfish"


async def in_span(request: Any, context: Any) -> StringValue:
    return StringValue(value=format(get_current_span().get_span_context().trace_id, "032x"))


async def failing(request: Any, context: Any) -> StringValue:
    raise RuntimeError(CONFIDENTIAL)


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def test_a_call_is_one_span_under_the_callers_trace() -> None:
    exporter = InMemorySpanExporter()
    provider = tracer_provider(TelemetrySettings(), SimpleSpanProcessor(exporter))
    metadata = (("traceparent", f"00-{TRACE_ID}-b7ad6b7169203331-01"), ("x-request-id", "r1"))
    async with served(NO_DOMAIN, tracer_provider=provider, extra=probe(in_span)) as server:
        answer = await Probe(server.channel).unary(CONFIDENTIAL, metadata=metadata)
    (span,) = exporter.get_finished_spans()
    assert answer.value == TRACE_ID
    assert (span.name, span.kind) == ("test.Probe/Unary", SpanKind.SERVER)
    assert span.context is not None
    assert format(span.context.trace_id, "032x") == TRACE_ID
    assert attributes(span) == {
        "rpc.system.name": "grpc",
        "rpc.method": "test.Probe/Unary",
        "rpc.response.status_code": "OK",
        "server.address": "127.0.0.1",
        "proviso.request_id": "r1",
    }
    assert span.resource.attributes["service.name"] == "proviso"


async def test_a_fault_marks_its_span_without_contents() -> None:
    exporter = InMemorySpanExporter()
    provider = tracer_provider(TelemetrySettings(), SimpleSpanProcessor(exporter))
    async with served(NO_DOMAIN, tracer_provider=provider, extra=probe(failing)) as server:
        await refusal(Probe(server.channel).unary())
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert attributes(span)["rpc.response.status_code"] == attributes(span)["error.type"] == "INTERNAL"
    assert CONFIDENTIAL not in span.to_json()


async def test_probes_of_health_have_no_spans() -> None:
    exporter = InMemorySpanExporter()
    provider = tracer_provider(TelemetrySettings(), SimpleSpanProcessor(exporter))
    async with served(NO_DOMAIN, tracer_provider=provider) as server:
        health: Any = health_pb2_grpc.HealthStub(server.channel)
        await health.Check(health_pb2.HealthCheckRequest())
    assert exporter.get_finished_spans() == ()


@pytest.mark.parametrize(("ratio", "flags", "recorded"), [(0.0, "01", 1), (1.0, "00", 0)])
async def test_a_callers_trace_is_recorded_as_the_caller_says(ratio: float, flags: str, recorded: int) -> None:
    exporter = InMemorySpanExporter()
    provider = tracer_provider(TelemetrySettings(trace_ratio=ratio), SimpleSpanProcessor(exporter))
    metadata = (("traceparent", f"00-{TRACE_ID}-b7ad6b7169203331-{flags}"),)
    async with served(NO_DOMAIN, tracer_provider=provider, extra=probe(in_span)) as server:
        answer = await Probe(server.channel).unary(metadata=metadata)
    assert answer.value == TRACE_ID
    assert len(exporter.get_finished_spans()) == recorded


async def test_of_traces_that_begin_here_a_share_is_recorded() -> None:
    exporter = InMemorySpanExporter()
    provider = tracer_provider(TelemetrySettings(trace_ratio=0.0), SimpleSpanProcessor(exporter))
    async with served(NO_DOMAIN, tracer_provider=provider, extra=probe(in_span)) as server:
        await Probe(server.channel).unary()
    assert exporter.get_finished_spans() == ()


def test_without_an_endpoint_nothing_is_traced() -> None:
    assert tracer_provider(TelemetrySettings()) is None


def test_what_is_left_at_the_end_is_sent() -> None:
    with otlp_receiver() as receiver:
        provider = tracer_provider(TelemetrySettings(otlp_endpoint=receiver.endpoint))
        assert provider is not None
        provider.get_tracer("test").start_span("last").end()
        provider.shutdown()
        assert [span.name for span in receiver.spans()] == ["last"]


def test_a_silent_collector_holds_up_the_end_for_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "FLUSH_TIME_LIMIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        provider = tracer_provider(TelemetrySettings(otlp_endpoint=endpoint))
        assert provider is not None
        provider.get_tracer("test").start_span("last").end()
        started = time.monotonic()
        provider.shutdown()
        assert time.monotonic() - started < tracing.EXPORT_TIME_LIMIT_S
