"""WorkerProcess is the service's side of the process that owns a Chroma database; worker.py is the process itself."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from proviso_service.backends.vectors.frames import LENGTHS, BadFrame, Header, frame, lengths, read_header
from proviso_service.concurrency import with_timeout
from proviso_service.errors import TooBusy
from proviso_service.matters import IndexFailed

WORKER = "proviso_service.backends.vectors.worker"
MAX_CALLS = 256
"""Calls under way, including those whose caller was cancelled before the answer."""

CLOSE_S = 12.0
_OPENED = 0
_RETRY_AFTER_S = 1.0


@dataclass(frozen=True, slots=True)
class WorkerAnswer:
    header: Header
    payload: bytes


class WorkerProcess:
    """Starts the process and calls it. When the process has ended, every call raises IndexFailed, also those that are
    waiting for their answer."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        opened = asyncio.get_running_loop().create_future()
        self._waiting: dict[int, asyncio.Future[WorkerAnswer]] = {_OPENED: opened}
        self._last_id = _OPENED
        self._end = ""
        self._is_late = False
        self._reading = asyncio.create_task(self._read_answers())

    @classmethod
    async def start(cls, folder: Path, time_limit_s: float) -> Self:
        """Starts the process, and returns when the database in the folder (an absolute path) is open. Raises
        IndexFailed."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", WORKER, str(folder)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            # Ctrl-C in a terminal must not reach this process: the service needs it until its turns have ended.
            start_new_session=True,
        )
        worker = cls(process)
        try:
            await worker._answer(worker._waiting[_OPENED], time_limit_s)
        except BaseException:
            worker._is_late = True
            await worker.close()
            raise
        return worker

    @property
    def pid(self) -> int:
        return self._process.pid

    async def call(self, header: Header, payload: bytes = b"", *, time_limit_s: float) -> WorkerAnswer:
        """Makes a call and returns its answer. The process carries the call out even when the caller is cancelled.
        Raises IndexFailed and TooBusy."""
        if self._end:
            raise IndexFailed(self._end)
        if len(self._waiting) >= MAX_CALLS:
            raise TooBusy("Too many calls are waiting for the vector index", _RETRY_AFTER_S)
        self._last_id += 1
        answer = asyncio.get_running_loop().create_future()
        self._waiting[self._last_id] = answer
        calls = self._process.stdin
        assert calls is not None  # noqa: S101  it is a pipe
        calls.write(frame(header | {"id": self._last_id}, payload))
        return await self._answer(answer, time_limit_s)

    async def close(self) -> None:
        """Ends the process: at once when an answer is late already, else after the calls that have begun, for which it
        waits CLOSE_S at most."""
        self._end = self._end or "is closed"
        assert self._process.stdin is not None  # noqa: S101  it is a pipe
        self._process.stdin.close()
        try:
            await with_timeout(0 if self._is_late else CLOSE_S, self._process.wait())
        except TimeoutError:
            pass
        finally:
            self._kill()
            await asyncio.wait([self._reading])

    def _kill(self) -> None:
        """Kills the process. The process object's own `kill` is not used: it polls the process and so takes the exit
        code from the event loop, which then reports a wrong one."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)

    async def _answer(self, answer: asyncio.Future[WorkerAnswer], time_limit_s: float) -> WorkerAnswer:
        """Waits for the answer. The future is shielded, so that a cancelled call counts against MAX_CALLS until its
        answer has come."""
        try:
            return await with_timeout(time_limit_s, asyncio.shield(answer))
        except TimeoutError:
            self._is_late = True
            raise IndexFailed(f"did not answer within {time_limit_s:g} s") from None

    async def _read_answers(self) -> None:
        try:
            while True:
                self._take(await self._receive())
        except (asyncio.IncompleteReadError, BadFrame, KeyError) as problem:
            self._kill()
            ended = isinstance(problem, asyncio.IncompleteReadError)
            self._give_up(_why(await self._process.wait()) if ended else f"answered with {problem}")

    async def _receive(self) -> WorkerAnswer:
        answers = self._process.stdout
        assert answers is not None  # noqa: S101  it is a pipe
        header_bytes, payload_bytes = lengths(await answers.readexactly(LENGTHS.size))
        header = read_header(await answers.readexactly(header_bytes))
        return WorkerAnswer(header, await answers.readexactly(payload_bytes))

    def _take(self, answer: WorkerAnswer) -> None:
        waiting = self._waiting.pop(answer.header["id"])
        if waiting.done():
            return
        if problem := answer.header.get("error"):
            _fail(waiting, problem)
        else:
            waiting.set_result(answer)

    def _give_up(self, why: str) -> None:
        self._end = self._end or why
        for waiting in self._waiting.values():
            if not waiting.done():
                _fail(waiting, self._end)
        self._waiting.clear()


def _fail(waiting: asyncio.Future[WorkerAnswer], why: str) -> None:
    waiting.set_exception(IndexFailed(why))
    waiting.exception()  # marks it as retrieved: asyncio would complain of a future that nobody awaits any more


def _why(exit_code: int) -> str:
    return f"its process was ended by signal {-exit_code}" if exit_code < 0 else f"its process ended with {exit_code}"
