"""Runs an ingest and shows it: its progress while it runs, a summary at its end, or JSON lines for programs."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.filesize import decimal
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table
from rich.text import Text

from proviso_service.cli.connection import connect
from proviso_service.cli.discovery import DiscoveredFiles
from proviso_service.cli.ingest import Ingest, Outcome, Progress, Result
from proviso_service.cli.output import console, print_json, printable
from proviso_service.cli.server_options import Server

MAX_LISTED = 20


def ingest_and_report(found: DiscoveredFiles, server: Server, *, documentation: bool, as_json: bool) -> bool:
    """Ingests what was found, and returns whether any file failed. Raises CommandError.

    An ingest that is stopped by Ctrl-C is summed up, too, before KeyboardInterrupt is raised.
    """
    ingest = Ingest(found, documentation)
    try:
        asyncio.run(_ingest(ingest, server, as_json=as_json))
    except KeyboardInterrupt:
        _report(found, ingest.outcomes, as_json=as_json, stopped=True)
        raise
    _report(found, ingest.outcomes, as_json=as_json)
    return any(outcome.result is Result.FAILED for outcome in ingest.outcomes)


async def _ingest(ingest: Ingest, server: Server, *, as_json: bool) -> None:
    async with connect(server) as connection:
        with showing_progress(ingest.found, as_json=as_json) as progress:
            await ingest.run(connection, progress)


class RateColumn(ProgressColumn):
    """Shows how many bytes become searchable in a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{decimal(int(speed))}/s" if speed else "", style="dim")


@contextmanager
def showing_progress(found: DiscoveredFiles, *, as_json: bool) -> Iterator[Progress]:
    """Yields the function that an ingest calls. Progress is shown on stderr, on terminals only."""
    if as_json:
        yield _print_outcomes
        return
    # The bar counts bytes, because the time that a document takes grows with its size.
    sizes = {path: _size(path) for path in found.all_files}
    columns = (
        TextColumn("Ingesting"),
        BarColumn(),
        TextColumn("{task.fields[files]}/{task.fields[all_files]} files"),
        RateColumn(),
        TimeRemainingColumn(),
    )
    screen = console(stderr=True)
    with ProgressBar(*columns, console=screen, disable=not screen.is_terminal) as bar:
        task = bar.add_task("ingest", total=sum(sizes.values()), files=0, all_files=len(sizes))
        files = unread_bytes = 0

        def update(done_bytes: float, outcomes: list[Outcome]) -> None:
            nonlocal files, unread_bytes
            files += len(outcomes)
            unread_bytes += sum(sizes[outcome.path] for outcome in outcomes if not outcome.size_bytes)
            bar.update(task, completed=done_bytes + unread_bytes, files=files)

        yield update


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _print_outcomes(_: float, outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        print_json(_record(outcome))


def _report(found: DiscoveredFiles, outcomes: list[Outcome], *, as_json: bool, stopped: bool = False) -> None:
    """Sums up an ingest, or the part of it that was done when it was stopped."""
    matter_of = {path: matter for matter, paths in found.files.items() for path in paths}
    counts = {matter: Counter[Result]() for matter in found.files}
    for outcome in outcomes:
        counts[matter_of[outcome.path]][outcome.result] += 1
    if as_json:
        _print_summary(found, counts, stopped=stopped)
        return
    out = console()
    out.print(_table(counts))
    failed = [outcome for outcome in outcomes if outcome.result is Result.FAILED]
    _list(f"{len(failed)} failed:", [f"{outcome.path}: {outcome.reason}" for outcome in failed])
    _list("To know:", [outcome.reason for outcome in outcomes if outcome.reason and outcome not in failed])
    _list(f"{len(found.skipped)} skipped, not of a supported type or in no matter:", [str(p) for p in found.skipped])
    names = Counter((matter, path.name) for path, matter in matter_of.items())
    same = [f"{name}: {count} files" for (_, name), count in names.items() if count > 1]
    _list("Files of the same name; asked for by name, the newest answers:", same)
    if stopped:
        waiting = len(matter_of) - len(outcomes)
        console(stderr=True).print(
            f"Stopped with {waiting} files to go. What is uploaded stays; run the same command again to go on."
        )


def _print_summary(found: DiscoveredFiles, counts: "dict[str, Counter[Result]]", *, stopped: bool) -> None:
    for matter, of_matter in counts.items():
        print_json({"matter": matter, "summary": {result.value: of_matter[result] for result in Result}})
    total = sum(counts.values(), Counter[Result]())
    summary = {result.value: total[result] for result in Result} | {"skipped": len(found.skipped)}
    print_json({"matters": len(counts), "stopped": stopped, "summary": summary})


def _table(counts: "dict[str, Counter[Result]]") -> Table:
    """Makes a row for each matter. Of many, those without failed files are summed up in one row."""
    table = Table(box=None, pad_edge=False)
    table.add_column("matter")
    for result in Result:
        table.add_column(result, justify="right")
    shown = sorted(counts, key=lambda matter: not counts[matter][Result.FAILED])[:MAX_LISTED]
    for matter in shown:
        table.add_row(printable(matter), *(str(counts[matter][result]) for result in Result))
    if len(counts) > len(shown):
        rest = sum((counts[matter] for matter in counts if matter not in shown), Counter[Result]())
        table.add_row(f"and {len(counts) - len(shown)} more", *(str(rest[result]) for result in Result))
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
