"""What Linux takes from a process that asks for it, root or not: landlock(7)."""

import ctypes
import os
import sys

# The same on every architecture.
_CREATE_RULESET = 444
_RESTRICT_SELF = 446
_ASK_VERSION = 1

SIGNALS_SINCE = 6
"""Version of the interface that `restrict` takes away signals from."""

# By the version of the interface that brought them: bits of rights to files, to the network, and of scopes.
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
    """Of the kernel's interface; 0 where there is none, as on other systems than Linux."""
    return max(0, _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)) if sys.platform == "linux" else 0


def restrict() -> None:
    """Takes from this process, for good and as far as the kernel knows how, everything that changes a file or folder or
    executes one, connections by TCP, and signals to processes that it has not started. What is open stays so. Raises
    OSError when the kernel refuses; the process must have given up new privileges before."""
    known = version()
    if not known:
        return
    taken = [rights for since, *rights in _TAKEN if since <= known]
    rules = _Ruleset(*(_all_of(kinds) for kinds in zip(*taken, strict=True)))
    # Earlier kernels refuse a longer structure than they know only where the rest of it is not empty.
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
