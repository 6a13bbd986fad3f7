"""Tests of calls under way: how many there may be, which go first, and how they end."""

import asyncio

import pytest

from proviso_service.backends.isaacus.analysis import IsaacusClassifier
from proviso_service.backends.isaacus.client import IsaacusClient, IsaacusConfig
from proviso_service.errors import ModelApiRefused, NotReady, TooBusy
from proviso_service.models import ModelPassage
from tests.backends.isaacus.conftest import IsaacusWorld
from tests.support.isaacus_server import problem


def passages(count: int) -> list[ModelPassage]:
    return [ModelPassage(f"clause {number}") for number in range(count)]


def one_by_one(client: IsaacusClient) -> IsaacusClassifier:
    return IsaacusClassifier(client, IsaacusConfig(texts_per_call=1))


async def test_batches_of_a_call_run_at_once_up_to_the_bound(world: IsaacusWorld) -> None:
    world.server.shut()
    scoring = asyncio.create_task(one_by_one(world.client(calls_at_once=4)).score("clause", passages(9)))
    await world.server.until_running(3)
    world.server.open()
    await scoring
    assert (world.server.attempts, world.server.most_running) == (9, 3)


async def test_the_bound_holds_for_all_callers_and_keeps_a_place_for_a_search(world: IsaacusWorld) -> None:
    world.server.shut()
    client = world.client(calls_at_once=3)
    scorings = [asyncio.create_task(one_by_one(client).score("clause", passages(5))) for _ in range(4)]
    await world.server.until_running(2)
    query = asyncio.create_task(world.embedder(client).embed_query("a query"))
    await world.server.until_running(3)
    assert len(world.server.asked) == 0
    world.server.open()
    await asyncio.gather(query, *scorings)
    assert (world.server.attempts, world.server.most_running) == (21, 3)


async def test_one_place_serves_everybody(world: IsaacusWorld) -> None:
    client = world.client(calls_at_once=1)
    await asyncio.gather(
        one_by_one(client).score("clause", passages(3)),
        world.embedder(client).embed_query("a query"),
        one_by_one(client).score("clause", passages(3)),
    )
    assert (world.server.attempts, world.server.most_running) == (7, 1)


async def test_cancelling_the_caller_ends_its_calls_and_frees_their_places(world: IsaacusWorld) -> None:
    world.server.shut()
    client = world.client(calls_at_once=3)
    scoring = asyncio.create_task(one_by_one(client).score("clause", passages(10)))
    await world.server.until_running(2)
    scoring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await scoring
    await world.server.until_running(0)
    assert world.server.attempts == 2
    world.server.open()
    assert len(await one_by_one(client).score("clause", passages(4))) == 4


async def test_the_first_failure_ends_the_other_batches(world: IsaacusWorld) -> None:
    world.server.then(problem(400, "Bad request error"))
    with pytest.raises(ModelApiRefused, match="Bad request error"):
        await one_by_one(world.client(calls_at_once=2)).score("clause", passages(50))
    assert world.server.attempts == 1


async def test_too_many_waiting_calls_are_refused(world: IsaacusWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proviso_service.backends.hosted_calls.MAX_WAITING", 2)
    world.server.shut()
    client = world.client(calls_at_once=1)
    running = [asyncio.create_task(world.embedder(client).embed_query("a query")) for _ in range(3)]
    await world.server.until_running(1)
    with pytest.raises(TooBusy):
        await world.embedder(client).embed_query("a query")
    world.server.open()
    await asyncio.gather(*running)


async def test_a_closed_client_refuses_calls_and_those_that_wait(world: IsaacusWorld) -> None:
    world.server.shut()
    client = world.client(calls_at_once=1)
    embedder = world.embedder(client)
    running = [asyncio.create_task(embedder.embed_query("a query")) for _ in range(2)]
    await world.server.until_running(1)
    await client.close()
    world.server.open()
    ended = await asyncio.gather(*running, return_exceptions=True)
    assert isinstance(ended[1], NotReady)
    with pytest.raises(NotReady):
        await embedder.embed_query("a query")
    assert world.server.attempts == 1
