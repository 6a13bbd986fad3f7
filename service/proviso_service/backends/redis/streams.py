"""Reading of Redis Streams: one connection waits for the entries of all streams that this process reads."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from proviso_service.backends.redis.link import ANSWER_S, LOST, RedisLink
from proviso_service.concurrency import with_timeout

Fields = Mapping[bytes, bytes]
Take = Callable[[str, Fields], object]
"""Is told the id of an entry and its fields."""

_WAIT_S = 5.0
_GATHER_S = 0.01
"""Entries that follow each other faster than this are read together."""

_MOST_ENTRIES = 100
"""Entries of one stream that are read at once, so that a long one does not keep the others waiting."""

INBOX_KEPT_MS = 60_000
"""How long the own stream of a process that is gone is kept."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Stream:
    position: str
    take: Take


_Found = tuple[str, _Stream, Sequence[tuple[bytes, Fields]]]
"""What was found in a stream after its position."""


class StreamReader:
    """The streams that this process reads.

    One of them is its own: an entry there wakes the reading, so that a stream that is added is read at once."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link
        self._own = link.key("inbox", link.owner)
        self._streams: dict[str, _Stream] = {self._own: _Stream("0", _ignore)}

    def read(self, key: str, after: str, take: Take) -> None:
        """Calls `take` for each entry of the stream after the id `after`, from the next time on that the reading
        wakes."""
        self._streams[key] = _Stream(after, take)

    def read_own(self, take: Take) -> None:
        """Calls `take` for each entry of the stream of this process."""
        self._streams[self._own].take = take

    def leave(self, key: str) -> None:
        """Stops reading the stream."""
        self._streams.pop(key, None)

    async def wake(self) -> None:
        """Lets what was added be read at once. Raises RedisAway."""

        def fill(pipeline: "Pipeline") -> None:
            pipeline.xadd(self._own, {"wake": ""})
            pipeline.pexpire(self._own, INBOX_KEPT_MS)

        await self._link.run(fill)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Reads while the context is open. What was sent to an earlier process of this name is dropped. Raises
        RedisAway."""
        await self._link.run(lambda pipeline: pipeline.delete(self._own))
        reading = asyncio.create_task(self._keep_reading(), name="redis streams")
        try:
            yield
        finally:
            reading.cancel()
            await asyncio.wait([reading])

    async def _keep_reading(self) -> None:
        while True:
            await self._link.until_up()
            client = self._link.new_client()
            try:
                while True:
                    self._hand_on(await self._next(client))
                    await asyncio.sleep(_GATHER_S)
            except LOST as error:
                self._link.lost(error)
            finally:
                await client.aclose()

    async def _next(self, client: "Redis") -> Sequence[_Found]:
        streams = dict(self._streams)
        positions: Any = {key: stream.position for key, stream in streams.items()}
        reading = client.xread(positions, count=_MOST_ENTRIES, block=round(_WAIT_S * 1_000))
        found: Any = await with_timeout(_WAIT_S + ANSWER_S, reading)
        return [(key.decode(), streams[key.decode()], entries) for key, entries in found or ()]

    def _hand_on(self, found: Sequence[_Found]) -> None:
        for key, stream, entries in found:
            for entry_id, fields in entries:
                if self._streams.get(key) is not stream:
                    break  # it was left meanwhile, and may be read anew from another position
                stream.position = entry_id.decode()
                try:
                    stream.take(stream.position, fields)
                except Exception:
                    _log.exception("redis_entry_unreadable", stream=key, entry=stream.position)


def _ignore(entry_id: str, fields: Fields) -> None:
    """Takes the place of what reads the stream of this process."""
