"""Processes as the system lists them."""

import asyncio
from pathlib import Path


def children_of(pid: int) -> set[int]:
    """Ids of the processes that a process has started, and of those that they have."""
    parents = {process: parent for process, parent in _parents().items() if process != pid}
    found: set[int] = set()
    wanted = {pid}
    while wanted := {process for process, parent in parents.items() if parent in wanted} - found:
        found |= wanted
    return found


async def ended(pids: set[int]) -> None:
    """Waits until none of the processes runs any more."""
    while pids & _parents().keys():  # noqa: ASYNC110  # they are no children of this process
        await asyncio.sleep(0.01)


def _parents() -> dict[int, int]:
    """The parent of each process that runs."""
    stats = Path("/proc").glob("[0-9]*/stat")
    return {int(stat.parent.name): parent for stat in stats if (parent := _parent(stat))}


def _parent(stat: Path) -> int:
    """0 for a process that has ended."""
    try:
        state, parent = stat.read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return 0
    return 0 if state in "ZX" else int(parent)
