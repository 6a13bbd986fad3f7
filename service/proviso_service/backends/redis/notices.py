"""Notices by Redis: each process publishes its own on one channel, and listens to those of the others.

Redis hands a message to those who listen at that moment. Whoever has not listened for a while therefore looks at
everything, and whoever could not tell something for a while has all others look at everything."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import structlog
from redis.asyncio.client import Pipeline, PubSub

from proviso_service.backends.redis.link import ANSWER_S, LOST, RedisAway, RedisLink
from proviso_service.concurrency import with_timeout
from proviso_service.notices import About, Heard, Missed, What

_MOST_WAITING = 10_000
"""Notices that wait to be told, and of each kind that wait to be heard. More of them are one notice: look at
everything."""

_LISTEN_S = 5.0
"""Longest silence before a listener looks whether it still hears anything."""

_EVERYTHING = "everything"

_log = structlog.get_logger(__name__)


class RedisNotices:
    """The implementation of Notices."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link
        self._channel = link.key("notices", "all")
        self._ears: dict[str, list[_Ear]] = {about: [] for about in About}
        self._untold: list[str] = []
        self._wake = asyncio.Event()

    def tell(self, about: About, **what: Any) -> None:
        if len(self._untold) >= _MOST_WAITING:
            self._untold = [self._message(_EVERYTHING, {})]
        self._untold.append(self._message(about, what))
        self._wake.set()

    def hear(self, about: About, heard: Heard, missed: Missed) -> None:
        self._ears[about].append(_Ear(about, heard, missed))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Tells and listens while the context is open, and tells at its end what is left, if Redis is there. Raises
        RedisAway."""
        listening = asyncio.Event()
        tasks = [
            asyncio.create_task(self._keep_listening(listening), name="redis notices heard"),
            asyncio.create_task(self._keep_telling(), name="redis notices told"),
        ]
        try:
            await with_timeout(ANSWER_S, listening.wait(), late=RedisAway)
            yield
        finally:
            with suppress(RedisAway):
                await self._tell_waiting()
            tasks += [ear.task for ears in self._ears.values() for ear in ears]
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def _message(self, about: str, what: What) -> str:
        return json.dumps({"from": self._link.owner, "about": about, "what": what})

    async def _keep_telling(self) -> None:
        while True:
            await self._wake.wait()
            try:
                await self._tell_waiting()
            except RedisAway:
                await self._link.until_up()
                self._untold = [self._message(_EVERYTHING, {})]
                self._wake.set()

    async def _tell_waiting(self) -> None:
        self._wake.clear()
        untold, self._untold = self._untold, []
        if untold:
            await self._link.run(partial(self._publish, untold))

    def _publish(self, untold: Iterable[str], pipeline: "Pipeline") -> None:
        for message in untold:
            pipeline.publish(self._channel, message)

    async def _keep_listening(self, listening: asyncio.Event) -> None:
        while True:
            await self._link.until_up()
            recoveries = self._link.recoveries
            client = self._link.new_client()
            try:
                async with client.pubsub() as channel:
                    await with_timeout(ANSWER_S, self._subscribe(channel))
                    if listening.is_set():
                        self._miss()
                    listening.set()
                    while self._link.recoveries == recoveries:
                        await self._take_next(channel)
            except LOST as error:
                self._link.lost(error)
            finally:
                await client.aclose()

    async def _subscribe(self, channel: "PubSub") -> None:
        await channel.subscribe(self._channel)
        await channel.get_message(timeout=None)  # that this is so

    async def _take_next(self, channel: "PubSub") -> None:
        """Waits for a message, though not for ever: a connection may be dead without a word."""
        found: Any = await channel.get_message(timeout=_LISTEN_S)
        if found is None:
            return
        told: dict[str, Any] = json.loads(found["data"])
        if told["from"] == self._link.owner:
            return
        if told["about"] == _EVERYTHING:
            self._miss()
        else:
            for ear in self._ears.get(told["about"], ()):
                ear.hear(told["what"])

    def _miss(self) -> None:
        for ears in self._ears.values():
            for ear in ears:
                ear.miss()


class _Ear:
    """What one part of the service hears about something."""

    def __init__(self, about: About, heard: Heard, missed: Missed) -> None:
        self._about = about
        self._heard = heard
        self._missed = missed
        self._waiting: deque[What] = deque()
        self._has_missed = False
        self._wake = asyncio.Event()
        self.task = asyncio.create_task(self._listen(), name=f"notices about {about}")

    def hear(self, what: What) -> None:
        if len(self._waiting) >= _MOST_WAITING:
            self.miss()
        else:
            self._waiting.append(what)
            self._wake.set()

    def miss(self) -> None:
        """Has everything looked at, in place of what waits."""
        self._waiting.clear()
        self._has_missed = True
        self._wake.set()

    async def _listen(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._has_missed:
                self._has_missed = False
                await self._attempt(self._missed())
            while self._waiting:
                await self._attempt(self._heard(self._waiting.popleft()))

    async def _attempt(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception:
            _log.exception("notice_not_followed", about=self._about)
