"""Chooses how processes that share a state know of each other."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from socket import gethostname
from typing import TYPE_CHECKING
from uuid import uuid4

from limits.aio.storage import MemoryStorage, Storage

from proviso_service.errors import Unavailable
from proviso_service.notices import ALONE, OWNER_ALONE, Notices
from proviso_service.settings import Settings
from proviso_service.turns import Replicas, TurnConfig

if TYPE_CHECKING:
    from proviso_service.backends.redis.link import RedisLink


@dataclass(frozen=True, slots=True)
class Shared:
    """What a process shares with others. `owner` names it, and `replicas` is None where there are no others. What is
    used of quotas is counted in `counters`."""

    owner: str
    replicas: Replicas | None
    notices: Notices
    counters: Storage
    link: "RedisLink | None" = None

    def tell(self, reachable: Callable[[str, bool], Awaitable[None]], stack: AsyncExitStack) -> None:
        """Tells, until the stack is closed, whether the others can be reached, where there may be some."""
        if self.link is not None:
            telling = asyncio.create_task(_keep_telling(self.link, reachable), name="redis health")
            stack.callback(telling.cancel)


async def _keep_telling(link: "RedisLink", reachable: Callable[[str, bool], Awaitable[None]]) -> None:
    while True:
        await reachable("redis", True)
        await link.until_down()
        await reachable("redis", False)
        await link.until_up()


async def open_shared(settings: Settings, turns: TurnConfig, stack: AsyncExitStack) -> Shared:
    """Connects the process with the others, where there is a Redis. Raises Unavailable."""
    url = settings.storage.redis_url.get_secret_value()
    if not url:
        return Shared(OWNER_ALONE, None, ALONE, MemoryStorage())
    try:
        from proviso_service.backends.redis.counters import SharedCounters
        from proviso_service.backends.redis.link import RedisLink
        from proviso_service.backends.redis.replicas import RedisReplicas
    except ModuleNotFoundError as error:
        raise Unavailable("Redis takes a package: install proviso-service[replicas]") from error
    owner = f"{gethostname()}-{uuid4().hex[:12]}"
    link = RedisLink(url, owner, turns.lease_s)
    replicas = RedisReplicas(link, turns.log_ttl_s)
    await stack.enter_async_context(replicas.open())
    return Shared(owner, replicas, replicas.notices, SharedCounters(link), link)
