"""A worker whose parsers are what a hostile file would make of them; the media type names the parser.

`python -m tests.support.hostile_worker SECONDS`, as proviso_service.reading.worker."""

import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from proviso_service.reading.model import Chunk, ParsedDocument, ReadDocument, ReadingLimits
from proviso_service.reading.worker.__main__ import run

MODULE = "tests.support.hostile_worker"

_TOLD = 2_000
"""A descriptor that the child's confinement does not close, because the service and its supervisors have none such."""


def _echo(content: bytes) -> ReadDocument:
    text = content.decode()
    return ReadDocument(ParsedDocument(text), (Chunk(0, 0, len(text), text),))


def _tell(content: bytes) -> ReadDocument:
    """What the child is and has: its process, its supervisor's, its descriptors, and an entry of the environment."""
    told = (
        os.getpid(),
        os.getppid(),
        sum(map(_is_open, range(1_000))),
        os.environ.get(content.decode(), "-"),
    )
    return _echo(" ".join(map(str, told)).encode())


def _is_open(descriptor: int) -> bool:
    return _can(os.write, descriptor, b"") or _can(os.read, descriptor, 0)


def _can(call: Callable[..., object], *arguments: object) -> bool:
    with suppress(OSError):
        call(*arguments)
        return True
    return False


def _sleep(content: bytes) -> ReadDocument:
    """For ever; first it tells its process id and its supervisor's, where somebody wants to be told (`_prepare`)."""
    with suppress(OSError):
        os.write(_TOLD, f"{os.getpid()} {os.getppid()}".encode())
    while True:
        time.sleep(60)


def _connect_to(path: str) -> None:
    """Connects a new child to a socket before it gives up its rights: a confined one has no way to tell anything."""
    with socket.socket(socket.AF_UNIX) as told:
        told.connect(path)
        os.dup2(told.fileno(), _TOLD)


def _prepare(media_type: str) -> None:
    name, _, path = media_type.partition(" ")
    if name == "sleep" and path:
        os.register_at_fork(after_in_child=lambda: _connect_to(path))


def _spin(content: bytes) -> ReadDocument:
    while True:
        pass


def _allocate(content: bytes) -> ReadDocument:
    kept = []
    while True:
        kept.append(bytearray(16 * 1024 * 1024))


def _allocate_in_c(content: bytes) -> ReadDocument:
    """As libraries in C do that do not look at what malloc gives."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    while True:
        piece = libc.malloc(ctypes.c_size_t(16 * 1024 * 1024))
        ctypes.memset(piece, 1, 16 * 1024 * 1024)


def _abort(content: bytes) -> ReadDocument:
    os.abort()


def _segfault(content: bytes) -> ReadDocument:
    ctypes.string_at(0)
    raise AssertionError


def _recurse(content: bytes) -> ReadDocument:
    return _recurse(content)


def _raise(content: bytes) -> ReadDocument:
    raise ValueError(f"secret words of the document: {content!r}")


def _leave(content: bytes) -> ReadDocument:
    raise SystemExit(0)


def _fork(content: bytes) -> ReadDocument:
    """As many processes as it gets, up to a number that does no harm; each waits for ever."""
    for _ in range(32):
        if os.fork() == 0:
            return _sleep(b"")
    return _sleep(content)


def _fork_and_answer(content: bytes) -> ReadDocument:
    if os.fork() == 0:
        return _sleep(b"")
    return _echo(content)


def _write_file(content: bytes) -> ReadDocument:
    Path(content.decode()).write_text("left behind")
    return _echo(content)


def _print(content: bytes) -> ReadDocument:
    os.write(1, b"E\0\0\0\2{}" * 1000)
    print("E" * 100_000)
    os.write(2, b"noise" * 1000)
    return _echo(content)


def _answers() -> int:
    """The descriptor that the child answers on: the only one beside the standard ones that it may write to."""
    return next(descriptor for descriptor in range(3, 1_000) if _can(os.write, descriptor, b""))


def _garbage(content: bytes) -> ReadDocument:
    os.write(_answers(), bytes(range(256)) * 200)
    return _echo(content)


def _forge(content: bytes) -> ReadDocument:
    """Writes the content as its answer."""
    os.write(_answers(), content)
    os._exit(0)


def _endless(content: bytes) -> ReadDocument:
    answers = _answers()
    while True:
        os.write(answers, b"T\0\0\xff\xff" + b"x" * 0xFFFF)


def _attempt(content: bytes) -> ReadDocument:
    """Tries what a document that has taken over its parser would try, on what the file names, and tells how each try
    ended: as "done", or by the name of its error."""
    path, port, process = content.decode().split("\n")
    tries: dict[str, Callable[[], object]] = {
        "read": lambda: Path(path).read_text(),
        "read through the process": lambda: Path(f"/proc/self/root{path}").read_text(),
        "read passwords": lambda: Path("/etc/passwd").read_text(),
        "read itself": lambda: Path("/proc/self/environ").read_bytes(),
        "read the interpreter": lambda: Path(os.__file__).read_bytes(),
        "list": lambda: list(Path(path).parent.iterdir()),
        "list keys": lambda: list(Path(path).with_name(".ssh").iterdir()),
        "change": lambda: Path(path).write_text("changed"),
        "truncate": lambda: os.truncate(path, 0),
        "remove": lambda: Path(path).unlink(),
        "link": lambda: os.link(path, f"{path}.link"),
        "connect": lambda: socket.socket().connect(("127.0.0.1", int(port))),
        "listen": lambda: socket.socket().bind(("127.0.0.1", 0)),
        "send a datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b".", ("127.0.0.1", 9)),
        "connect to a local socket": lambda: socket.socket(socket.AF_UNIX),
        "start a process": os.fork,
        "run a program": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),  # noqa: S606 - it must not start
        "signal": lambda: os.kill(int(process), signal.SIGCONT),
        "read another's memory": lambda: Path(f"/proc/{process}/mem").read_bytes(),
    }
    return _echo("\n".join(f"{name}: {_outcome(attempt)}" for name, attempt in tries.items()).encode())


def _outcome(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except Exception as error:
        return type(error).__name__
    return "done"


_PARSERS = {
    "echo": _echo,
    "tell": _tell,
    "sleep": _sleep,
    "spin": _spin,
    "allocate": _allocate,
    "allocate-in-c": _allocate_in_c,
    "abort": _abort,
    "segfault": _segfault,
    "recurse": _recurse,
    "raise": _raise,
    "leave": _leave,
    "fork": _fork,
    "fork-and-answer": _fork_and_answer,
    "write-file": _write_file,
    "print": _print,
    "garbage": _garbage,
    "forge": _forge,
    "endless": _endless,
    "attempt": _attempt,
}


def read(media_type: str, content: bytes, limits: ReadingLimits) -> ReadDocument:
    return _PARSERS[media_type.partition(" ")[0]](content)


if __name__ == "__main__":
    run(read, _prepare)
