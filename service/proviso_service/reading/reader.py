"""Reads files in processes of their own, and starts, supervises and ends these processes."""

import asyncio
import time
from typing import Protocol

import structlog

from proviso_service.child_process import PIECE_BYTES, ChildProcess
from proviso_service.reading.model import (
    FileTooLong,
    ReadDocument,
    ReaderClosed,
    ReaderUnavailable,
    ReadingLimits,
    ReadingTooSlow,
    UnreadableFile,
)
from proviso_service.reading.worker import messages
from proviso_service.reading.worker.answers import (
    STRUCTURE_BYTES,
    BrokenAnswer,
    ChildFault,
    ChildOutOfMemory,
    decode_answer,
)
from proviso_service.reading.worker.confinement import left_open
from proviso_service.reading.worker.messages import ChildEnding, ChildOutcome, ReadRequest, frame

WORKER = "proviso_service.reading.worker"
IDLE_S = 60.0
"""After so many seconds without a file to read, a process ends."""
_LEAVING_S = 5.0
"""A process that would end within so many seconds is given no more files."""
_MARGIN_S = 30.0
"""Time beyond the limit of reading, for passing on a file and its answer."""
_ATTEMPTS = 2
_UTF8_BYTES = 4

OUT_OF_TIME = "Reading the file took too long. Split it and upload the parts."
OUT_OF_MEMORY = "Reading the file needs too much memory. Split it, or print it to a new PDF, and upload the result."
TOO_LARGE = "The file holds more than can be read at once. Split it and upload the parts."
DAMAGED = (
    "The file is damaged or built in an unusual way, so that it cannot be read. Open it, save it as a new file and"
    " upload that."
)

_log = structlog.get_logger(__name__)


class DocumentReader(Protocol):
    """Reads a file away from the event loop, within limits of time and size."""

    async def read(self, media_type: str, content: bytes) -> ReadDocument:
        """Raises UnreadableFile, with a sentence for a person, also when a limit is passed."""
        ...


class WorkerLost(Exception):
    """The supervisor has ended, or does not answer as it should."""


class ReaderProcess(ChildProcess):
    """A running supervisor process. It takes one exchange at a time; after an exchange that failed or was cancelled,
    only `stop` may follow."""

    async def exchange(self, request: ReadRequest, content: bytes) -> tuple[bytearray, ChildEnding]:
        """Returns what the child of a request wrote, at most `request.answer_bytes`, and how it ended. What it wrote is
        empty unless it ended by itself. Raises WorkerLost."""
        try:
            await self._send(request, content)
            return await self._receive(request.answer_bytes)
        except (OSError, asyncio.IncompleteReadError, ValueError, KeyError, TypeError) as error:
            raise WorkerLost from error

    async def _send(self, request: ReadRequest, content: bytes) -> None:
        self.requests.write(frame(messages.REQUEST, request.encode()))
        view = memoryview(content)
        for start in range(0, len(content), PIECE_BYTES):
            self.requests.write(view[start : start + PIECE_BYTES])
            await self.requests.drain()
        await self.requests.drain()

    async def _receive(self, max_bytes: int) -> tuple[bytearray, ChildEnding]:
        answer = bytearray()
        while True:
            kind, size = messages.HEADER.unpack(await self.answers.readexactly(messages.HEADER.size))
            if size > messages.MAX_PAYLOAD_BYTES or len(answer) + size > max_bytes + messages.MAX_PAYLOAD_BYTES:
                raise WorkerLost
            payload = await self.answers.readexactly(size)
            if kind == messages.ENDING:
                ending = ChildEnding.decode(payload)
                return (answer if ending.outcome is ChildOutcome.EXITED else bytearray()), ending
            answer += payload


class ProcessReader:
    """Reads files in processes of its own, at most `processes` at once, each file in a fresh child (see `worker`). The
    processes start with the first file and end when there was none for `idle_s` seconds. A cancelled read ends its
    process at once."""

    def __init__(self, limits: ReadingLimits, processes: int, module: str = WORKER, idle_s: float = IDLE_S) -> None:
        """`module` is what the processes run, as with `python -m`."""
        self._limits = limits
        self._module = module
        self._idle_s = idle_s
        self._slots = asyncio.Semaphore(processes)
        self._idle: list[tuple[float, ReaderProcess]] = []
        self._endings: set[asyncio.Task[None]] = set()
        self._is_closed = False
        if still := left_open():
            _log.warning("reader_not_confined", a_hostile_document_could=still)

    async def read(self, media_type: str, content: bytes) -> ReadDocument:
        """Raises UnreadableFile; ReaderUnavailable when no process can be started, ReaderClosed after `close`."""
        async with self._slots:
            conclusion = await self._conclusion(media_type, content)
        if isinstance(conclusion, UnreadableFile):
            raise conclusion
        return conclusion

    async def close(self) -> None:
        """Ends every process. Reads under way must have been cancelled before."""
        self._is_closed = True
        for _, worker in self._idle:
            self._end(worker)
        self._idle.clear()
        while self._endings:
            await asyncio.gather(*self._endings)

    async def _conclusion(self, media_type: str, content: bytes) -> ReadDocument | UnreadableFile:
        """Returns the document, or the reason why there is none. A file whose process was lost is tried in a second
        process, but not in a third."""
        request = self._request(media_type, content)
        for _ in range(_ATTEMPTS):
            try:
                answer, ending = await self._ask(request, content)
            except WorkerLost:
                _log.warning("reader_lost", media_type=media_type)
            except TimeoutError:
                _log.warning("reader_stuck", media_type=media_type)
                return ReadingTooSlow(OUT_OF_TIME)
            else:
                return await asyncio.to_thread(self._concluded, media_type, answer, ending)
        return UnreadableFile(DAMAGED)

    async def _ask(self, request: ReadRequest, content: bytes) -> tuple[bytearray, ChildEnding]:
        """Has a process read the file. Raises WorkerLost, and TimeoutError when the process itself hangs."""
        worker = await self._worker()
        try:
            async with asyncio.timeout(request.limits.time_limit_s + _MARGIN_S):
                answered = await worker.exchange(request, content)
        except BaseException:
            self._end(worker)
            raise
        if self._is_closed:
            self._end(worker)
        else:
            self._idle.append((time.monotonic(), worker))
        return answered

    async def _worker(self) -> ReaderProcess:
        """Returns an idle process that will not end soon, the last used first, or a new one."""
        if self._is_closed:
            raise ReaderClosed
        while self._idle:
            since, worker = self._idle.pop()
            if worker.is_running and time.monotonic() - since < self._idle_s - _LEAVING_S:
                return worker
            self._end(worker)
        try:
            return await ReaderProcess.start(self._module, str(self._idle_s))
        except OSError as error:
            _log.exception("no process to read files in")
            raise ReaderUnavailable from error

    def _end(self, worker: ReaderProcess) -> None:
        worker.stop()
        ending = asyncio.create_task(worker.ended())
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    def _request(self, media_type: str, content: bytes) -> ReadRequest:
        most_text_bytes = self._limits.max_text_chars * _UTF8_BYTES
        return ReadRequest(media_type, len(content), self._limits, answer_bytes=most_text_bytes + STRUCTURE_BYTES)

    def _concluded(self, media_type: str, answer: bytearray, ending: ChildEnding) -> ReadDocument | UnreadableFile:
        """Returns the document, or the reason why there is none. It raises nothing: an exception that was raised would
        keep the answer, which may be large, as long as it lives."""
        if ending.outcome is not ChildOutcome.EXITED:
            _log.warning("reading_stopped", media_type=media_type, outcome=ending.outcome, status=ending.status)
            kind, reason = _REASONS[ending.outcome]
            return kind(reason)
        try:
            return decode_answer(answer, self._limits)
        except UnreadableFile as refused:
            return type(refused)(refused.message)
        except ChildOutOfMemory:
            return FileTooLong(OUT_OF_MEMORY)
        except (ChildFault, BrokenAnswer) as failure:
            _log.warning("reading_failed", media_type=media_type, failure=type(failure).__name__, where=str(failure))
            return UnreadableFile(DAMAGED)


_REASONS = {
    ChildOutcome.OUT_OF_TIME: (ReadingTooSlow, OUT_OF_TIME),
    ChildOutcome.OUT_OF_MEMORY: (FileTooLong, OUT_OF_MEMORY),
    ChildOutcome.TOO_LARGE: (FileTooLong, TOO_LARGE),
    ChildOutcome.CRASHED: (UnreadableFile, DAMAGED),
}
