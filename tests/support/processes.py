"""Processes as the system lists them, and their ends."""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path


def children_of(pid: int) -> set[int]:
    """Ids of the processes that a process has started, and of those that they have."""
    parents = {process: parent for process, parent in _parents().items() if process != pid}
    found: set[int] = set()
    wanted = {pid}
    while wanted := {process for process, parent in parents.items() if parent in wanted} - found:
        found |= wanted
    return found


def folder_of(pid: int) -> Path:
    """Where a process runs."""
    return Path(f"/proc/{pid}/cwd").readlink()


async def ended(pids: Iterable[int]) -> None:
    """Waits until none of the processes, whosever children they are, runs any more."""
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            await _readable(handle)
        finally:
            os.close(handle)


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)


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


def running(pid: int, module: str) -> list[int]:
    """Ids of the processes that a process has started to run a module, in their order."""
    return sorted(child for child in children_of(pid) if module.encode() in _command_of(child))


def _command_of(pid: int) -> list[bytes]:
    """Empty for a process that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
