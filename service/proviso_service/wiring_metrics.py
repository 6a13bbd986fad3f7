"""Chooses what a process tells of itself in numbers. Imported only where they are sent: the exporter takes long."""

from collections.abc import Sequence

from proviso_service.admission import Admission
from proviso_service.matters import Matters
from proviso_service.telemetry.metrics import Kind, Metric
from proviso_service.turns import Turns
from proviso_service.wiring_resources import Resources


def metrics_of_service(
    turns: Turns, admissions: Sequence[Admission], matters: Matters, resources: Resources
) -> list[Metric]:
    """What a process that serves tells: of its turns, of the calls that `admissions` let in, and of what it is built
    on."""
    admission = turns.admission

    def refused() -> dict[str, int]:
        return {one.work: one.refused for one in admissions}

    return [
        Metric("proviso.turns.running", "{turn}", "Turns that have not ended", Kind.LEVEL, lambda: turns.running),
        Metric("proviso.turns.waiting", "{turn}", "Turns that wait to begin", Kind.LEVEL, lambda: admission.waiting),
        Metric(
            "proviso.turns.capacity",
            "{turn}",
            "Turns that begin without waiting, by what the last ones took",
            Kind.LEVEL,
            lambda: admission.capacity,
        ),
        Metric(
            "proviso.turns.taken_over",
            "{turn}",
            "Turns whose process was gone, taken over here",
            Kind.TOTAL,
            lambda: turns.leases.taken_over,
        ),
        Metric("proviso.calls.refused", "{call}", "Calls refused because too many waited", Kind.TOTAL, refused),
        *metrics_of_worker(matters, resources),
        Metric(
            "proviso.index.size",
            "By",
            "Memory of the search indexes that are kept",
            Kind.LEVEL,
            lambda: resources.indexes.held_bytes,
        ),
    ]


def metrics_of_worker(matters: Matters, resources: Resources) -> list[Metric]:
    """What a process that ingests documents tells: of these, and of what it is built on."""
    link, health = resources.shared.link, resources.keeper.health
    metrics = [
        Metric(
            "proviso.documents.waiting",
            "{document}",
            "Documents in the queue of the process",
            Kind.LEVEL,
            lambda: matters.ingestion.waiting,
        ),
        Metric(
            "proviso.documents.under_way",
            "{document}",
            "Documents that the process ingests",
            Kind.LEVEL,
            lambda: matters.ingestion.under_way,
        ),
        Metric(
            "proviso.storage.sound",
            "1",
            "1 while nothing is wrong with the storage, 0 otherwise",
            Kind.STATE,
            lambda: int(not health.faults),
        ),
    ]
    if link is not None:
        up = Metric("proviso.redis.up", "", "1 while Redis answers, 0 otherwise", Kind.STATE, lambda: int(link.is_up))
        metrics.append(up)
    return metrics
