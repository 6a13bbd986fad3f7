"""Takes from the child of a document every right that reading it does not need.

Limits of the system hold everywhere. On Linux two more layers stand behind each other, either of which closes all
files: a filter of system calls, which leaves some thirty that reach nothing outside the process, and Landlock. So
whatever a parser needs has to be loaded before: the child opens no file, not even one of its own libraries."""

import ctypes
import errno
import math
import os
import resource
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

# Opened once, for every child to use: opening it takes as long as most of the calls together.
_LIBC = ctypes.CDLL(None, use_errno=True)
_OPEN_FILES = 32
_HIGHEST_DESCRIPTOR = 1_024
"""A number that the supervisor's descriptors never reach."""
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38


def confine(memory_bytes: int, time_limit_s: float, keep: tuple[int, ...]) -> None:
    """Limits this process to memory, time and a few descriptors, takes away writing files and starting processes, and
    closes every descriptor except those to `keep`; the standard ones lead nowhere. Where the system can, it also takes
    away what else reaches beyond this process: see `restrict_files` and `restrict_calls`. None of this can be undone.
    Raises OSError where the system has such a layer and refuses it."""
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
    if landlock_version():
        restrict_files()
    if can_restrict_calls():
        restrict_calls()


def left_open() -> str:
    """Returns what a document that takes over its parser could still do on this system; "" for nothing."""
    if can_restrict_calls():
        return ""
    return "open connections" if landlock_version() else "read files and open connections"


def _die_with_parent() -> None:
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


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

# What each version of Landlock brought, as bits: rights to files, rights to the network, and scopes.
_ALL_OF_FILES_AND_FOLDERS, _LINK_AND_RENAME, _TRUNCATE = (1 << 13) - 1, 1 << 13, 1 << 14
_BIND_AND_CONNECT = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_TAKEN = (
    (1, _ALL_OF_FILES_AND_FOLDERS, 0, 0),
    (2, _LINK_AND_RENAME, 0, 0),
    (3, _TRUNCATE, 0, 0),
    (4, 0, _BIND_AND_CONNECT, 0),
    (6, 0, 0, _ABSTRACT_SOCKETS_AND_SIGNALS),
)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


def landlock_version() -> int:
    """Returns the version of the kernel's Landlock interface; 0 where there is none, as on other systems than Linux."""
    return max(0, _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)) if sys.platform == "linux" else 0


def restrict_files() -> None:
    """Takes from this process, for good, as much of the following as the kernel's Landlock can take: reading, changing
    and executing files and folders, connections by TCP, and signals to processes that it has not started. Files that
    are open stay open. Raises OSError when the kernel refuses. The process must have given up new privileges before."""
    taken = [rights for since, *rights in _TAKEN if since <= landlock_version()]
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
    _LIBC.syscall.restype = ctypes.c_long
    return int(_LIBC.syscall(ctypes.c_long(number), *arguments))


# The system calls that are left, by their numbers on x86-64 and on 64-bit ARM: descriptors that are open, memory, time,
# and the process's own signals and end. Others fail as not permitted.
_CALLS = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "futex": (202, 98),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "sched_yield": (24, 124),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "gettimeofday": (96, 169),
    "getrandom": (318, 278),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
_X86_64, _ARM_64 = 0xC000003E, 0xC00000B7
_CALLS_OF_MACHINE: Mapping[str, tuple[int, tuple[int, ...]]] = {
    "x86_64": (_X86_64, tuple(x86 for x86, _ in _CALLS.values())),
    "aarch64": (_ARM_64, tuple(arm for _, arm in _CALLS.values())),
}
"""For each machine the number that the kernel has for it, and the system calls that are left."""

_PR_SET_SECCOMP = 22
_FILTER = 2
_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER_AT, _MACHINE_AT = 0, 4
_ALLOWED = 0x7FFF0000
_NOT_PERMITTED = 0x00050000 | errno.EPERM


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def can_restrict_calls() -> bool:
    """Tells whether `restrict_calls` knows this machine, and its kernel has filters of system calls."""
    if sys.platform != "linux" or os.uname().machine not in _CALLS_OF_MACHINE or sys.maxsize < 2**32:
        return False
    # A kernel that has them looks for the program, which is missing here.
    return bool(_LIBC.prctl(_PR_SET_SECCOMP, _FILTER, None, 0, 0) < 0 and ctypes.get_errno() == errno.EFAULT)


def restrict_calls() -> None:
    """Leaves this process, for good, the system calls that reach nothing outside it. Raises OSError when the kernel
    refuses. The process must have given up new privileges before."""
    machine, calls = _CALLS_OF_MACHINE[os.uname().machine]
    last = len(calls) + 3
    steps = [(_LOAD, 0, 0, _MACHINE_AT), (_IF_EQUAL, 0, last - 2, machine), (_LOAD, 0, 0, _NUMBER_AT)]
    # A jump says how many steps it skips: to the last one, which allows, or to the one before, which refuses.
    steps += [(_IF_EQUAL, last - place, 0, number) for place, number in enumerate(calls, start=3)]
    steps += [(_RETURN, 0, 0, _NOT_PERMITTED), (_RETURN, 0, 0, _ALLOWED)]
    instructions = (_Instruction * len(steps))(*(_Instruction(*step) for step in steps))
    program = _Program(len(steps), instructions)
    if _LIBC.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")
