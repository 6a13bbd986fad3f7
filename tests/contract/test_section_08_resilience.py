"""Behavioural contract, section 8: resilience. Its statements about caches are in test_section_08_caching.py."""

from itertools import pairwise
from statistics import mean

import httpx
import pytest
from tenacity import RetryCallState, Retrying

from proviso_service.retrying import Backoff, RetryPolicy
from proviso_service.turns import ExitReason, TurnConfig
from tests.support.contract_world import EXTRACT, ContractWorld, Mode
from tests.support.scripted_model import Step, calls, text

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANSWER = "It is “governed by the laws of the State of Oregon” [1]."


def refusal(status: int) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://away.invalid/")
    return httpx.HTTPStatusError("no", request=request, response=httpx.Response(status))


@pytest.mark.parametrize("error", [ConnectionError(), refusal(503), refusal(429), httpx.ReadTimeout("")])
async def test_8_6_a_tool_that_fails_for_the_moment_is_called_again(
    world: ContractWorld, mode: Mode, error: Exception
) -> None:
    world.extractor.failures = [error]
    turn = await world.ask(calls(EXTRACT), text(ANSWER), mode=mode)
    assert turn.reason is ExitReason.COMPLETED
    assert [end.error for end in turn.of_kind("tool_end")] == [""]


@pytest.mark.parametrize("error", [ConnectionError(), refusal(503), refusal(429), TimeoutError()])
async def test_8_7_a_model_that_fails_for_the_moment_is_called_again(
    world: ContractWorld, mode: Mode, error: Exception
) -> None:
    turn = await world.ask(Step(error=error), text("Which one?"), mode=mode)
    assert (turn.reason, turn.final.cycles, turn.final.usage.model_calls) == (ExitReason.COMPLETED, 1, 2)


async def test_8_8_waits_grow_exponentially_and_differ() -> None:
    waits = [[wait_before_retry(retry) for _ in range(200)] for retry in range(4)]
    assert all(len(set(drawn)) > 100 for drawn in waits)
    assert all(1.5 < mean(after) / mean(before) < 2.7 for before, after in pairwise(waits))
    assert max(wait_before_retry(30) for _ in range(200)) <= 8.0


def wait_before_retry(number: int) -> float:
    """Seconds before the retry of this number, from 0, as the settings have it."""
    backoff = Backoff(TurnConfig().retry_base_s, TurnConfig().retry_max_s)
    attempts = RetryPolicy(40, backoff).attempts(lambda _: True)
    state = RetryCallState(Retrying(), None, (), {})
    state.attempt_number = number + 1
    return float(attempts.wait(state))


async def test_8_9_a_tool_is_called_again_three_times_at_most(world: ContractWorld, mode: Mode) -> None:
    assert (TurnConfig().tool_retries, TurnConfig().model_retries) == (3, 2)
    world.extractor.calls.clear()
    world.extractor.failures = [ConnectionError("secret")] * 4
    turn = await world.ask(calls(EXTRACT), text("I could not look that up."), mode=mode)
    assert (turn.reason, len(world.extractor.calls)) == (ExitReason.COMPLETED, 4)
    (end,) = turn.of_kind("tool_end")
    assert end.error
    assert "secret" not in str(turn.events)


async def test_8_10_a_model_is_called_again_twice_at_most(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(*[Step(error=ConnectionError())] * 3, mode=mode)
    assert (turn.reason, turn.final.usage.model_calls) == (ExitReason.LLM_ERROR, 3)


async def test_8_11_retries_do_not_count_as_tool_calls(world: ContractWorld, mode: Mode) -> None:
    world.extractor.failures = [ConnectionError()] * 3
    turn = await world.ask(calls(EXTRACT), calls(EXTRACT, EXTRACT), text(ANSWER), mode=mode)
    assert (turn.reason, turn.final.tool_calls) == (ExitReason.COMPLETED, 3)
    assert len(turn.of_kind("tool_start")) == 3


async def test_8_12_a_failure_that_lasts_is_not_tried_again(world: ContractWorld, mode: Mode) -> None:
    world.extractor.calls.clear()
    world.extractor.failures = [refusal(400)]
    turn = await world.ask(calls(EXTRACT), Step(error=refusal(400)), mode=mode)
    assert (turn.reason, len(world.extractor.calls)) == (ExitReason.LLM_ERROR, 1)
    assert turn.final.usage.model_calls == 2


async def test_8_13_a_stream_that_breaks_is_voided_and_written_again(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(Step(["Hello. ", "Which "], error=ConnectionError()), text("Which ", "one?"), mode=mode)
    assert turn.reason is ExitReason.COMPLETED
    assert turn.discarded == ["MODEL_RETRY"]
    assert turn.final.message == turn.standing_text == "Which one?"
    (discarded,) = turn.of_kind("text_discarded")
    assert discarded.text_id not in [t.text_id for t in turn.of_kind("token")][1:]
