"""The person at the terminal: messages typed at the prompt, and answers to questions about tool calls.

A terminal that hands out whole lines drops what stands behind the 4,095th byte of a line. So it hands out single
characters for as long as a conversation lasts, also while an answer runs and nobody reads them: readline finds all of
them at the next prompt.
"""

import asyncio
import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec

from proviso_service.cli.output import printable

MAX_ANSWER_BYTES = 1_024
_LOCAL_MODES = 3
"""Where the attributes of a terminal have its local modes: whole lines, and the echo of what is typed."""


def read_message(returned: str) -> str:
    """Reads a line, in the main thread, so that Ctrl-C at the prompt leaves at once. On a terminal `returned` stands in
    it to be edited or sent, a long line is not cut, and earlier lines can be fetched back. Raises EOFError."""
    if not _is_edited():
        return input("\n> ")
    import readline

    readline.set_startup_hook(partial(readline.insert_text, printable(returned)) if returned else None)
    try:
        return input("\n> ")
    finally:
        readline.set_startup_hook(None)


@contextmanager
def keeping_what_is_typed() -> Iterator[None]:
    """Keeps all that is typed or pasted while nobody reads it, for the next `read_message`."""
    with _modes(off=termios.ICANON if _is_edited() else 0):
        yield


@contextmanager
def hiding_what_is_typed() -> Iterator[None]:
    """Keeps what is typed out of an answer that is being written. The next prompt shows it."""
    with _modes(off=termios.ECHO if _is_edited() else 0):
        yield


class Terminal:
    """The person who is asked about tool calls, at a terminal on standard input."""

    @classmethod
    def of_stdin(cls) -> "Terminal | None":
        """Returns None when standard input is not a terminal."""
        return cls() if sys.stdin.isatty() else None

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Begins before a question is put, and drops what was typed until then: it cannot be an answer to it."""
        with _modes(on=termios.ICANON | termios.ECHO):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
            yield

    async def read_line(self) -> str:
        """Waits for a line without blocking the event loop, and stops waiting at once when it is cancelled."""
        loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()
        readable = asyncio.Event()
        loop.add_reader(descriptor, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(descriptor)
        line = os.read(descriptor, MAX_ANSWER_BYTES)
        if not line:
            raise EOFError
        return line.decode(errors="replace")


def _is_edited() -> bool:
    """Whether messages are typed into readline, which takes characters in place of lines."""
    return sys.stdin.isatty() and sys.stdout.isatty() and find_spec("readline") is not None


@contextmanager
def _modes(*, on: int = 0, off: int = 0) -> Iterator[None]:
    """Changes local modes of the terminal for as long as the block lasts, if there are any to be changed."""
    if not on | off:
        yield
        return
    descriptor = sys.stdin.fileno()
    before, wanted = termios.tcgetattr(descriptor), termios.tcgetattr(descriptor)
    wanted[_LOCAL_MODES] = (wanted[_LOCAL_MODES] | on) & ~off
    termios.tcsetattr(descriptor, termios.TCSANOW, wanted)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
