"""What the child of a document gives up before it looks at the document."""

import ctypes
import math
import os
import resource
import signal
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from proviso_service.reading.worker import landlock

_OPEN_FILES = 32
_HIGHEST_DESCRIPTOR = 1_024
"""More than the supervisor ever has."""
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38


def confine(memory_bytes: int, time_limit_s: float, keep: tuple[int, ...]) -> None:
    """Limits this process to memory, time and a few descriptors, takes away writing files and starting processes, and
    closes every descriptor but those to `keep`; the standard ones lead nowhere. Where the system can, it also takes
    away what else reaches beyond this process, see landlock.py. It cannot be undone."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _die_with_parent()
    _close_all_but(keep)
    # Should the machine run out of memory, this process is the one to end.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_CPU, math.ceil(time_limit_s) + 1)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _limit(resource.RLIMIT_NPROC, 0)
    landlock.restrict()


def _die_with_parent() -> None:
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def _close_all_but(keep: tuple[int, ...]) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nowhere, standard)
    edges = [2, *sorted(keep), _HIGHEST_DESCRIPTOR]
    for below, above in pairwise(edges):
        os.closerange(below + 1, above)


def _limit(kind: int, value: int) -> None:
    """Never above what the process may have already."""
    _, highest = resource.getrlimit(kind)
    if highest != resource.RLIM_INFINITY:
        value = min(value, highest)
    resource.setrlimit(kind, (value, value))
