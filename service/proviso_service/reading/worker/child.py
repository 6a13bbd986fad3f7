"""The child of one document: it gives up its rights, reads the document and writes its answer."""

import ctypes
import math
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from traceback import walk_tb

from proviso_service.reading.model import ReadDocument, ReadingLimits, UnreadableFile
from proviso_service.reading.worker.answers import OUT_OF_MEMORY, encode_fault, encode_read, encode_unsupported
from proviso_service.reading.worker.messages import ReadRequest, frame, read_exactly, write_all

Read = Callable[[str, bytes, ReadingLimits], ReadDocument]
"""The function that reads a file, such as `formats.read_document`."""

_NO_MEMORY = frame(OUT_OF_MEMORY, b"")


def run_child(request: ReadRequest, read: Read, content: int, answer: int) -> None:
    """Reads one document, answers, and ends the process; it never returns. `content` and `answer` are descriptors. The
    file is read to its end before anything looks at it."""
    status = 1
    try:
        os.setpgid(0, 0)
        confine(request.limits.memory_bytes, request.limits.time_limit_s, keep=(content, answer))
        _answer(request, read, content, answer)
        status = 0
    finally:
        os._exit(status)


def _answer(request: ReadRequest, read: Read, content: int, answer: int) -> None:
    try:
        document = read(request.media_type, read_exactly(content, request.content_bytes), request.limits)
        for piece in encode_read(document):
            write_all(answer, piece)
    except UnreadableFile as refused:
        write_all(answer, encode_unsupported(refused))
    except MemoryError:
        write_all(answer, _NO_MEMORY)
    except Exception as fault:
        write_all(answer, encode_fault(_place(fault)))


def _place(fault: Exception) -> str:
    """Returns where an exception was raised, without its message, which may quote the document."""
    frames = [(stack.f_code.co_filename, line) for stack, line in walk_tb(fault.__traceback__)]
    places = [f"{Path(filename).name}:{line}" for filename, line in reversed(frames[-6:])]
    return f"{type(fault).__name__} at {' < '.join(places)}"


_OPEN_FILES = 32
_HIGHEST_DESCRIPTOR = 1_024
"""A number that the supervisor's descriptors never reach."""
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38


def confine(memory_bytes: int, time_limit_s: float, keep: tuple[int, ...]) -> None:
    """Limits this process to memory, time and a few descriptors, takes away writing files and starting processes, and
    closes every descriptor except those to `keep`; the standard ones lead nowhere. Where the system can, it also takes
    away what else reaches beyond this process, see `restrict`. None of this can be undone."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _die_with_parent()
    _close_all_but(keep)
    # If the machine runs out of memory, the kernel should end this process first.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_CPU, math.ceil(time_limit_s) + 1)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _limit(resource.RLIMIT_NPROC, 0)
    restrict()


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
    """Sets a limit, never above the one that the process already has."""
    _, highest = resource.getrlimit(kind)
    if highest != resource.RLIM_INFINITY:
        value = min(value, highest)
    resource.setrlimit(kind, (value, value))


# The numbers of these system calls are the same on every architecture.
_CREATE_RULESET = 444
_RESTRICT_SELF = 446
_ASK_VERSION = 1

SIGNALS_SINCE = 6
"""The version of Landlock from which on `restrict` takes away signals."""

# What each version of Landlock brought, as bits: rights to files, rights to the network, and scopes.
_EXECUTE, _WRITE, _REMOVE_AND_MAKE, _LINK_AND_RENAME, _TRUNCATE = 1 << 0, 1 << 1, 0x1FF << 4, 1 << 13, 1 << 14
_BIND_AND_CONNECT = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_TAKEN = (
    (1, _EXECUTE | _WRITE | _REMOVE_AND_MAKE, 0, 0),
    (2, _LINK_AND_RENAME, 0, 0),
    (3, _TRUNCATE, 0, 0),
    (4, 0, _BIND_AND_CONNECT, 0),
    (SIGNALS_SINCE, 0, 0, _ABSTRACT_SOCKETS_AND_SIGNALS),
)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


def version() -> int:
    """Returns the version of the kernel's Landlock interface; 0 where there is none, as on other systems than Linux."""
    return max(0, _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)) if sys.platform == "linux" else 0


def restrict() -> None:
    """Takes from this process, for good, as much of the following as the kernel can take: changing or executing files
    and folders, connections by TCP, and signals to processes that it has not started. Files that are open stay open.
    Raises OSError when the kernel refuses. The process must have given up new privileges before."""
    known = version()
    if not known:
        return
    taken = [rights for since, *rights in _TAKEN if since <= known]
    rules = _Ruleset(*(_all_of(kinds) for kinds in zip(*taken, strict=True)))
    # An earlier kernel accepts a longer structure than it knows if the rest of it is empty.
    ruleset = _call(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(ctypes.sizeof(rules)), 0)
    try:
        if ruleset < 0 or _call(_RESTRICT_SELF, ruleset, 0) < 0:
            raise OSError(ctypes.get_errno(), "Landlock")
    finally:
        if ruleset >= 0:
            os.close(ruleset)


def _all_of(bits: tuple[int, ...]) -> int:
    together = 0
    for some in bits:
        together |= some
    return together


def _call(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return int(libc.syscall(ctypes.c_long(number), *arguments))
