"""Computations of what several processes need at the same time: one of them computes it, and the others wait for it.

Who computes holds a lease, which is renewed while its process lives. The others look at the lease in growing pauses. At
the end of a computation it is noted for a while that it is over, so that whoever waited for it waits for no other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from uuid import uuid4

from redis.asyncio.client import Pipeline

from proviso_service.backends.redis.link import RedisAway, RedisLink
from proviso_service.retrying import Backoff

_LOOKS = Backoff(first_s=0.02, longest_s=0.25)

# Whether the awaited computation is over (''), or else whose computation it is now: the asker's, if nobody had it.
_LOOK = """
if redis.call('EXISTS', KEYS[2]) == 1 then return '' end
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return ARGV[1] end
return redis.call('GET', KEYS[1])
"""

_RENEW = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
"""

_LEAVE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('UNLINK', KEYS[1]) end
if ARGV[3] == 'over' then redis.call('SET', KEYS[2], '1', 'PX', ARGV[2]) end
"""


class Computations:
    """The computations of this process, each under a lease as long as that of the process."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link
        self._lease_ms = round(link.lease_s * 1_000)
        self._held: dict[str, str] = {}
        link.on_beat(self._renew)

    @asynccontextmanager
    async def computing(self, name: str) -> AsyncIterator[bool]:
        """A block that computes what is called `name`, once no other process does; see `Cache.computing`."""
        number = uuid4().hex
        if not await self._is_mine(name, number):
            yield False
            return
        self._held[name] = number
        end = "over"
        try:
            yield True
        except asyncio.CancelledError:
            end = "given up"
            raise
        finally:
            del self._held[name]
            with suppress(RedisAway):  # the lease ends by itself
                await self._link.run(partial(self._leave, name, number, end))

    async def _is_mine(self, name: str, number: str) -> bool:
        """Waits until nobody computes this, and returns True, or until the computation that was waited for is over. A
        computation that was given up, or whose process was killed, is not. Without Redis nobody waits."""
        awaited, looks = "", 0
        while True:
            try:
                [found] = await self._link.run(partial(self._look, name, number, awaited))
            except RedisAway:
                return True
            holder = found.decode()
            if holder in ("", number):
                return bool(holder)
            awaited = holder
            looks += 1
            await asyncio.sleep(_LOOKS.pause_s(looks))

    def _look(self, name: str, number: str, awaited: str, pipeline: "Pipeline") -> None:
        pipeline.eval(_LOOK, 2, self._lease(name), self._over(awaited), number, self._lease_ms)

    def _leave(self, name: str, number: str, end: str, pipeline: "Pipeline") -> None:
        pipeline.eval(_LEAVE, 2, self._lease(name), self._over(number), number, self._lease_ms, end)

    async def _renew(self) -> None:
        held = dict(self._held)

        def fill(pipeline: "Pipeline") -> None:
            for name, number in held.items():
                pipeline.eval(_RENEW, 1, self._lease(name), number, self._lease_ms)

        if held:
            await self._link.run(fill)

    def _lease(self, name: str) -> str:
        return self._link.key("computing", name)

    def _over(self, number: str) -> str:
        return self._link.key("computed", number)
