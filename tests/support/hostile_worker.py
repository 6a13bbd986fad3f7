"""A worker whose parsers are what a hostile file would make of them; the media type names the parser.

`python -m tests.support.hostile_worker SECONDS`, as proviso_service.reading.worker."""

import ctypes
import os
import signal
import socket
import time
from pathlib import Path

from proviso_service.reading.model import Chunk, ParsedDocument, ReadDocument, ReadingLimits
from proviso_service.reading.worker.__main__ import run

MODULE = "tests.support.hostile_worker"


def _echo(content: bytes) -> ReadDocument:
    text = content.decode()
    return ReadDocument(ParsedDocument(text), (Chunk(0, 0, len(text), text),))


def _tell(content: bytes) -> ReadDocument:
    """What the child is and has: its process, its supervisor's, its descriptors, and an entry of the environment."""
    told = (
        os.getpid(),
        os.getppid(),
        len(list(Path("/proc/self/fd").iterdir())),
        os.environ.get(content.decode(), "-"),
    )
    return _echo(" ".join(map(str, told)).encode())


def _sleep(content: bytes) -> ReadDocument:
    """For ever; first it tells its process id and its supervisor's on the socket that the file names."""
    if content:
        with socket.socket(socket.AF_UNIX) as told:
            told.connect(content.decode())
            told.sendall(f"{os.getpid()} {os.getppid()}".encode())
    while True:
        time.sleep(60)


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
    """The descriptor that the child answers on: the only pipe it may write to."""
    entries = [entry for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    pipes = [entry.name for entry in entries if str(entry.readlink()).startswith("pipe:")]
    return next(int(name) for name in pipes if _is_writable(name))


def _is_writable(entry: str) -> bool:
    flags = Path(f"/proc/self/fdinfo/{entry}").read_text().split("flags:")[1].split()[0]
    return int(flags, 8) & os.O_WRONLY != 0


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


def _signal(content: bytes) -> ReadDocument:
    """Sends a process a signal that changes nothing."""
    os.kill(int(content), signal.SIGCONT)
    return _echo(content)


def _connect(content: bytes) -> ReadDocument:
    """To a port of this machine."""
    socket.create_connection(("127.0.0.1", int(content))).close()
    return _echo(content)


def _truncate(content: bytes) -> ReadDocument:
    os.truncate(content, 0)
    return _echo(content)


def _remove(content: bytes) -> ReadDocument:
    Path(content.decode()).unlink()
    return _echo(content)


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
    "signal": _signal,
    "connect": _connect,
    "truncate": _truncate,
    "remove": _remove,
}


def read(media_type: str, content: bytes, limits: ReadingLimits) -> ReadDocument:
    return _PARSERS[media_type](content)


if __name__ == "__main__":
    run(read, lambda media_type: None)
