"""Processes of the service's own: they are started with nothing of its environment, spoken to by their standard input
and output, and ended with it."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Self, cast

import structlog

PIECE_BYTES = 256 * 1024
_END_S = 2.0
"""Seconds that a process gets to end itself."""

_log = structlog.get_logger(__name__)


class ChildProcess:
    """A running process, its requests (its standard input) and its answers (its standard output). It ends when its
    input is closed: so it does not outlive the service, however that ends."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.requests = cast(asyncio.StreamWriter, process.stdin)
        self.answers = cast(asyncio.StreamReader, process.stdout)
        self._complaints = asyncio.create_task(_log_lines(cast(asyncio.StreamReader, process.stderr)))

    @classmethod
    async def start(cls, module: str, *arguments: str) -> Self:
        """Starts `python -m module`. The process gets nothing of the environment, which may hold keys, and a session of
        its own, so that Ctrl-C in a terminal does not reach it. Raises OSError."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            module,
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=_environment(),
            start_new_session=True,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None

    def stop(self) -> None:
        """Asks the process to end at once; `ended` has to follow."""
        # The signal comes first, because asyncio and a process that ends by itself would both ask for its exit status.
        with suppress(ProcessLookupError):
            self._process.terminate()
        self.requests.close()

    async def ended(self) -> None:
        """Waits until the process that was stopped is gone; one that does not react is killed."""
        try:
            async with asyncio.timeout(_END_S):
                await self._gone()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._gone()
        await self._complaints

    async def _gone(self) -> None:
        """Reads what is left before it waits, because asyncio counts the process as running while there is something to
        read."""
        while await self.answers.read(PIECE_BYTES):
            pass
        await self._process.wait()


def _environment() -> dict[str, str]:
    """Returns the environment of the process: where its modules are, and what the interpreter and its libraries
    need."""
    paths = os.pathsep.join(str(Path(path).absolute()) for path in sys.path)
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "LANG", "LC_ALL") if name in os.environ}
    return kept | {"PYTHONPATH": paths}


async def _log_lines(complaints: asyncio.StreamReader) -> None:
    """Logs what the process writes to its standard error; nobody else can write there."""
    while text := await complaints.read(4096):
        _log.warning("child_process", stderr=text.decode(errors="replace"))
