"""A turn's log as another process sees it by Redis."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import Redis

from proviso_service.backends.redis.link import RedisAway
from proviso_service.backends.redis.replicas import RedisReplicas
from proviso_service.turns import EventsMissing, FollowedLog, LoggedEvent, MemoryTurnLog, Token
from tests.support.redis_server import RedisServer
from tests.support.replicas import new_prefix, replica
from tests.turns.scripted import TOOL_END, TOOL_START, TURN_START, assert_gapless, completed

FINAL = completed().final_state
MANY_CHARS = 1_000


def new_log() -> MemoryTurnLog:
    return MemoryTurnLog(100_000, 10_000_000)


@asynccontextmanager
async def two(server: RedisServer) -> AsyncIterator[tuple[RedisReplicas, RedisReplicas, str]]:
    """An owner, another process, and the prefix of their keys."""
    prefix = new_prefix()
    async with replica(server, prefix, "owner") as owner, replica(server, prefix, "other") as other:
        yield owner, other, prefix


async def taken_to(log: FollowedLog, last: int, after: int = 0) -> list[LoggedEvent]:
    """The events after a sequence up to `last`, as a reader takes them."""
    events: list[LoggedEvent] = []
    while after < last:
        assert await log.wait(after, timeout_s=20)
        logged = log.take(after, MANY_CHARS)
        assert logged is not None
        events.append(logged)
        after = logged.sequence
    return events


async def test_another_process_sees_every_event_once_and_in_order(redis_server: RedisServer) -> None:
    log = new_log()
    async with two(redis_server) as (owner, other, _):
        owner.publish("turn-1", log)
        for event in (TURN_START, Token("a", "Thirty "), Token("a", "days\ud800"), TOOL_START, TOOL_END):
            log.append(event)
        async with other.following("turn-1") as followed:
            seen = await taken_to(followed, 5)
            log.append(Token("b", "§ 4"))
            log.end(FINAL)
            seen += await taken_to(followed, 7, after=5)
            assert followed.final_state == FINAL
    assert_gapless(seen, 0, 7)
    texts = [Token("a", "Thirty days\ud800"), Token("b", "§ 4")]
    assert [logged.event for logged in seen] == [TURN_START, texts[0], TOOL_START, TOOL_END, texts[1], FINAL]


async def test_a_reader_may_go_on_within_tokens_that_were_written_together(redis_server: RedisServer) -> None:
    log = new_log()
    async with two(redis_server) as (owner, other, _):
        owner.publish("turn-1", log)
        for text in ("one ", "two ", "three"):
            log.append(Token("a", text))
        async with other.following("turn-1") as followed:
            await taken_to(followed, 3)
            rest = followed.take(1, MANY_CHARS)
    assert rest is not None
    assert (rest.first_sequence, rest.sequence, rest.event) == (2, 3, Token("a", "two three"))


async def test_a_log_that_had_events_before_it_was_published_is_there_as_a_whole(redis_server: RedisServer) -> None:
    log = new_log()
    log.append(TURN_START)
    async with two(redis_server) as (owner, other, _):
        owner.publish("turn-1", log)
        async with other.following("turn-1") as followed:
            assert_gapless(await taken_to(followed, 1), 0, 1)


async def test_a_log_whose_events_are_lost_keeps_no_other_from_being_written(redis_server: RedisServer) -> None:
    # Its process was killed when more of its events were on record than were shown, and none was stored.
    taken_over, log = MemoryTurnLog(100_000, 10_000_000, lost=5), new_log()
    async with two(redis_server) as (owner, other, _):
        owner.publish("turn-1", taken_over, 3)
        owner.publish("turn-2", log)
        log.append(TURN_START)
        async with other.following("turn-2") as followed:
            assert_gapless(await taken_to(followed, 1), 0, 1)


async def test_a_missing_entry_is_told_and_not_passed_over(redis_server: RedisServer) -> None:
    log = new_log()
    async with two(redis_server) as (owner, other, prefix), Redis.from_url(redis_server.url) as redis:
        owner.publish("turn-1", log)
        async with other.following("turn-1") as first:
            for event in (TURN_START, TOOL_START, TOOL_END):
                log.append(event)
                await taken_to(first, log.last_sequence, log.last_sequence - 1)
        assert await redis.xdel(f"{prefix}:turn:turn-1", "2-0") == 1
        async with other.following("turn-1") as followed:
            assert_gapless(await taken_to(followed, 1), 0, 1)
            with pytest.raises(EventsMissing):
                await followed.wait(1, timeout_s=20)


async def test_an_entry_that_is_no_log_is_told_as_missing(redis_server: RedisServer) -> None:
    async with two(redis_server) as (_, other, prefix), Redis.from_url(redis_server.url) as redis:
        await redis.xadd(f"{prefix}:turn:turn-1", {"events": '[[1.0, "no kind", {}]]'}, id="1-0")
        async with other.following("turn-1") as followed:
            with pytest.raises(EventsMissing):
                await followed.wait(0, timeout_s=20)


async def test_a_withdrawn_log_is_gone_and_others_expire(redis_server: RedisServer) -> None:
    gone, kept = new_log(), new_log()
    async with two(redis_server) as (owner, other, prefix), Redis.from_url(redis_server.url) as redis:
        for name, log in (("gone", gone), ("kept", kept)):
            owner.publish(name, log)
            log.append(TURN_START)
        async with other.following("gone") as first, other.following("kept") as second:
            await taken_to(first, 1)
            await taken_to(second, 1)
        owner.withdraw("gone")
        kept.append(TOOL_START)
        async with other.following("kept") as second:
            await taken_to(second, 2)  # written after the withdrawal
        assert not await other.has_log("gone")
        assert await other.has_log("kept")
        assert 0 < await redis.pttl(f"{prefix}:turn:kept") <= 60_000


async def test_no_event_is_lost_when_redis_is_killed_and_loses_everything(own_redis: RedisServer) -> None:
    log = new_log()
    async with two(own_redis) as (owner, other, _):
        owner.publish("turn-1", log)
        async with other.following("turn-1") as followed:
            seen: list[LoggedEvent] = []
            for round_number in range(3):
                for number in range(200):
                    log.append(Token(f"text-{round_number}", f"{number} "))
                seen += await taken_to(followed, log.last_sequence - 100, after=len_of(seen))
                own_redis.kill()
                log.append(TOOL_START)
                own_redis.start()
            log.end(FINAL)
            seen += await taken_to(followed, log.last_sequence, after=len_of(seen))
        await asyncio.wait_for(until_there(other), 20)  # what is read may be back before what is asked
        async with other.following("turn-1") as again:
            assert_gapless(await taken_to(again, log.last_sequence), 0, 604)
    assert_gapless(seen, 0, 604)


def len_of(seen: list[LoggedEvent]) -> int:
    return seen[-1].sequence if seen else 0


async def test_readers_elsewhere_are_told_that_redis_is_away_and_come_back_when_it_is_there(
    own_redis: RedisServer,
) -> None:
    log = new_log()
    async with two(own_redis) as (owner, other, _):
        owner.publish("turn-1", log)
        log.append(TURN_START)
        async with other.following("turn-1") as followed:
            await taken_to(followed, 1)
            own_redis.kill()
            with pytest.raises(RedisAway):
                await followed.wait(1, timeout_s=20)
        with pytest.raises(RedisAway):
            await other.has_log("turn-1")
        log.append(TOOL_START)
        own_redis.start()
        await asyncio.wait_for(until_there(other), 20)
        async with other.following("turn-1") as followed:
            assert_gapless(await taken_to(followed, 2), 0, 2)


async def until_there(replicas: RedisReplicas) -> None:
    while True:
        try:
            await replicas.has_log("turn-1")
        except RedisAway:
            await asyncio.sleep(0.01)
        else:
            return
