"""Turns that another process runs: two of them share a store, and know of each other by Redis."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from redis.asyncio import Redis

from proviso_service.errors import InvalidRequest, TurnElsewhere, TurnExpired, TurnNotWaiting, TurnUnknown
from proviso_service.turns import (
    ExitCause,
    ExitReason,
    FinalState,
    LoggedEvent,
    OnDisconnect,
    Replicas,
    Token,
    TurnConfig,
    TurnProgram,
    Turns,
    TurnState,
)
from tests.support.redis_server import RedisServer
from tests.support.replicas import new_prefix, replica
from tests.turns.asking import ONCE, Asking
from tests.turns.memory_turn_store import MemoryTurnStore
from tests.turns.scripted import (
    ANN,
    ASKED,
    BEN,
    QUESTION,
    TURN_START,
    Gated,
    assert_gapless,
    collect,
    emits,
    final_of,
    read_to,
    text_of,
)

TOKENS = tuple(Token("a", f"{number} ") for number in range(50))


@dataclass
class Two:
    """The process that runs the turns, and another one."""

    owner: Turns
    other: Turns
    store: MemoryTurnStore
    prefix: str


@asynccontextmanager
async def process(
    program: TurnProgram,
    store: MemoryTurnStore,
    owner: str,
    replicas: Replicas | None,
    config: TurnConfig,
) -> AsyncIterator[Turns]:
    """The turns of one process."""
    turns = Turns(program, store, config, owner=owner, max_running=1_000, replicas=replicas)
    await turns.open()
    try:
        yield turns
    finally:
        await turns.close()


@asynccontextmanager
async def two(server: RedisServer, program: TurnProgram, **settings: float) -> AsyncIterator[Two]:
    store, prefix, config = MemoryTurnStore(), new_prefix(), TurnConfig.model_validate(settings)
    async with (
        replica(server, prefix, "owner", lease_s=config.lease_s) as first,
        replica(server, prefix, "other", lease_s=config.lease_s) as second,
        process(program, store, "owner", first, config) as owner,
        process(program, store, "other", second, config) as other,
    ):
        yield Two(owner, other, store, prefix)


async def test_a_running_turn_is_read_elsewhere_from_any_position(redis_server: RedisServer) -> None:
    program = Gated((TURN_START, *TOKENS), after=(Token("b", "end"),))
    async with two(redis_server, program) as replicas:
        turn_id = await replicas.owner.start(ANN, QUESTION)
        first = await read_to(replicas.other, turn_id, 20)
        reading = asyncio.create_task(collect(replicas.other, turn_id, first[-1].sequence))
        program.gate.set()
        rest = await reading
        here = await collect(replicas.owner, turn_id)
    assert_gapless([*first, *rest], 0, 53)
    assert text_of([*first, *rest]) == text_of(here)
    assert final_of(rest) == final_of(here)


async def test_an_ended_turn_is_read_elsewhere_while_its_events_are_kept_and_by_its_end_afterwards(
    redis_server: RedisServer,
) -> None:
    async with two(redis_server, emits(TURN_START, *TOKENS)) as replicas:
        turn_id = await replicas.owner.start(ANN, QUESTION)
        state = await replicas.owner.wait(ANN, turn_id)
        assert_gapless(await read_to(replicas.other, turn_id, 52), 0, 52)
        replicas.owner.forget([turn_id])
        again = await replicas.owner.start(ANN, QUESTION)  # written after the first was withdrawn
        await replicas.other.wait(ANN, again)
        assert [(e.sequence, e.event) for e in await collect(replicas.other, turn_id)] == [(52, state)]


async def test_a_turn_is_waited_for_elsewhere(redis_server: RedisServer) -> None:
    program = Gated()
    async with two(redis_server, program) as replicas:
        turn_id = await replicas.owner.start(ANN, QUESTION)
        waiting = asyncio.create_task(replicas.other.wait(ANN, turn_id))
        await program.waiting.wait()
        program.gate.set()
        assert (await waiting).exit_reason is ExitReason.COMPLETED


async def test_the_same_request_elsewhere_is_answered_by_the_turn_that_it_began(redis_server: RedisServer) -> None:
    program, request = Gated(), replace(QUESTION, request_id="once")
    async with two(redis_server, program) as replicas:
        turn_id = await replicas.owner.start(ANN, request)

        async def tell(told: str) -> None:
            assert told == turn_id
            program.gate.set()

        assert (await replicas.other.invoke(ANN, request, tell))[0] == turn_id


async def test_a_wait_that_is_cancelled_elsewhere_cancels_the_turn(redis_server: RedisServer) -> None:
    program = Gated()
    async with two(redis_server, program) as replicas:
        turn_id = await replicas.owner.start(ANN, QUESTION)
        waiting = asyncio.create_task(replicas.other.wait(ANN, turn_id))
        await read_to(replicas.other, turn_id, 1)
        waiting.cancel()
        assert (await replicas.owner.wait(ANN, turn_id)).exit_cause is ExitCause.CANCELLED_BY_CALLER


async def test_a_turn_is_cancelled_elsewhere_and_once(redis_server: RedisServer) -> None:
    async with two(redis_server, Gated()) as replicas:
        turn_id = await replicas.owner.start(ANN, QUESTION)
        assert await replicas.other.cancel(ANN, turn_id)
        assert not await replicas.other.cancel(ANN, turn_id)
        assert final_of(await collect(replicas.other, turn_id)).exit_reason is ExitReason.CANCELLED


async def test_a_decision_is_made_elsewhere(redis_server: RedisServer) -> None:
    async with two(redis_server, Asking().program) as replicas:
        turn_id = await replicas.owner.start(ANN, QUESTION)
        await read_to(replicas.other, turn_id, 4)
        seen = await replicas.other.get(ANN, turn_id)
        assert (seen.state, seen.last_sequence) == (TurnState.AWAITING_APPROVAL, 4)
        assert [asked.call_id for asked in seen.pending_approvals] == [ASKED.call_id]
        with pytest.raises(TurnNotWaiting):
            await replicas.other.decide(ANN, turn_id, "another call", ONCE)
        await replicas.other.decide(ANN, turn_id, ASKED.call_id, ONCE)
        assert (await replicas.other.wait(ANN, turn_id)).exit_reason is ExitReason.COMPLETED


async def test_a_reader_elsewhere_counts_until_it_leaves(redis_server: RedisServer) -> None:
    program = Gated()
    async with two(redis_server, program) as replicas:
        turn_id = await replicas.owner.start(ANN, replace(QUESTION, on_disconnect=OnDisconnect.CANCEL))
        async with aclosing(replicas.other.read(ANN, turn_id, 0)) as items:
            assert await anext(items)
        await replicas.store.reached["finish"].wait()
        final_state = await replicas.owner.wait(ANN, turn_id)
    assert final_state.exit_reason is ExitReason.CANCELLED


async def test_strangers_and_wrong_positions_are_refused_elsewhere_as_here(redis_server: RedisServer) -> None:
    async with two(redis_server, Gated()) as replicas:
        turn_id = await replicas.owner.start(ANN, QUESTION)
        with pytest.raises(TurnUnknown):
            await collect(replicas.other, turn_id, caller=BEN)
        await read_to(replicas.other, turn_id, 1)
        with pytest.raises(InvalidRequest):
            await collect(replicas.other, turn_id, after=2)


async def test_a_turn_whose_process_is_gone_has_expired_until_it_is_ended(redis_server: RedisServer) -> None:
    store, prefix = MemoryTurnStore(), new_prefix()
    async with (
        replica(redis_server, prefix, "other") as second,
        process(Gated(), store, "gone", None, TurnConfig()) as gone,
        process(Gated(), store, "other", second, TurnConfig()) as other,
    ):
        turn_id = await gone.start(ANN, QUESTION)
        with pytest.raises(TurnExpired):
            await collect(other, turn_id)
        with pytest.raises(TurnExpired):
            await other.cancel(ANN, turn_id)


async def test_events_are_there_where_a_turn_was_taken_over_and_has_ended_while_its_first_process_was_asked(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proviso_service.turns.elsewhere._ANSWER_S", 0.5)
    program = Gated((TURN_START, *TOKENS))
    async with two(redis_server, program) as replicas, replica(redis_server, replicas.prefix, "silent"):
        turn_id = await replicas.owner.start(ANN, QUESTION)
        await read_to(replicas.owner, turn_id, 51)
        row = replicas.store.rows[turn_id]
        row.record = replace(row.record, owner="silent")
        reading = asyncio.create_task(collect(replicas.other, turn_id))
        await replicas.store.calls("get", 1)
        row.record = replace(row.record, owner="owner")
        program.gate.set()
        with pytest.raises(TurnElsewhere):
            await reading
        assert_gapless(await collect(replicas.other, turn_id), 0, 52)


async def test_an_end_that_got_lost_is_given_from_the_store(redis_server: RedisServer) -> None:
    async with (
        two(redis_server, emits(TURN_START), heartbeat_s=0.2) as replicas,
        Redis.from_url(redis_server.url) as redis,
    ):
        turn_id = await replicas.owner.start(ANN, QUESTION)
        await replicas.other.wait(ANN, turn_id)
        key = f"{replicas.prefix}:turn:{turn_id}"
        last: Any = await redis.xrevrange(key, count=1)
        assert await redis.xdel(key, last[0][0]) == 1
        assert final_of(await collect(replicas.other, turn_id)).exit_reason is ExitReason.COMPLETED


async def test_while_redis_is_away_the_owner_goes_on_and_others_name_it(own_redis: RedisServer) -> None:
    program = Gated((TURN_START,), after=TOKENS)
    async with two(own_redis, program, lease_s=1.5) as replicas:
        turn_id = await replicas.owner.start(ANN, replace(QUESTION, on_disconnect=OnDisconnect.CONTINUE))
        await read_to(replicas.other, turn_id, 1)
        here = asyncio.create_task(collect(replicas.owner, turn_id))
        there = asyncio.create_task(collect(replicas.other, turn_id, 1))
        await read_to(replicas.owner, turn_id, 1)
        own_redis.kill()
        with pytest.raises(TurnElsewhere) as told:
            await there
        assert told.value.owner == "owner"
        with pytest.raises(TurnElsewhere):
            await replicas.other.cancel(ANN, turn_id)
        program.gate.set()
        assert_gapless(await here, 0, 52)
        stored = await collect(replicas.other, turn_id, 1)
        assert [type(logged.event) for logged in stored] == [FinalState]
        own_redis.start()
        async with asyncio.timeout(20):
            seen = await collected_once_redis_is_back(replicas.other, turn_id)
        assert_gapless(seen, 0, 52)


async def collected_once_redis_is_back(turns: Turns, turn_id: str) -> list[LoggedEvent]:
    while True:
        seen = await collect(turns, turn_id)
        if len(seen) > 1:
            return seen
        await asyncio.sleep(0.01)


async def test_a_turn_that_is_handed_over_goes_on_in_its_stream_for_readers_anywhere(
    redis_server: RedisServer,
) -> None:
    store, prefix, config = MemoryTurnStore(), new_prefix(), TurnConfig(lease_s=0.5)
    first, second = Gated((TURN_START, *TOKENS)), Gated((TURN_START, Token("b", "again")))
    async with (
        replica(redis_server, prefix, "other", lease_s=0.5) as others,
        replica(redis_server, prefix, "third", lease_s=0.5) as thirds,
    ):
        async with (
            replica(redis_server, prefix, "owner", lease_s=0.5) as owners,
            process(first, store, "owner", owners, config) as owner,
        ):
            turn_id = await owner.start(ANN, QUESTION)
            seen = await read_to(owner, turn_id, 51)
        async with process(second, store, "other", others, config) as other:
            await second.waiting.wait()  # it has taken the turn
            async with process(Gated(), store, "third", thirds, config) as third:
                reading = asyncio.create_task(collect(third, turn_id))
                second.gate.set()
                rest = await collect(other, turn_id, seen[-1].sequence)
                whole = await reading
    assert_gapless([*seen, *rest], 0, 53)
    assert_gapless(whole, 0, 53)
    assert text_of(whole) == text_of(seen) + "again", "the stream has all that was shown of it"
    assert final_of(whole) == final_of(rest)
