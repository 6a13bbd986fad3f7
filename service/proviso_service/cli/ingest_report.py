"""How an ingest is shown: progress while it runs, a summary at its end; for programs, JSON lines."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table
from rich.text import Text

from proviso_service.cli.discovery import Found
from proviso_service.cli.output import console, print_json, printable
from proviso_service.cli.uploads import Outcome, Progress, Result

MAX_LISTED = 20


class RateColumn(ProgressColumn):
    """Files a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f} files/s" if speed else "", style="dim")


@contextmanager
def showing_progress(total: int, *, as_json: bool) -> Iterator[Progress]:
    """Yields the callback of an ingest. Progress goes to stderr, results to stdout."""
    if as_json:
        yield _print_outcomes
        return
    columns = (TextColumn("Ingesting"), BarColumn(), MofNCompleteColumn(), RateColumn(), TimeRemainingColumn())
    with ProgressBar(*columns, console=console(stderr=True)) as bar:
        task = bar.add_task("ingest", total=total)

        def update(files_done: float, _: list[Outcome]) -> None:
            bar.update(task, completed=files_done)

        yield update


def _print_outcomes(_: float, outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        print_json(_record(outcome))


def report(found: Found, outcomes: list[Outcome], matter: str, *, as_json: bool) -> None:
    counts = Counter(outcome.result for outcome in outcomes)
    if as_json:
        summary = {result.value: counts[result] for result in Result} | {"skipped": len(found.skipped)}
        print_json({"matter": matter, "summary": summary})
        return
    out = console()
    out.print(_summary(counts, len(found.skipped), matter))
    failed = [outcome for outcome in outcomes if outcome.result is Result.FAILED]
    _list(f"{len(failed)} failed:", [f"{outcome.path}: {outcome.reason}" for outcome in failed])
    _list(f"{len(found.skipped)} skipped, not of a supported type:", [str(path) for path in found.skipped])
    names = Counter(path.name for path in found.files)
    same = [f"{name}: {count} files" for name, count in names.items() if count > 1]
    _list("Files of the same name; asked for by name, the newest answers:", same)


def _summary(counts: "Counter[Result]", skipped: int, matter: str) -> Table:
    table = Table(title=f"Matter {printable(matter)}", title_justify="left", box=None, pad_edge=False)
    for name in (*Result, "skipped"):
        table.add_column(name, justify="right", style="red" if name == "failed" and counts[Result.FAILED] else None)
    table.add_row(*(str(counts[result]) for result in Result), str(skipped))
    return table


def _list(title: str, lines: list[str]) -> None:
    if not lines:
        return
    out = console()
    out.print(title)
    for line in lines[:MAX_LISTED]:
        out.print(f"  {printable(line)}")
    if len(lines) > MAX_LISTED:
        out.print(f"  and {len(lines) - MAX_LISTED} more")


def _record(outcome: Outcome) -> dict[str, Any]:
    return {
        "path": str(outcome.path),
        "result": outcome.result.value,
        "document_id": outcome.document_id,
        "chunks": outcome.chunks,
        "reason": outcome.reason,
    }
