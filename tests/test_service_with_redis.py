"""The whole service with a Redis, which may be lost."""

import asyncio
from pathlib import Path

from redis.asyncio import Redis

from tests.support.redis_server import RedisServer
from tests.support.running import final_of, running_service
from tests.support.scripted_model import text


async def test_a_turn_is_shown_in_redis_and_goes_on_without_it(
    tmp_path: Path, models_dir: Path, own_redis: RedisServer
) -> None:
    storage = {"redis_url": own_redis.url}
    async with running_service(tmp_path / "data", models_dir, text("Thirty days."), storage=storage) as service:
        events = await service.ask("What is the notice period?")
        async with Redis.from_url(own_redis.url) as redis:
            key = f"proviso:turn:{events[0].turn_id}"
            async with asyncio.timeout(20):
                await redis.xread({key: f"{events[-1].sequence - 1}-0"}, block=0)
            assert await redis.pttl(key) > 0
        own_redis.kill()
        without_redis = await service.ask("What is the notice period?")
        assert final_of(without_redis).message == final_of(events).message
