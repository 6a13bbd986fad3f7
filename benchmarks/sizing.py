"""`python -m benchmarks.sizing` prints what the kept results say of sizes that were not measured: machines for so many
streams at once, and for so many passages."""

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.load import PACED
from benchmarks.report import Figures, table
from benchmarks.simulation import Costs, begin_s_of, costs_of, simulate_open

USE = 0.6
"""So much of a core is used on average: what is left is for bursts, and for the replicas of one that is gone."""

SEARCHES = 1
"""Each turn makes so many searches, with a question that nobody has asked before."""

STREAMS = (10, 100, 1_000, 10_000, 100_000)
PASSAGES = (25_000, 250_000, 2_500_000, 100_000_000, 1_000_000_000)
IN_USE = 0.05
"""The share of all passages whose matters somebody asks about at the same time."""

BASE_MB = 500
"""Of a replica: the process with its models, and the logs of turns that have ended, of which 256 MiB are kept."""

INDEX_MB = 1_074
"""The default of PROVISO_DOCUMENTS__INDEX_MEMORY_MB."""

STREAMS_AT_A_REPLICA = 32.0
REPLICA_TURNS = 3_000
CONNECTIONS = 13
GB, TB = 1e9, 1e12

Results = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Sizing:
    """What a turn takes: 200 tokens in four seconds, and a search."""

    costs: Costs
    search_s: float

    @classmethod
    def of(cls, results: Results) -> "Sizing":
        rows: Figures = results["replicas"]["figures"]
        costs = costs_of(rows, PACED.name, STREAMS_AT_A_REPLICA, begin_s_of(rows))
        searches: Figures = results["search"]["figures"]
        search = next(row for row in searches if row["what"] == "whole search with its embedding")
        return cls(costs, SEARCHES * search["p50_ms"] / 1e3)

    @property
    def turn_s(self) -> float:
        return PACED.tokens * PACED.interval_s

    @property
    def streams_of_a_replica(self) -> float:
        """So many streams at once use its share of a core."""
        return USE * self.turn_s / (self.costs.replica_s + self.search_s)

    def machines(self, streams: int) -> dict[str, float]:
        turns_per_s = streams / self.turn_s
        replicas = max(1, math.ceil(streams / self.streams_of_a_replica))
        return {
            "streams": streams,
            "turns_per_s": turns_per_s,
            "replicas": replicas,
            "replicas_gb": replicas * (BASE_MB + INDEX_MB) / 1e3,
            "postgres_cores": turns_per_s * self.costs.postgres_s / USE,
            "redis_cores": turns_per_s * self.costs.redis_s / USE,
            "connections": replicas * CONNECTIONS,
        }


def passages_row(results: Results, passages: int) -> dict[str, float]:
    """What so many passages take, by the largest matter that was searched, and by what one took in PostgreSQL."""
    searched = [row for row in results["search"]["figures"] if row["engine"] == "service" and row["what"] == "both"]
    largest = max(searched, key=lambda row: row["passages"])
    stored = next(row for row in results["sharing"]["figures"] if "passages" in row)
    resident_bytes = largest["index_mb"] * 1e6 / largest["passages"]
    return {
        "passages": passages,
        "stored_bytes": passages * stored["stored_bytes"],
        "text_bytes": passages * stored["text_bytes"],
        "resident_bytes": passages * resident_bytes,
        "in_use_bytes": passages * resident_bytes * IN_USE,
        "ingestion_core_days": passages * stored["service_ms"] / 1e3 / 86_400,
    }


def _size(count: float) -> str:
    if count >= TB:
        return f"{count / TB:,.1f} TB"
    return f"{count / GB:,.1f} GB" if count >= GB else f"{count / 1e6:,.0f} MB"


def main() -> int:
    from benchmarks.__main__ import RESULTS
    from benchmarks.replicas import tables

    results: Results = json.loads(RESULTS.read_text(encoding="utf-8"))
    sizing = Sizing.of(results)
    print(tables(results["replicas"]["figures"]) + "\n")
    fields = ("streams", "turns_per_s", "replicas", "replicas_gb", "postgres_cores", "redis_cores", "connections")
    head = ("streams at once", "turns/s", "replicas", "memory GB", "cores of PostgreSQL", "of Redis", "connections")
    rows = [sizing.machines(streams) for streams in STREAMS]
    print(table(head, [tuple(f"{row[name]:,.4g}" for name in fields) for row in rows]) + "\n")
    for use in (0.3, USE, 0.8, 0.9):
        turns_per_s = use / (sizing.costs.replica_s + sizing.search_s)
        result = simulate_open(PACED, sizing.costs, turns_per_s, REPLICA_TURNS, sizing.search_s)
        print(
            f"A replica at {use:.0%} of a core: {turns_per_s:.1f} turns a second, first events after "
            f"{result.first_event_p50_s * 1e3:.0f} ms, p99 {result.first_event_p99_s * 1e3:.0f} ms"
        )
    sized = [passages_row(results, passages) for passages in PASSAGES]
    lines = [
        (
            f"{row['passages']:,.0f}",
            *(_size(row[name]) for name in ("text_bytes", "stored_bytes", "resident_bytes", "in_use_bytes")),
            f"{row['ingestion_core_days']:,.2f}",
        )
        for row in sized
    ]
    columns = (
        "passages",
        "text",
        "PostgreSQL",
        "all indexes in memory",
        f"{IN_USE:.0%} of them",
        "ingestion, core days",
    )
    print("\n" + table(columns, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
