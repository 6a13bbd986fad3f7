"""A malformed answer is a failure in plain words, and never a result."""

import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from proviso_service.backends.isaacus.analysis import IsaacusClassifier, IsaacusExtractor
from proviso_service.backends.isaacus.client import IsaacusClient, IsaacusConfig
from proviso_service.backends.isaacus.retrieval import IsaacusReranker
from proviso_service.errors import ModelApiError, ModelApiRefused, ModelApiUnavailable
from proviso_service.models import ModelPassage
from tests.backends.isaacus.conftest import IsaacusWorld
from tests.support.hosted_api import changed, says
from tests.support.isaacus_server import problem

SETTINGS = IsaacusConfig()
PASSAGES = (ModelPassage("The fees are due."), ModelPassage("The lease ends."))

Ask = Callable[[IsaacusWorld, IsaacusClient], Awaitable[Any]]
Change = Callable[[dict[str, Any]], None]

ASKS: dict[str, tuple[str, Ask]] = {
    "embedder": (
        "embeddings",
        lambda world, client: world.embedder(client).embed_documents([p.text for p in PASSAGES]),
    ),
    "classifier": (
        "classifications",
        lambda _, client: IsaacusClassifier(client, SETTINGS).score("fees", PASSAGES),
    ),
    "reranker": ("results", lambda _, client: IsaacusReranker(client, SETTINGS).score("fees", PASSAGES)),
    "extractor": ("extractions", lambda _, client: IsaacusExtractor(client, SETTINGS).extract("fees", PASSAGES)),
}


def twice(results: list[dict[str, Any]]) -> None:
    results[1]["index"] = results[0]["index"]


def beyond(results: list[dict[str, Any]]) -> None:
    results[1]["index"] = 2


def negative(results: list[dict[str, Any]]) -> None:
    results[0]["index"] = -1


def without_index(results: list[dict[str, Any]]) -> None:
    del results[0]["index"]


async def told(world: IsaacusWorld, ask: Ask) -> ModelApiError:
    with pytest.raises(ModelApiError) as caught:
        await ask(world, world.client())
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return caught.value


@pytest.mark.parametrize("port", ASKS)
@pytest.mark.parametrize("spoil", [list.pop, twice, beyond, negative, without_index, list.clear])
async def test_each_text_has_exactly_one_result(
    world: IsaacusWorld, port: str, spoil: Callable[[list[dict[str, Any]]], Any]
) -> None:
    name, ask = ASKS[port]
    world.server.then(changed(lambda body: spoil(body[name])))
    failure = await told(world, ask)
    assert isinstance(failure, ModelApiUnavailable)
    assert failure.message.startswith("Isaacus API error: the answer cannot be used")


@pytest.mark.parametrize("port", ASKS)
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"{}", b"\xff", b"<html></html>", b'{"usage": {"input_tokens": -1}}']
)
async def test_what_is_no_answer_is_not_read(world: IsaacusWorld, port: str, body: bytes) -> None:
    world.server.then(says(body))
    failure = await told(world, ASKS[port][1])
    assert failure.message == "Isaacus API error: the answer cannot be used: it is malformed"
    assert world.server.attempts == 1


@pytest.mark.parametrize("port", ["classifier", "reranker"])
@pytest.mark.parametrize("score", [math.nan, math.inf, -0.01, 1.01, "0.5", None, True])
async def test_scores_are_numbers_from_0_to_1(world: IsaacusWorld, port: str, score: object) -> None:
    name, ask = ASKS[port]
    world.server.then(changed(lambda body: body[name][0].update(score=score)))
    assert isinstance(await told(world, ask), ModelApiUnavailable)


@pytest.mark.parametrize(
    "vector", [[1.0] * 7, [1.0] * 9, [], [0.0] * 8, [math.nan] * 8, [math.inf, *[1.0] * 7], ["1"] * 8]
)
async def test_vectors_have_the_dimensions_and_a_direction(world: IsaacusWorld, vector: list[Any]) -> None:
    world.server.then(changed(lambda body: body["embeddings"][1].update(embedding=vector)))
    assert isinstance(await told(world, ASKS["embedder"][1]), ModelApiUnavailable)


@pytest.mark.parametrize(
    "answer",
    [
        {"text": "fees", "start": 5, "end": 9, "score": 0.5},
        {"text": "due.", "start": 13, "end": 18, "score": 0.5},
        {"text": "fees", "start": 8, "end": 4, "score": 0.5},
        {"text": "fees", "start": -13, "end": -9, "score": 0.5},
        {"text": "fees", "start": 4, "end": 8, "score": 1.5},
        {"text": "fees", "start": 4.0, "end": 8, "score": 0.5},
    ],
)
async def test_answers_stand_where_they_say(world: IsaacusWorld, answer: dict[str, Any]) -> None:
    def spoil(body: dict[str, Any]) -> None:
        first = next(one for one in body["extractions"] if one["index"] == 0)
        first["answers"] = [answer]

    world.server.then(changed(spoil))
    assert isinstance(await told(world, ASKS["extractor"][1]), ModelApiUnavailable)


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        (400, "Invalid IQL query error", "Invalid IQL query error (status 400)"),
        (401, "Authentication error", "Authentication error (status 401); check ISAACUS_API_KEY"),
        (402, "Insufficient credit error", "Insufficient credit error (status 402); check the account's balance"),
        (413, "", "Request Entity Too Large (status 413)"),
        (404, "", "Not Found (status 404); check ISAACUS_BASE_URL"),
    ],
)
async def test_a_refusal_says_what_to_do(world: IsaacusWorld, status: int, said: str, expected: str) -> None:
    world.server.then(problem(status, said))
    failure = await told(world, ASKS["classifier"][1])
    assert isinstance(failure, ModelApiRefused)
    assert failure.message == f"Isaacus API error: {expected}"


async def test_a_wrong_key_is_said(world: IsaacusWorld) -> None:
    with pytest.raises(ModelApiRefused, match="check ISAACUS_API_KEY"):
        await world.embedder(world.client(key="another")).embed_query("fees")
    world.server.refused.clear()


async def test_an_address_where_nobody_answers_is_said(world: IsaacusWorld) -> None:
    client = world.client(base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ModelApiUnavailable, match="Isaacus API error: the connection failed"):
        await world.embedder(client).embed_query("fees")


async def test_an_answer_that_takes_too_long_is_said_and_its_call_ended(world: IsaacusWorld) -> None:
    world.server.shut()
    client = world.client(timeout_s=0.5, retries=1)
    with pytest.raises(ModelApiUnavailable, match=r"Isaacus API error: no answer within 0\.5 s"):
        await world.embedder(client).embed_query("fees")
    assert world.server.attempts == 2
    await world.server.until_running(0)
