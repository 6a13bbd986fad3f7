"""The person at the terminal, while the event loop runs."""

import asyncio
import os
import sys
import termios

MAX_LINE_BYTES = 1_024


class Terminal:
    """Standard input, which is a terminal. It hands out whole lines."""

    @classmethod
    def of_stdin(cls) -> "Terminal | None":
        """None where standard input is no terminal."""
        return cls() if sys.stdin.isatty() else None

    def forget_typed(self) -> None:
        """Drops what was typed already: it is no answer to a question that is put now."""
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)

    async def read_line(self) -> str:
        """The next line, without blocking the event loop; given up at once when cancelled. Raises EOFError at the end
        of input."""
        loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()
        readable = asyncio.Event()
        loop.add_reader(descriptor, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(descriptor)
        line = os.read(descriptor, MAX_LINE_BYTES)
        if not line:
            raise EOFError
        return line.decode(errors="replace")
