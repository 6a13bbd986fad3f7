"""Writes the rows as Markdown tables and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from benchmarks.faults.fault import Row
from benchmarks.report import table


def to_json(rows: Sequence[Row]) -> str:
    return json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False)


def to_markdown(rows: Sequence[Row]) -> str:
    return "\n\n".join((_figures(rows), _seen(rows), _memory(rows)))


def _figures(rows: Sequence[Row]) -> str:
    head = (
        *("fault", "exit reason", "retryable", "retry after s", "final state after s", "model calls"),
        *("requests at Gemini", "at Isaacus", "tool calls", "next turn"),
    )
    return table(head, [_figures_of(row) for row in rows])


def _figures_of(row: Row) -> Sequence[str]:
    turn = row.turn
    return (
        *(row.fault, turn.exit_reason, turn.retryable),
        *("" if turn.retry_after_s is None else f"{turn.retry_after_s:.1f}", f"{turn.seconds:.2f}"),
        *(str(turn.model_calls), str(row.gemini_requests), str(row.isaacus_requests), str(turn.tool_calls)),
        _next(row),
    )


def _next(row: Row) -> str:
    turn = row.next_turn
    said = f"works, {turn.seconds:.2f} s" if turn.completed else turn.exit_reason
    return f"{row.pause_s:g} s later: {said}" if row.pause_s else said


def _seen(rows: Sequence[Row]) -> str:
    return table(("fault", "what the caller saw"), [(row.fault, "; ".join(row.turn.saw)) for row in rows])


def _memory(rows: Sequence[Row]) -> str:
    head = ("fault", "service's memory at worst MB", "afterwards MB")
    weighed = [(row.fault, row.memory) for row in rows if row.memory]
    return table(head, [(fault, f"{memory.peak_mb:+.1f}", f"{memory.kept_mb:+.1f}") for fault, memory in weighed])
