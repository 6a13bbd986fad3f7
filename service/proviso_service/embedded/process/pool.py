"""The processes that run the embedded models, from the side of the service."""

import asyncio
from contextlib import suppress
from itertools import count
from pathlib import Path

import structlog

from proviso_service.child_process import ChildProcess
from proviso_service.embedded.prepared import encoder_id, has_languages
from proviso_service.embedded.process.calls import Method
from proviso_service.embedded.process.messages import Message, receive, send
from proviso_service.models import ModelBusy, ModelClosed, ModelLost

MODULE = "proviso_service.embedded.process"
MAX_CALLS = 512
"""Calls that may wait for the answer of one process."""

CALL_TIMEOUT_S = 120.0
"""A process that has not answered a call for so long hangs; it is ended."""

_ATTEMPTS = 2
_RETRY_AFTER_S = 1.0

_log = structlog.get_logger(__name__)


class ProcessLost(Exception):
    """The process has ended, or is to be ended."""


class ModelFailed(Exception):
    """A model raised an exception, which its process has written to its standard error."""


class ModelProcess:
    """A running process, and the calls that wait for its answers."""

    def __init__(self, child: ChildProcess) -> None:
        self._child = child
        self._ids = count()
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._to_send: asyncio.PriorityQueue[tuple[bool, int]] = asyncio.PriorityQueue()
        self._messages: dict[int, Message] = {}
        self._is_lost = False
        self._at_work = [asyncio.create_task(self._send()), asyncio.create_task(self._receive())]

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_lost(self) -> bool:
        return self._is_lost

    @property
    def calls(self) -> int:
        return len(self._waiting)

    async def call(self, message: Message) -> Message:
        """Queries are sent before everything else. Raises ProcessLost, ModelBusy and ModelFailed."""
        if self._is_lost:
            raise ProcessLost
        if len(self._waiting) >= MAX_CALLS:
            raise ModelBusy("Too many calls are waiting for the models", _RETRY_AFTER_S)
        number = next(self._ids)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._messages[number] = Message({"id": number, **message.fields}, message.arrays)
        self._to_send.put_nowait((message.fields["method"] != Method.EMBED_QUERY, number))
        try:
            answered = await answer
        finally:
            del self._waiting[number]
            self._messages.pop(number, None)
        if busy := answered.fields.get("busy"):
            raise ModelBusy(busy, answered.fields["retry_after_s"])
        if failed := answered.fields.get("failed"):
            raise ModelFailed(failed)
        return answered

    async def end(self) -> None:
        """Ends the process; the calls that wait raise ProcessLost."""
        self._lose()
        for task in self._at_work:
            task.cancel()
        await asyncio.gather(*self._at_work, return_exceptions=True)
        self._child.stop()
        await self._child.ended()

    async def _send(self) -> None:
        """Sends what waits, but for calls whose caller has gone."""
        with suppress(OSError):  # it is told when the end of the answers is read
            while True:
                _, number = await self._to_send.get()
                if message := self._messages.pop(number, None):
                    await send(self._child.requests, message)

    async def _receive(self) -> None:
        try:
            while True:
                answer = await receive(self._child.answers)
                waiting = self._waiting.get(answer.fields["id"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
        except (asyncio.IncompleteReadError, OSError):
            self._lose()

    def _lose(self) -> None:
        self._is_lost = True
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ProcessLost())


class ModelProcesses:
    """So many processes, each with all embedded models. A call goes to the one with the fewest calls. A process that
    has ended is started anew with the next call, and its calls are made once more."""

    def __init__(self, models_dir: Path, threads: int, processes: int) -> None:
        """`threads` are those of the embedding model in each process."""
        self.encoder_id = encoder_id(with_languages=has_languages(models_dir))
        self._arguments = (str(models_dir.absolute()), str(threads))
        self._places: list[ModelProcess | None] = [None] * processes
        self._starting = [asyncio.Lock() for _ in range(processes)]
        self._endings: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def call(self, message: Message) -> Message:
        """Raises ModelBusy, ModelClosed, ModelFailed, and ModelLost when the second process is lost too."""
        for _ in range(_ATTEMPTS):
            process = await self._running(self._least_busy())
            try:
                async with asyncio.timeout(CALL_TIMEOUT_S):
                    return await process.call(message)
            except ProcessLost:
                _log.warning("model_process_lost", pid=process.pid)
            except TimeoutError:
                _log.warning("model_process_stuck", pid=process.pid)
                self._end(process)
            self._check_open()
        raise ModelLost("The process of the embedded models was lost")

    async def start(self) -> None:
        """Starts all processes, of which each is otherwise started with the first call that it gets."""
        await asyncio.gather(*(self._running(place) for place in range(len(self._places))))

    async def close(self) -> None:
        """Ends all processes; calls under way raise ModelClosed."""
        self._is_closed = True
        for process in list(self._places):
            if process is not None:
                self._end(process)
        while self._endings:
            await asyncio.gather(*self._endings)

    def _least_busy(self) -> int:
        calls = [0 if process is None or process.is_lost else process.calls for process in self._places]
        return calls.index(min(calls))

    async def _running(self, place: int) -> ModelProcess:
        async with self._starting[place]:
            self._check_open()
            process = self._places[place]
            if process is None or process.is_lost:
                if process is not None:
                    self._end(process)
                process = self._places[place] = await self._started()
            return process

    async def _started(self) -> ModelProcess:
        try:
            return ModelProcess(await ChildProcess.start(MODULE, *self._arguments))
        except OSError as error:
            raise ModelLost("No process can be started for the embedded models") from error

    def _end(self, process: ModelProcess) -> None:
        if process not in self._places:
            return  # another of its calls has seen to that
        self._places[self._places.index(process)] = None
        ending = asyncio.create_task(process.end())
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    def _check_open(self) -> None:
        if self._is_closed:
            raise ModelClosed("The embedded models are closed")
