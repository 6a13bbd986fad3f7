"""What processes ask each other: a question is an entry in the stream of the process that is asked, and the answer one
in the stream of the process that asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import uuid4

import structlog
from redis.asyncio.client import Pipeline

from proviso_service.backends.redis.link import RedisAway, RedisLink
from proviso_service.backends.redis.streams import INBOX_KEPT_MS, Fields, StreamReader
from proviso_service.concurrency import with_timeout
from proviso_service.errors import NotReady
from proviso_service.turns import Answer

_MOST_ENTRIES = 10_000
"""Questions and answers that wait in the stream of a process."""

_log = structlog.get_logger(__name__)


class Signals:
    """Asks other processes, and answers what they ask."""

    def __init__(self, link: RedisLink, streams: StreamReader) -> None:
        self._link = link
        self._asked: dict[str, asyncio.Future[Any]] = {}
        self._answer: Answer | None = None
        self._answering: set[asyncio.Task[None]] = set()
        streams.read_own(self._take)

    def answer(self, answer: Answer) -> None:
        """Lets `answer` do what others ask."""
        self._answer = answer

    async def ask(self, owner: str, action: str, arguments: dict[str, Any], limit_s: float) -> Any:
        """Returns what another process answers. Raises NotReady when it does not answer in time or fails, and
        RedisAway."""
        number = uuid4().hex
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        question = {"from": self._link.owner, "action": action, "arguments": arguments}
        try:
            await self._send(owner, number, question)
            return await with_timeout(limit_s, answer, late=_no_answer)
        finally:
            del self._asked[number]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answers are finished, or cancelled, when the context ends."""
        try:
            yield
        finally:
            for task in self._answering:
                task.cancel()
            if self._answering:
                await asyncio.wait(self._answering)

    async def _send(self, owner: str, number: str, told: dict[str, Any]) -> None:
        def fill(pipeline: "Pipeline") -> None:
            key = self._link.key("inbox", owner)
            pipeline.xadd(key, {"number": number, "told": json.dumps(told)}, maxlen=_MOST_ENTRIES)
            pipeline.pexpire(key, INBOX_KEPT_MS)

        await self._link.run(fill)

    def _take(self, entry_id: str, fields: Fields) -> None:
        if b"told" not in fields:  # it was there to wake the reading
            return
        number, told = fields[b"number"].decode(), json.loads(fields[b"told"])
        if "action" in told:
            self._begin(self._do(number, told))
        elif (asked := self._asked.get(number)) and not asked.done():
            if "failed" in told:
                asked.set_exception(_no_answer())
            else:
                asked.set_result(told["result"])

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="redis answer")
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _do(self, number: str, asked: dict[str, Any]) -> None:
        told: dict[str, Any] = {"failed": True}
        try:
            if self._answer is not None:
                told = {"result": await self._answer(asked["from"], asked["action"], asked["arguments"])}
        except Exception:
            _log.exception("replica_not_answered", action=asked["action"])
        with suppress(RedisAway):  # who asked sees that, too
            await self._send(asked["from"], number, told)


def _no_answer() -> NotReady:
    return NotReady("The process that runs the turn does not answer; try again shortly")
