"""Tests of which calls are retried, when, and how often. The waits are recorded and not carried out."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from proviso_service.backends.hosted_calls import EndpointUsage
from proviso_service.errors import ModelApiError, ModelApiRefused, ModelApiUnavailable
from tests.backends.isaacus.conftest import IsaacusWorld
from tests.support.hosted_api import Fault, hangs_up, says
from tests.support.isaacus_server import problem

RETRIES: dict[str, Any] = {"retries": 2, "retry_base_s": 1.0, "retry_max_s": 8.0}


async def failure(world: IsaacusWorld, **settings: Any) -> ModelApiError:
    with pytest.raises(ModelApiError) as caught:
        await world.embedder(**settings).embed_query("a clause")
    return caught.value


@pytest.mark.parametrize(
    "fault",
    [hangs_up, *(problem(status) for status in (408, 409, 429, 500, 502, 503, 529))],
    ids=lambda fault: getattr(fault, "__name__", ""),
)
async def test_what_may_pass_is_tried_again(world: IsaacusWorld, fault: Fault) -> None:
    world.server.then(fault, fault)
    await world.embedder(**RETRIES).embed_query("a clause")
    assert world.server.attempts == 3
    first, second = world.waits
    assert 0.0 <= first <= 1.0
    assert 0.0 <= second <= 2.0


@pytest.mark.parametrize("status", [301, 307, 400, 401, 402, 403, 404, 413, 422])
async def test_what_somebody_has_to_mend_is_not_tried_again(world: IsaacusWorld, status: int) -> None:
    world.server.then(says(b"", status, location="/v1/elsewhere"))
    assert isinstance(await failure(world), ModelApiRefused)
    assert (world.server.attempts, world.waits) == (1, [])


async def test_after_the_last_try_the_failure_is_told(world: IsaacusWorld) -> None:
    world.server.always("embeddings", problem(500, "Internal server error"))
    told = await failure(world, **RETRIES)
    assert isinstance(told, ModelApiUnavailable)
    assert told.message == "Isaacus API error: Internal server error (status 500)"
    assert (world.server.attempts, len(world.waits)) == (3, 2)


async def test_retries_can_be_off(world: IsaacusWorld) -> None:
    world.server.then(problem(503))
    await failure(world, retries=0)
    assert (world.server.attempts, world.waits) == (1, [])


async def test_waits_end_growing(world: IsaacusWorld) -> None:
    world.server.always("embeddings", hangs_up)
    await failure(world, retries=6, retry_base_s=1.0, retry_max_s=5.0)
    assert max(world.waits) <= 5.0


async def test_a_wait_that_the_api_asks_for_is_kept(world: IsaacusWorld) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    world.server.then(
        problem(429, retry_after="7"), problem(503, retry_after=soon), problem(429, retry_after="as you like")
    )
    await world.embedder(retries=3, retry_base_s=0.1, retry_max_s=0.2).embed_query("a clause")
    asked, dated, own = world.waits
    assert 7.0 <= asked <= 7.1
    assert 15.0 <= dated <= 20.2
    assert own <= 0.2


async def test_a_longer_wait_than_the_bound_is_handed_on_to_the_caller(world: IsaacusWorld) -> None:
    world.server.then(problem(429, "Rate limit error", retry_after="3600"))
    told = await failure(world, retry_after_max_s=30.0)
    assert isinstance(told, ModelApiUnavailable)
    assert told.retry_after_s == 3600.0
    assert (world.server.attempts, world.waits) == (1, [])


@pytest.mark.parametrize(
    "value", ["", "inf", "nan", "1e999", "Mon, 32 Foo 2026", "Fri, 01 Jan 99999999999999999999 0:0:0"]
)
async def test_a_wait_that_makes_no_sense_is_none(world: IsaacusWorld, value: str) -> None:
    world.server.then(problem(429, retry_after=value))
    await world.embedder(retry_base_s=0.1, retry_max_s=0.2).embed_query("a clause")
    [own] = world.waits
    assert 0 < own <= 0.2


async def test_every_try_is_counted(world: IsaacusWorld) -> None:
    client = world.client(**RETRIES)
    world.server.then(problem(500), hangs_up)
    await world.embedder(client).embed_query("one two")
    world.server.then(problem(400))
    with pytest.raises(ModelApiRefused):
        await world.embedder(client).embed_query("one two")
    assert client.usage == {"embeddings": EndpointUsage(calls=2, tries=4, failures=1, input_tokens=2)}
