"""What is sent to Redis while the sender is cancelled."""

import asyncio
from itertools import count
from typing import Any

from redis.asyncio.client import Pipeline

from proviso_service.backends.redis.link import RedisLink
from tests.support.redis_server import RedisServer
from tests.support.replicas import new_prefix


def ask(pipeline: "Pipeline") -> None:
    pipeline.exists("anything")


async def test_a_cancellation_is_never_lost_however_far_a_command_has_come(redis_server: RedisServer) -> None:
    link = RedisLink(redis_server.url, "owner", 15.0, new_prefix())
    async with link.open():
        for rounds in count():
            asking: asyncio.Task[list[Any]] = asyncio.create_task(link.run(ask))
            for _ in range(rounds):
                await asyncio.sleep(0)
            if not asking.cancel():
                break
            await asyncio.wait([asking])
            assert asking.cancelled()
        assert await link.run(ask) == [0]
