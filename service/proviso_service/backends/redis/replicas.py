"""RedisReplicas lets the processes that share the stored turns know of each other by Redis."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

from proviso_service.backends.redis.link import RedisLink
from proviso_service.backends.redis.notices import RedisNotices
from proviso_service.backends.redis.signals import Signals
from proviso_service.backends.redis.streams import StreamReader
from proviso_service.backends.redis.turn_logs import LogFollower, LogWriter
from proviso_service.turns import Answer, FollowedLog, MemoryTurnLog


class RedisReplicas:
    """The implementation of Replicas. Logs are kept for `log_ttl_s` seconds after the end of the turn, or of its
    process. `notices` come by the same connections."""

    def __init__(self, link: RedisLink, log_ttl_s: float) -> None:
        self._link = link
        self.notices = RedisNotices(link)
        self._streams = StreamReader(link)
        self._writer = LogWriter(link, log_ttl_s)
        self._follower = LogFollower(link, self._streams)
        self._signals = Signals(link, self._streams)

    def publish(self, turn_id: str, log: MemoryTurnLog, shown: int = 0) -> None:
        self._writer.add(turn_id, log, shown)

    def leave(self, turn_id: str) -> None:
        self._writer.leave(turn_id)

    def withdraw(self, turn_id: str) -> None:
        self._writer.remove(turn_id)

    async def has_log(self, turn_id: str) -> bool:
        return await self._follower.has_log(turn_id)

    async def last_sequence(self, turn_id: str) -> int:
        return await self._writer.last_sequence(turn_id)

    def following(self, turn_id: str) -> AbstractAsyncContextManager[FollowedLog]:
        return self._follower.following(turn_id)

    async def is_living(self, owner: str) -> bool:
        return await self._link.is_living(owner)

    async def ask(self, owner: str, action: str, arguments: dict[str, Any], limit_s: float) -> Any:
        return await self._signals.ask(owner, action, arguments, limit_s)

    def answer(self, answer: Answer) -> None:
        self._signals.answer(answer)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Everything works while the context is open. Raises Unavailable."""
        async with AsyncExitStack() as stack:
            for part in (self._link, self.notices, self._streams, self._writer, self._follower, self._signals):
                await stack.enter_async_context(part.open())
            yield
