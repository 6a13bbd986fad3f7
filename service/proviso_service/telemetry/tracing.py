"""Sends traces by OTLP, where an endpoint is set. Beside `metrics` the only module that imports
OpenTelemetry's SDK."""

from importlib.metadata import version
from threading import Timer

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio

from proviso_service.settings import TelemetrySettings

EXPORT_TIME_LIMIT_S = 5.0
"""Longest time for sending one batch, with retries."""

FLUSH_TIME_LIMIT_S = 3.0
"""Longest time for sending the last spans when the service stops; a collector that does not answer delays the stop for
no longer."""

_MAX_ATTRIBUTE_CHARS = 256


class _BoundedProcessor(BatchSpanProcessor):
    """Drops the spans that cannot be sent in time when it is shut down; by itself it would try for half a minute."""

    def shutdown(self) -> None:
        giving_up = Timer(FLUSH_TIME_LIMIT_S, self.span_exporter.shutdown)
        giving_up.start()
        try:
            super().shutdown()  # type: ignore[no-untyped-call]
        finally:
            giving_up.cancel()


def tracer_provider(settings: TelemetrySettings, processor: SpanProcessor | None = None) -> TracerProvider | None:
    """The source of tracers; None when nothing is traced. `processor` takes the place of the OTLP exporter. Its
    `shutdown()` blocks while it sends the last spans."""
    if processor is None and settings.otlp_endpoint:
        exporter = OTLPSpanExporter(endpoint=settings.otlp_endpoint, timeout=EXPORT_TIME_LIMIT_S)
        processor = _BoundedProcessor(exporter)
    if processor is None:
        return None
    provider = TracerProvider(
        resource=Resource.create({SERVICE_NAME: "proviso", SERVICE_VERSION: version("proviso-service")}),
        sampler=ParentBasedTraceIdRatio(settings.trace_ratio),
        # Some ids are made up by a model, and may have any length.
        span_limits=SpanLimits(max_span_attribute_length=_MAX_ATTRIBUTE_CHARS),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(processor)
    return provider
