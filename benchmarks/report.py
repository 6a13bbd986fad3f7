"""Writes the figures as Markdown tables and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.figures import Goal, StartFigures, StreamFigures


@dataclass(frozen=True, slots=True)
class Report:
    streams: Sequence[StreamFigures]
    starts: Sequence[StartFigures]
    goals: Sequence[Goal]

    def to_json(self) -> str:
        goals = [asdict(goal) | {"met": goal.met} for goal in self.goals]
        streams = [asdict(figures) for figures in self.streams]
        starts = [asdict(figures) for figures in self.starts]
        return json.dumps({"streams": streams, "starts": starts, "goals": goals}, indent=2)

    def to_markdown(self) -> str:
        return "\n\n".join((_streams(self.streams), _starts(self.starts), _goals(self.goals)))


def _streams(rows: Sequence[StreamFigures]) -> str:
    head = (
        *("workload", "streams", "server", "tokens/s", "CPU us/token", "ratio", "CPU us/event", "tokens/event"),
        *("CPU ms/turn", "first event p50 ms", "p99 ms", "first text p50 ms"),
    )
    return table(
        head,
        [
            (
                *(f.workload, str(f.streams), f.server, f"{f.tokens_per_s:,.0f}", f"{f.cpu_us_per_token:,.1f}"),
                *(f"{f.cpu_ratio:.2f}", f"{f.cpu_us_per_event:,.1f}", f"{f.tokens_per_event:.2f}"),
                *(f"{f.cpu_ms_per_turn:.1f}", f"{f.first_event_p50_ms:,.1f}", f"{f.first_event_p99_ms:,.1f}"),
                f"{f.first_token_p50_ms:,.1f}",
            )
            for f in rows
        ],
    )


def _starts(rows: Sequence[StartFigures]) -> str:
    return table(
        ("data folder", "starts", "SERVING best s", "median s", "CPU s", "memory at SERVING MB", "2 s later MB"),
        [
            (
                *(f.data_folder, str(f.starts), f"{f.ready_best_s:.2f}", f"{f.ready_median_s:.2f}"),
                *(f"{f.ready_cpu_s:.2f}", f"{f.serving_mb:.0f}", f"{f.idle_mb:.0f}"),
            )
            for f in rows
        ],
    )


def _goals(rows: Sequence[Goal]) -> str:
    return table(
        ("goal", "measured", "at most", "unit", "met"),
        [(g.name, f"{g.value:.2f}", f"{g.limit:.3g}", g.unit, "yes" if g.met else "NO") for g in rows],
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines)
