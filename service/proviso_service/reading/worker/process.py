"""The service's side of a supervisor."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Self, cast

import structlog

from proviso_service.reading.worker import frames
from proviso_service.reading.worker.frames import frame
from proviso_service.reading.worker.requests import Ending, Outcome, Request

_PIECE_BYTES = 256 * 1024
_END_S = 2.0
"""What a supervisor gets to end its child and itself."""

_log = structlog.get_logger(__name__)


class WorkerLost(Exception):
    """The supervisor has ended, or does not speak as it should."""


class WorkerProcess:
    """A running supervisor. One exchange at a time; after one that failed or was cancelled, only `stop` may follow."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._requests = cast(asyncio.StreamWriter, process.stdin)
        self._answers = cast(asyncio.StreamReader, process.stdout)
        self._complaints = asyncio.create_task(_log_lines(cast(asyncio.StreamReader, process.stderr)))

    @classmethod
    async def start(cls, module: str, idle_s: float) -> Self:
        """`module` runs the supervisor, as `worker/__main__.py`. It gets nothing of the environment, which may hold
        keys, and a session of its own, so that Ctrl-C in a terminal does not reach it. Raises OSError."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            module,
            str(idle_s),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=_environment(),
            start_new_session=True,
        )
        return cls(process)

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None

    async def exchange(self, request: Request, content: bytes) -> tuple[bytearray, Ending]:
        """What the child of a request wrote, at most `request.answer_bytes`, and how it ended; what it wrote is nothing
        unless it ended by itself. Raises WorkerLost."""
        try:
            await self._send(request, content)
            return await self._receive(request.answer_bytes)
        except (OSError, asyncio.IncompleteReadError, ValueError, KeyError, TypeError) as error:
            raise WorkerLost from error

    async def _send(self, request: Request, content: bytes) -> None:
        self._requests.write(frame(frames.REQUEST, request.encode()))
        view = memoryview(content)
        for start in range(0, len(content), _PIECE_BYTES):
            self._requests.write(view[start : start + _PIECE_BYTES])
            await self._requests.drain()
        await self._requests.drain()

    async def _receive(self, max_bytes: int) -> tuple[bytearray, Ending]:
        answer = bytearray()
        while True:
            kind, size = frames.HEADER.unpack(await self._answers.readexactly(frames.HEADER.size))
            if size > frames.MAX_PAYLOAD_BYTES or len(answer) + size > max_bytes + frames.MAX_PAYLOAD_BYTES:
                raise WorkerLost
            payload = await self._answers.readexactly(size)
            if kind == frames.ENDING:
                ending = Ending.decode(payload)
                return (answer if ending.outcome is Outcome.EXITED else bytearray()), ending
            answer += payload

    def stop(self) -> None:
        """Has the process kill the child that it may have and end, at once; to be followed by `ended`."""
        # The signal comes first: asyncio and a process that ends by itself would both look for its exit status.
        with suppress(ProcessLookupError):
            self._process.terminate()
        self._requests.close()

    async def ended(self) -> None:
        """Until the process that was stopped is gone; one that does not listen is killed."""
        try:
            async with asyncio.timeout(_END_S):
                await self._gone()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._gone()
        await self._complaints

    async def _gone(self) -> None:
        """What is left to read is taken first: the process counts as running while there is something."""
        while await self._answers.read(_PIECE_BYTES):
            pass
        await self._process.wait()


def _environment() -> dict[str, str]:
    """The modules that this process has, and what the interpreter and its libraries need to be found."""
    paths = os.pathsep.join(str(Path(path).absolute()) for path in sys.path)
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "LANG", "LC_ALL") if name in os.environ}
    return kept | {"PYTHONPATH": paths}


async def _log_lines(complaints: asyncio.StreamReader) -> None:
    """Only the supervisor itself can write here, when it goes wrong."""
    while text := await complaints.read(4096):
        _log.warning("reader_process", stderr=text.decode(errors="replace"))
