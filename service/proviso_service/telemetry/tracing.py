"""Traces, sent by OTLP where an endpoint is set."""

from importlib.metadata import version

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from proviso_service.settings import TelemetrySettings


def tracer_provider(settings: TelemetrySettings, processor: SpanProcessor | None = None) -> TracerProvider | None:
    """The provider to hand around; None when nothing is traced. `processor` takes the place of the OTLP exporter.
    `shutdown()` sends what is left and blocks while it does."""
    if processor is None and settings.otlp_endpoint:
        processor = BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.otlp_endpoint))
    if processor is None:
        return None
    resource = Resource.create({SERVICE_NAME: "proviso", SERVICE_VERSION: version("proviso-service")})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(processor)
    return provider
