"""Measures the memory and the CPU time of a process together with all processes that it has started."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import resident_bytes

SAMPLE_S = 0.25


@dataclass(slots=True)
class PeakMemory:
    """The most bytes seen at one moment: of the process alone, and of it with all its children."""

    process_bytes: int = 0
    tree_bytes: int = 0

    def sample(self, pid: int) -> None:
        own = _resident_bytes(pid)
        self.process_bytes = max(self.process_bytes, own)
        self.tree_bytes = max(self.tree_bytes, own + sum(_resident_bytes(child) for child in descendants(pid)))


@asynccontextmanager
async def peak_memory(pid: int) -> AsyncIterator[PeakMemory]:
    """Samples the memory until the context is left. Memory that parent and child share is counted twice, so the sum is
    an upper bound."""
    peak = PeakMemory()
    sampling = asyncio.create_task(_sample(pid, peak))
    try:
        yield peak
    finally:
        sampling.cancel()
        await asyncio.wait([sampling])


def tree_cpu_s(pid: int) -> float:
    """Returns the CPU time so far of a process and of all that it has started, also of those that have ended."""
    ticks = 0
    for process in (pid, *descendants(pid)):
        with suppress(OSError):  # it has ended meanwhile, and counts with the one that started it
            stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
            ticks += sum(int(field) for field in stat.rpartition(")")[2].split()[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


async def _sample(pid: int, peak: PeakMemory) -> None:
    while True:
        await asyncio.to_thread(peak.sample, pid)
        await asyncio.sleep(SAMPLE_S)


def descendants(pid: int) -> list[int]:
    """The running processes that a process has started, and those that these have."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _resident_bytes(pid: int) -> int:
    try:
        return resident_bytes(pid)
    except OSError:  # it has ended meanwhile
        return 0
