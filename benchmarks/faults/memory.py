"""Measures the memory of the service's process during one turn, as the kernel reports it."""

from dataclasses import dataclass
from pathlib import Path

_FORGET_THE_PEAK = "5"
"""The value which, written to `clear_refs`, makes the kernel reset the peak."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory in millions of bytes beyond what was resident before: the peak, and the value after the turn."""

    peak_mb: float
    kept_mb: float


class MemoryWatch:
    """Watches a process of the same user from now on."""

    def __init__(self, pid: int) -> None:
        self._process = Path(f"/proc/{pid}")
        (self._process / "clear_refs").write_text(_FORGET_THE_PEAK, encoding="ascii")
        self._before = self._bytes("VmRSS")

    def grown(self) -> Memory:
        return Memory((self._bytes("VmHWM") - self._before) / 1e6, (self._bytes("VmRSS") - self._before) / 1e6)

    def _bytes(self, name: str) -> int:
        lines = (self._process / "status").read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
