"""What the sections share: where they measure, their tables and percentiles, and under which conditions they ran."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MB = 1_000_000

Figures = list[dict[str, Any]]
"""The rows of a section, as they are kept in results.json."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a section measures: a folder of its own that goes with it, the prepared models, and the Python of the
    environment of the competitors. A `quick` run has fewer cases and rounds."""

    folder: Path
    models_dir: Path
    competitors: Path
    quick: bool


@dataclass(slots=True)
class Conditions:
    """Under which a section was measured. The loads are the mean numbers of processes that wanted a core, of all
    programs, over the minute before the section began and before it ended."""

    commit: str
    day: str
    processor: str
    cores: int
    python: str
    load_before: float
    quick: bool
    load_after: float = 0.0

    @classmethod
    def now(cls, *, quick: bool) -> "Conditions":
        def git(*arguments: str) -> str:
            return subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, text=True, check=False).stdout

        changed = "+" if git("status", "--porcelain", "--untracked-files=no", "--", "service") else ""
        cores = len(os.sched_getaffinity(0))
        day = time.strftime("%Y-%m-%d", time.gmtime())
        commit = git("rev-parse", "--short", "HEAD").strip() + changed
        return cls(commit, day, _processor(), cores, platform.python_version(), round(os.getloadavg()[0], 1), quick)

    def end(self) -> None:
        self.load_after = round(os.getloadavg()[0], 1)

    def line(self) -> str:
        kind = " A quick run." if self.quick else ""
        return (
            f"{self.day}, commit {self.commit}, {self.cores} cores of {self.processor}, Python {self.python}; load "
            f"{self.load_before} at the beginning and {self.load_after} at the end.{kind}"
        )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def resident_bytes(pid: int | str) -> int:
    """The memory of a process that is in use now."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def say(what: str) -> None:
    """Tells the one who waits what is measured now."""
    print(what, file=sys.stderr, flush=True)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines)
