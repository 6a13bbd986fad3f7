"""A receiver of traces and metrics on loopback: OTLP over gRPC, as a collector takes them."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

import grpc
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import (
    MetricsServiceServicer,
    add_MetricsServiceServicer_to_server,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

Numbers = dict[str, int]
"""Numbers of metrics by name; of those that have one for each kind of work, by name and work, such as `name/turns`."""


class MetricsReceiver(MetricsServiceServicer):
    """What came of metrics: `requests` as they were sent."""

    def __init__(self) -> None:
        self.requests: list[ExportMetricsServiceRequest] = []
        self._came = Condition()

    def Export(self, request: ExportMetricsServiceRequest, context: Any) -> ExportMetricsServiceResponse:  # noqa: N802
        with self._came:
            self.requests.append(request)
            self._came.notify_all()
        return ExportMetricsServiceResponse()

    @property
    def latest(self) -> Numbers:
        """What was sent last; empty before anything was."""
        return _numbers(self.requests[-1]) if self.requests else {}

    def wait_until(self, holds: Callable[[Numbers], bool]) -> Numbers:
        """Blocks until numbers come for which this holds, and returns them."""
        with self._came:
            assert self._came.wait_for(lambda: holds(self.latest), timeout=30), self.latest
            return self.latest


def _numbers(request: ExportMetricsServiceRequest) -> Numbers:
    found: Numbers = {}
    for metric in (m for sent in request.resource_metrics for scope in sent.scope_metrics for m in scope.metrics):
        for point in (*metric.sum.data_points, *metric.gauge.data_points):
            parts = (metric.name, *(value_of(attribute.value) for attribute in point.attributes))
            found["/".join(parts)] = point.as_int
    return found


@dataclass
class OtlpReceiver(TraceServiceServicer):
    """What came: `requests` as they were sent."""

    port: int = 0
    metrics: MetricsReceiver = field(default_factory=MetricsReceiver)
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)

    def Export(self, request: ExportTraceServiceRequest, context: Any) -> ExportTraceServiceResponse:  # noqa: N802
        self.requests.append(request)
        return ExportTraceServiceResponse()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def wire(self) -> bytes:
        """All that came, for looking for what must not be in it."""
        requests = (*self.requests, *self.metrics.requests)
        return b"".join(request.SerializeToString() for request in requests)

    @property
    def services(self) -> set[str]:
        """Names of the services that sent spans."""
        resources = (sent.resource for request in self.requests for sent in request.resource_spans)
        return {value_of(a.value) for resource in resources for a in resource.attributes if a.key == "service.name"}

    def spans(self, trace_id: str = "") -> list[Span]:
        """Those that came, of one trace or of all, by their start."""
        scopes = (scope for request in self.requests for sent in request.resource_spans for scope in sent.scope_spans)
        spans = [span for scope in scopes for span in scope.spans]
        chosen = [span for span in spans if not trace_id or span.trace_id.hex() == trace_id]
        return sorted(chosen, key=lambda span: span.start_time_unix_nano)


Tree = list[tuple[str, "Tree"]]


def tree_of(spans: list[Span], parent: bytes) -> Tree:
    """Names of the spans below a span, each with those below it."""
    return [(span.name, tree_of(spans, span.span_id)) for span in spans if span.parent_span_id == parent]


def attributes_of(span: Span) -> dict[str, Any]:
    return {attribute.key: value_of(attribute.value) for attribute in span.attributes}


def value_of(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [value_of(one) for one in value.array_value.values]
    return getattr(value, kind) if kind else None


@contextmanager
def otlp_receiver() -> Iterator[OtlpReceiver]:
    """In a thread of its own: the exporter waits for it while the event loop stands still."""
    receiver = OtlpReceiver()
    server = grpc.server(ThreadPoolExecutor(max_workers=2))
    add_TraceServiceServicer_to_server(receiver, server)  # type: ignore[no-untyped-call]
    add_MetricsServiceServicer_to_server(receiver.metrics, server)  # type: ignore[no-untyped-call]
    receiver.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield receiver
    finally:
        server.stop(None).wait()
