"""Random scripts of events, written and read by Redis, from which an entry may get lost."""

import asyncio
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from proviso_service.turns import Event, EventsMissing, LoggedEvent
from tests.backends.redis.test_redis_turn_logs import new_log, taken_to, two
from tests.support.redis_server import RedisServer
from tests.turns.scripted import assert_gapless
from tests.turns.test_turn_log_properties import EVENTS, PATIENT, unjoined

BATCHES = st.lists(st.lists(EVENTS, min_size=1, max_size=6), min_size=1, max_size=4)


@settings(PATIENT, max_examples=25)
@given(batches=BATCHES, start=st.integers(0, 20), lost=st.integers(0, 3))
def test_every_sequence_comes_once_and_in_order_and_a_lost_entry_is_told(
    redis_server: RedisServer, batches: list[list[Event]], start: int, lost: int
) -> None:
    script = [event for batch in batches for event in batch]
    ends = list(accumulate(len(batch) for batch in batches))
    start, lost = min(start, len(script)), min(lost, len(batches) - 1)

    async def scenario() -> None:
        log = new_log()
        async with two(redis_server) as (owner, other, prefix), Redis.from_url(redis_server.url) as redis:
            owner.publish("turn", log)
            seen: list[LoggedEvent] = []
            async with other.following("turn") as followed:
                for batch in batches:
                    for event in batch:
                        log.append(event)
                    seen += await taken_to(followed, log.last_sequence, seen[-1].sequence if seen else 0)
                late = await taken_to(followed, log.last_sequence, start)
            assert_gapless(seen, 0, len(script))
            assert unjoined([logged.event for logged in seen]) == unjoined(script)
            assert_gapless(late, start, len(script))
            assert unjoined([logged.event for logged in late]) == unjoined(script[start:])

            assert await redis.xdel(f"{prefix}:turn:turn", f"{ends[lost]}-0") == 1
            before = ends[lost] - len(batches[lost])
            async with other.following("turn") as followed:
                assert_gapless(await taken_to(followed, before), 0, before)
                if lost < len(batches) - 1:
                    with pytest.raises(EventsMissing):
                        await followed.wait(before, timeout_s=20)
                else:
                    assert not await followed.wait(before, timeout_s=0.01)

    asyncio.run(scenario())
