"""How a rebuilding is shown: a bar while it runs, one line at its end; for programs, JSON lines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar

from proviso_service.cli.output import console, print_json


@dataclass(frozen=True, slots=True)
class Reindexed:
    """Vectors in the new index, of all."""

    vectors_done: int
    vectors_total: int


@contextmanager
def showing_progress(*, as_json: bool) -> Iterator[Callable[[Reindexed], None]]:
    """Progress goes to stderr, JSON lines to stdout."""
    if as_json:
        yield lambda reindexed: print_json(asdict(reindexed))
        return
    columns = (TextColumn("Indexing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = ProgressBar(*columns, console=console(stderr=True))
    task = bar.add_task("index", total=None)

    def show(reindexed: Reindexed) -> None:
        bar.start()  # not before there is progress: a command that fails at once says so in one line
        bar.update(task, completed=reindexed.vectors_done, total=reindexed.vectors_total or None)

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()


def report(last: Reindexed, seconds: float, *, as_json: bool) -> None:
    if as_json:
        print_json({"rebuilt": last.vectors_total, "seconds": round(seconds, 1)})
        return
    console().print(f"The vector index is built anew: {last.vectors_total:,} vectors in {seconds:.1f} s")
