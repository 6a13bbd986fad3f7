"""Sends metrics by OTLP, where an endpoint is set. Beside `tracing` the only module that imports
OpenTelemetry's SDK."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum, auto
from importlib.metadata import version
from threading import Event
from uuid import uuid4

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, SERVICE_VERSION, Resource

from proviso_service.settings import TelemetrySettings

EXPORT_TIME_LIMIT_S = 5.0
"""Longest time for sending the numbers once, with retries."""

FLUSH_TIME_LIMIT_S = 3.0
"""Longest time for sending the last numbers when the process stops; a collector that does not answer delays the stop
for no longer."""

READ_TIME_LIMIT_S = 1.0
"""A number that the event loop does not tell within this time is left out."""

WORK = "proviso.work"
"""The attribute that names the kind of work, where a metric has one number for each."""


class Kind(Enum):
    """How the numbers of a metric are added up."""

    LEVEL = auto()
    """Rises and falls; those of several processes may be added."""
    TOTAL = auto()
    """Only rises, from the start of the process."""
    STATE = auto()
    """1 or 0."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that the process tells of itself, with name and unit as OpenTelemetry's conventions have them. `read` is
    called in the event loop each time that metrics are sent, and returns one number, or one for each kind of work."""

    name: str
    unit: str
    description: str
    kind: Kind
    read: Callable[[], int | Mapping[str, int]]


@asynccontextmanager
async def sending(settings: TelemetrySettings, metrics: Sequence[Metric]) -> AsyncIterator[None]:
    """Sends the metrics while the context is open, each minute or as often as `OTEL_METRIC_EXPORT_INTERVAL` says, and
    once more at its end."""
    exporter = OTLPMetricExporter(endpoint=settings.otlp_endpoint, timeout=EXPORT_TIME_LIMIT_S)
    provider = MeterProvider(
        [PeriodicExportingMetricReader(exporter)],
        # The instance tells the numbers of processes apart.
        resource=Resource.create(
            {
                SERVICE_NAME: "proviso",
                SERVICE_VERSION: version("proviso-service"),
                SERVICE_INSTANCE_ID: str(uuid4()),
            }
        ),
        shutdown_on_exit=False,
    )
    meter = provider.get_meter("proviso_service")
    instruments = {
        Kind.LEVEL: meter.create_observable_up_down_counter,
        Kind.TOTAL: meter.create_observable_counter,
        Kind.STATE: meter.create_observable_gauge,
    }
    ended = Event()
    for metric in metrics:
        observe = _observer(metric, asyncio.get_running_loop(), ended)
        instruments[metric.kind](metric.name, [observe], metric.unit, metric.description)
    try:
        yield
    finally:
        await asyncio.to_thread(provider.shutdown, FLUSH_TIME_LIMIT_S * 1_000)
        ended.set()


def _observer(
    metric: Metric, loop: asyncio.AbstractEventLoop, ended: Event
) -> Callable[[CallbackOptions], Iterable[Observation]]:
    """Reads a metric for the thread that sends. What is read belongs to the event loop, and may change meanwhile."""

    def observe(_options: CallbackOptions) -> Iterable[Observation]:
        if ended.is_set():
            return []
        answer: Future[int | Mapping[str, int]] = Future()
        loop.call_soon_threadsafe(_tell, metric, answer)
        try:
            told = answer.result(READ_TIME_LIMIT_S)
        except TimeoutError:
            return []
        if isinstance(told, int):
            return [Observation(told)]
        return [Observation(number, {WORK: work}) for work, number in told.items()]

    return observe


def _tell(metric: Metric, answer: "Future[int | Mapping[str, int]]") -> None:
    try:
        answer.set_result(metric.read())
    except Exception as error:
        answer.set_exception(error)
