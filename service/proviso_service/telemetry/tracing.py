"""Traces, sent by OTLP where an endpoint is set. The only module that knows OpenTelemetry's SDK."""

from importlib.metadata import version
from threading import Timer

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio

from proviso_service.settings import TelemetrySettings

EXPORT_TIME_LIMIT_S = 5.0
"""Of sending one batch, with retries."""

FLUSH_TIME_LIMIT_S = 3.0
"""Of sending what is left at the end: a collector that is away or silent holds up the stop for no longer."""

_MAX_ATTRIBUTE_CHARS = 256


class _BoundedProcessor(BatchSpanProcessor):
    """Gives up what it cannot send in time at the end; by itself it would try for half a minute."""

    def shutdown(self) -> None:
        giving_up = Timer(FLUSH_TIME_LIMIT_S, self.span_exporter.shutdown)
        giving_up.start()
        try:
            super().shutdown()  # type: ignore[no-untyped-call]
        finally:
            giving_up.cancel()


def tracer_provider(settings: TelemetrySettings, processor: SpanProcessor | None = None) -> TracerProvider | None:
    """The provider to hand around; None when nothing is traced. `processor` takes the place of the OTLP exporter.
    `shutdown()` sends what is left and blocks while it does."""
    if processor is None and settings.otlp_endpoint:
        exporter = OTLPSpanExporter(endpoint=settings.otlp_endpoint, timeout=EXPORT_TIME_LIMIT_S)
        processor = _BoundedProcessor(exporter)
    if processor is None:
        return None
    provider = TracerProvider(
        resource=Resource.create({SERVICE_NAME: "proviso", SERVICE_VERSION: version("proviso-service")}),
        sampler=ParentBasedTraceIdRatio(settings.trace_ratio),
        # Some ids are of a model's making.
        span_limits=SpanLimits(max_span_attribute_length=_MAX_ATTRIBUTE_CHARS),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(processor)
    return provider
