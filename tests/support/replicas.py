"""Processes that know of each other by Redis, as many as a test wants, in its own process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from proviso_service.backends.redis.link import RedisLink
from proviso_service.backends.redis.replicas import RedisReplicas
from tests.support.redis_server import RedisServer


def new_prefix() -> str:
    """Keys that no other test has."""
    return f"test-{uuid4().hex}"


@asynccontextmanager
async def replica(
    server: RedisServer, prefix: str, owner: str = "owner", *, lease_s: float = 15.0, log_ttl_s: float = 60.0
) -> AsyncIterator[RedisReplicas]:
    """One of the processes that share the keys of `prefix`."""
    replicas = RedisReplicas(RedisLink(server.url, owner, lease_s, prefix), log_ttl_s)
    async with replicas.open():
        yield replicas
