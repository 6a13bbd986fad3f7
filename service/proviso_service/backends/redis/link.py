"""The connections of this process to Redis: when they are lost, when they are back, and the key that says that the
process lives."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import structlog
from redis import exceptions
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from proviso_service.concurrency import with_timeout
from proviso_service.errors import Unavailable
from proviso_service.retrying import Backoff

LOST = (exceptions.RedisError, OSError)
"""Failures that say that Redis cannot be reached, or cannot do at present what is asked of it."""

ENTRY_EXISTS = "The ID specified in XADD is equal or smaller"
"""How Redis refuses an entry of a stream that has it already, or a later one."""

ANSWER_S = 5.0
"""The longest that Redis may take for an answer, or for a connection."""

_RECONNECTS = Backoff(first_s=0.05, longest_s=2.0)
_RENEWALS_PER_LEASE = 3

_log = structlog.get_logger(__name__)


class RedisAway(Unavailable):
    """Redis cannot be reached at present."""

    def __init__(self) -> None:
        super().__init__("What this process shares with others cannot be reached at present; try again shortly")


class RedisLink:
    """What this process sends to Redis. `owner` names the process; its lease holds for `lease_s` seconds.

    Nothing is sent twice by itself: who finds Redis away says so by `lost`, and gives up or waits with `until_up`."""

    def __init__(self, url: str, owner: str, lease_s: float, prefix: str = "proviso") -> None:
        self.owner = owner
        self._url = url
        self.lease_s = lease_s
        self._prefix = prefix
        self._client = self.new_client()
        self._up = asyncio.Event()
        self._down = asyncio.Event()
        self._beats: list[Callable[[], Awaitable[None]]] = []
        self.recoveries = 0
        """How often Redis was back. What was there before may be lost each time."""

    @property
    def is_up(self) -> bool:
        """Whether Redis answered last."""
        return self._up.is_set()

    def key(self, kind: str, name: str) -> str:
        """The key of something that processes share."""
        return f"{self._prefix}:{kind}:{name}"

    def new_client(self) -> "Redis":
        """A client that waits for answers for ever: whoever awaits one sets the limit.

        With a limit of its own the client sends by `asyncio.wait_for`, which in Python 3.11 loses a cancellation that
        arrives as the sending ends: who was cancelled then went on."""
        return Redis.from_url(
            self._url,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=None,
            socket_connect_timeout=ANSWER_S,
        )

    def on_beat(self, work: Callable[[], Awaitable[None]]) -> None:
        """Runs `work` whenever the lease was renewed: three times in each lease, and once Redis is back."""
        self._beats.append(work)

    def lost(self, error: BaseException) -> None:
        """Notes that Redis cannot be reached. It is logged once, until Redis is back."""
        if self.is_up:
            self._up.clear()
            self._down.set()
            _log.error("redis_lost", error=str(error))

    async def until_up(self) -> None:
        """Returns once Redis answers."""
        await self._up.wait()

    async def until_down(self) -> None:
        """Returns once Redis cannot be reached."""
        await self._down.wait()

    async def run(self, fill: Callable[["Pipeline"], object]) -> list[Any]:
        """Sends the commands that `fill` puts into a pipeline and returns their answers, with an exception for an
        entry that exists. Raises RedisAway; nobody knows then which of the commands were carried out."""
        if not self.is_up:
            raise RedisAway
        pipeline = self._client.pipeline(transaction=False)
        fill(pipeline)
        try:
            answers: list[Any] = await with_timeout(ANSWER_S, pipeline.execute(raise_on_error=False))
        except LOST as error:
            self.lost(error)
            raise RedisAway from error
        for answer in answers:
            if isinstance(answer, exceptions.RedisError) and not str(answer).startswith(ENTRY_EXISTS):
                self.lost(answer)
                raise RedisAway from answer
        return answers

    async def is_living(self, owner: str) -> bool:
        """Whether the lease of a process holds. Raises RedisAway."""
        [found] = await self.run(lambda pipeline: pipeline.exists(self.key("owner", owner)))
        return bool(found)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Keeps the lease while the context is open. Raises Unavailable, with what an operator can
        do about it, where Redis does not answer at the beginning."""
        try:
            await self._renew()
        except LOST as error:
            await self._client.aclose()
            server = urlsplit(self._url)
            raise Unavailable(
                f"Redis at {server.hostname}:{server.port or 6379} cannot be used: {error}; "
                "PROVISO_STORAGE__REDIS_URL names it"
            ) from error
        self._up.set()
        keeping = asyncio.create_task(self._keep(), name="redis lease")
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.wait([keeping])
            with suppress(*LOST):
                await with_timeout(ANSWER_S, self._client.delete(self.key("owner", self.owner)))
            await self._client.aclose()

    async def _keep(self) -> None:
        failures = 0
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.lease_s / _RENEWALS_PER_LEASE):
                    await self.until_down()
            if not self.is_up:
                failures += 1
                await asyncio.sleep(_RECONNECTS.random_pause_s(failures))
            try:
                await self._renew()
            except LOST as error:
                self.lost(error)
                continue
            if not self.is_up:
                failures = 0
                self.recoveries += 1
                self._down.clear()
                self._up.set()
                _log.warning("redis_recovered")
            with suppress(RedisAway):
                for work in self._beats:
                    await work()

    async def _renew(self) -> None:
        lease = self._client.set(self.key("owner", self.owner), "1", px=round(self.lease_s * 1_000))
        await with_timeout(ANSWER_S, lease)
