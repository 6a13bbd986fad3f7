"""Turn logs in Redis Streams: the owner of a turn writes its log there, and other processes copy it from there.

An entry holds successive events. Its id is the sequence of the last of them, so that nothing can be in a stream twice
or in another order. The memory of the owner is the buffer: what could not be written is written once Redis is back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import structlog
from redis.asyncio.client import Pipeline

from proviso_service.backends.redis.link import RedisAway, RedisLink
from proviso_service.backends.redis.streams import Fields, StreamReader
from proviso_service.concurrency import with_timeout
from proviso_service.turns import EventsMissing, FollowedLog, MemoryTurnLog, events_from_json, events_to_json

_GATHER_S = 0.03
"""Events that follow each other faster than this are written together."""

_MOST_EVENTS = 500
"""Events in one entry."""

_MOST_LOGS = 256
"""Logs that are written to in one pipeline."""

_PATIENCE_S = 1.0
"""How long Redis may be away before readers are told: a copy goes on where it was."""

_EVENTS = b"events"

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Written:
    """A log, and the sequence up to which it is in its stream."""

    log: MemoryTurnLog
    sequence: int = 0


class LogWriter:
    """Writes the logs of this process to their streams, which are kept for `ttl_s` seconds after their end, and after
    the end of their process."""

    def __init__(self, link: RedisLink, ttl_s: float) -> None:
        self._link = link
        self._ttl_s = ttl_s
        self._logs: dict[str, _Written] = {}
        self._changed: dict[str, None] = {}
        self._withdrawn: set[str] = set()
        self._wake = asyncio.Event()
        self._recoveries = link.recoveries
        self._renew_at = 0.0
        link.on_beat(self._renew)

    def add(self, turn_id: str, log: MemoryTurnLog, written: int) -> None:
        """Writes a log from now on: what it has, and what comes. Another process has written it up to a sequence: a
        stream takes no entry whose id is not greater than the last one's."""
        self._logs[turn_id] = _Written(log, written)
        log.tell(partial(self._note, turn_id))
        if log.last_sequence:
            self._note(turn_id)

    def remove(self, turn_id: str) -> None:
        """Removes a log and its stream; that of another process, too, because its turn is deleted."""
        self._logs.pop(turn_id, None)
        self._withdrawn.add(turn_id)
        self._wake.set()

    def leave(self, turn_id: str) -> None:
        """Writes no more of a log. Its stream stays."""
        self._logs.pop(turn_id, None)

    async def last_sequence(self, turn_id: str) -> int:
        """The sequence of the last event in the stream of a turn; 0 where there is none. Raises RedisAway."""
        [found] = await self._link.run(partial(self._ask_for_last, [turn_id]))
        return _last_of(found)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Writes while the context is open, and at its end what is left, if Redis is there."""
        writing = asyncio.create_task(self._keep_writing(), name="redis turn logs")
        try:
            yield
        finally:
            writing.cancel()
            await asyncio.wait([writing])
            try:
                await self._write_all()
            except RedisAway:
                _log.warning("turn_logs_unwritten", turns=len(self._changed))

    def _note(self, turn_id: str) -> None:
        self._changed[turn_id] = None
        self._wake.set()

    async def _keep_writing(self) -> None:
        while True:
            await self._wake.wait()
            await asyncio.sleep(_GATHER_S)
            self._wake.clear()
            try:
                await self._write_all()
            except RedisAway:
                await self._link.until_up()
                self._wake.set()

    async def _write_all(self) -> None:
        if self._recoveries != self._link.recoveries:
            await self._find_out()
        while self._changed or self._withdrawn:
            await self._write(list(self._changed)[:_MOST_LOGS])

    async def _write(self, turn_ids: list[str]) -> None:
        """Writes the next entry of each of the logs. A log stays among those that have changed until all is written."""
        written: list[tuple[str, _Written, int]] = []
        withdrawn = set(self._withdrawn)

        def fill(pipeline: "Pipeline") -> None:
            for turn_id in turn_ids:
                if (known := self._logs.get(turn_id)) and (events := known.log.since(known.sequence, _MOST_EVENTS)):
                    sequence, key = events[-1].sequence, self._key(turn_id)
                    pipeline.xadd(key, {_EVENTS: events_to_json(events)}, id=f"{sequence}-0")
                    if known.sequence == 0 or known.log.final_state is not None:
                        pipeline.pexpire(key, round(self._ttl_s * 1_000))
                    written.append((turn_id, known, sequence))
            if withdrawn:
                pipeline.unlink(*map(self._key, withdrawn))

        await self._link.run(fill)
        self._withdrawn -= withdrawn
        for _, known, sequence in written:
            known.sequence = sequence
        for turn_id in turn_ids:
            known_now = self._logs.get(turn_id)
            # A log that was taken over may have had events that are lost, and have none yet that could be written.
            if known_now is None or not known_now.log.since(known_now.sequence, 1):
                self._changed.pop(turn_id, None)

    async def _find_out(self) -> None:
        """Asks, once Redis is back, up to where it has each log, for it may have lost the latest entries or all."""
        recoveries, turn_ids = self._link.recoveries, list(self._logs)
        for start in range(0, len(turn_ids), _MOST_LOGS):
            some = turn_ids[start : start + _MOST_LOGS]
            answers = await self._link.run(partial(self._ask_for_last, some))
            for turn_id, found in zip(some, answers, strict=True):
                if known := self._logs.get(turn_id):
                    known.sequence = min(_last_of(found), known.log.last_sequence)
                    self._note(turn_id)
        self._recoveries = recoveries

    def _ask_for_last(self, turn_ids: list[str], pipeline: "Pipeline") -> None:
        for turn_id in turn_ids:
            pipeline.xrevrange(self._key(turn_id), count=1)

    async def _renew(self) -> None:
        """Lets the streams of running turns live on, and looks after them once Redis is back."""
        now = asyncio.get_running_loop().time()
        if self._recoveries != self._link.recoveries:
            self._wake.set()
        if now >= self._renew_at:
            running = [turn_id for turn_id, known in self._logs.items() if known.log.final_state is None]
            if running:
                await self._link.run(partial(self._let_live, running))
            self._renew_at = now + self._ttl_s / 3

    def _let_live(self, turn_ids: list[str], pipeline: "Pipeline") -> None:
        for turn_id in turn_ids:
            pipeline.pexpire(self._key(turn_id), round(self._ttl_s * 1_000))

    def _key(self, turn_id: str) -> str:
        return self._link.key("turn", turn_id)


class LogFollower:
    """Copies the logs of turns of other processes, each once for all of its readers."""

    def __init__(self, link: RedisLink, streams: StreamReader) -> None:
        self._link = link
        self._streams = streams
        self._copies: dict[str, _Copy] = {}

    async def has_log(self, turn_id: str) -> bool:
        """Whether the stream of a turn is there. Raises RedisAway."""
        [found] = await self._link.run(lambda pipeline: pipeline.exists(self._link.key("turn", turn_id)))
        return bool(found)

    @asynccontextmanager
    async def following(self, turn_id: str) -> AsyncIterator[FollowedLog]:
        """A copy of the log that grows while the context is open. Raises RedisAway."""
        copy = self._copies.get(turn_id)
        if copy is None or copy.log.has_failed:
            copy = self._copies[turn_id] = _Copy()
            self._streams.read(self._link.key("turn", turn_id), "0", copy.take)
        copy.readers += 1
        try:
            await self._streams.wake()
            yield copy.log
        finally:
            copy.readers -= 1
            if copy.readers == 0 and self._copies.get(turn_id) is copy:
                self._drop(turn_id)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Tells readers, while the context is open, when Redis is away."""
        watching = asyncio.create_task(self._watch(), name="redis followed logs")
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    async def _watch(self) -> None:
        while True:
            await self._link.until_down()
            try:
                await with_timeout(_PATIENCE_S, self._link.until_up())
                continue
            except TimeoutError:
                pass
            for turn_id, copy in list(self._copies.items()):
                copy.log.fail(RedisAway())
                self._drop(turn_id)
            await self._link.until_up()

    def _drop(self, turn_id: str) -> None:
        del self._copies[turn_id]
        self._streams.leave(self._link.key("turn", turn_id))


class _Copy:
    def __init__(self) -> None:
        self.log = FollowedLog()
        self.readers = 0

    def take(self, entry_id: str, fields: Fields) -> None:
        """Takes the events of an entry that are not in the copy yet. An entry may begin before the end of the one
        before it, where the owner did not know whether that had been written."""
        log = self.log
        try:
            events = events_from_json(fields[_EVENTS], sequence_of(entry_id))
        except (KeyError, TypeError, ValueError) as error:
            _log.error("turn_log_unreadable", entry=entry_id, error=type(error).__name__)
            log.fail(EventsMissing())
            return
        for logged in events:
            if logged.first_sequence <= log.last_sequence + 1 <= logged.sequence:
                log.copy(logged)
            elif logged.sequence > log.last_sequence:
                log.fail(EventsMissing())
                return


def _last_of(entries: list[tuple[bytes, object]]) -> int:
    return sequence_of(entries[0][0].decode()) if entries else 0


def sequence_of(entry_id: str) -> int:
    """The sequence of the last event of an entry."""
    return int(entry_id.partition("-")[0])
