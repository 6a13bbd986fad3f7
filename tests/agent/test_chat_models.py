"""Calls of a provider's model through its gate."""

import asyncio

import pytest

from proviso_service.agent.chat_models import ChatModelConfig, ModelGate
from proviso_service.agent.failures import CallNotMade, FailureKind
from proviso_service.turns import ExitCause, ExitReason, TurnLogFull
from tests.support.agent_world import AgentWorld, agent_world
from tests.support.scripted_model import Step, text


class Refusal(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(str(code))
        self.code = code


def gate(**settings: float) -> ModelGate:
    return ModelGate(ChatModelConfig.model_validate(settings))


def gated(*script: Step, **settings: float) -> AgentWorld:
    return agent_world(*script, gate=gate(**settings))


def fails(code: int) -> Step:
    return Step(error=Refusal(code))


FINE = text("Is it about the agreement?")


async def test_a_call_waits_for_its_place_and_no_longer_than_it_may() -> None:
    crowded = gate(calls_at_once=1, wait_s=0.01)
    async with crowded.call():
        with pytest.raises(CallNotMade) as refused:
            async with crowded.call():
                raise AssertionError("there is one place only")
        assert refused.value.kind is FailureKind.RATE_LIMITED
    async with crowded.call():
        pass


async def test_a_cancelled_call_gives_its_place_back_and_is_no_failure() -> None:
    crowded = gate(calls_at_once=1, failures_in_a_row=1, wait_s=5)
    held = asyncio.Event()

    async def hold() -> None:
        async with crowded.call():
            held.set()
            await asyncio.Event().wait()

    task = asyncio.ensure_future(hold())
    await held.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with crowded.call():
        pass


async def test_nobody_waits_for_a_place_at_a_provider_that_is_left_alone() -> None:
    closed = gate(calls_at_once=1, failures_in_a_row=1, wait_s=60, pause_s=60)
    with pytest.raises(ConnectionError):
        async with closed.call():
            raise ConnectionError
    async with asyncio.timeout(5):
        for _ in range(3):
            with pytest.raises(CallNotMade):
                async with closed.call():
                    raise AssertionError("it is left alone")


@pytest.mark.parametrize(("code", "reason"), [(429, ExitReason.RATE_LIMITED), (503, ExitReason.LLM_ERROR)])
async def test_turns_end_at_once_while_the_provider_is_left_alone(code: int, reason: ExitReason) -> None:
    world = gated(*[fails(code)] * 3, failures_in_a_row=3, pause_s=60)
    await world.run("Which law?")
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.usage.model_calls, len(world.model.payloads)) == (reason, 0, 3)
    asked_s = final.retry_after_s
    assert asked_s is not None
    assert 0 < asked_s <= 60
    assert final.exit_cause is ExitCause.PROVIDER_PAUSED


async def test_a_turn_does_not_try_again_what_was_not_asked() -> None:
    world = gated(*[fails(503)] * 2, failures_in_a_row=2, pause_s=60)
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.usage.model_calls) == (ExitReason.LLM_ERROR, 2)


async def test_a_turn_whose_failures_led_to_a_pause_says_when_to_come_back() -> None:
    world = gated(*[fails(503)] * 3, failures_in_a_row=3, pause_s=60)
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.exit_cause) == (ExitReason.LLM_ERROR, ExitCause.PROVIDER_FAILED)
    assert final.retry_after_s is not None
    assert 0 < final.retry_after_s <= 60


async def failing_call(shared: ModelGate, caller: str) -> None:
    with pytest.raises(ConnectionError):
        async with shared.call(caller):
            raise ConnectionError


async def is_open_to(shared: ModelGate, caller: str) -> bool:
    try:
        async with shared.call(caller):
            return True
    except CallNotMade:
        return False


async def test_failures_of_one_caller_stop_that_caller_only() -> None:
    shared = gate(failures_in_a_row=3, failing_callers=2, pause_s=60)
    for _ in range(3):
        await failing_call(shared, "ada")
    assert not await is_open_to(shared, "ada")
    assert await is_open_to(shared, "ben")


async def test_failures_of_several_callers_stop_all() -> None:
    shared = gate(failures_in_a_row=4, failing_callers=3, pause_s=60)
    for caller in ("ada", "ada", "ben", "cleo"):
        await failing_call(shared, caller)
    for caller in ("ada", "dan"):
        assert not await is_open_to(shared, caller)
        assert (shared.wait_s(caller) or 0) > 50


async def test_one_answer_between_the_failures_of_several_callers_keeps_the_way_open() -> None:
    shared = gate(failures_in_a_row=3, failing_callers=3, pause_s=60)
    for caller in ("ada", "ben"):
        await failing_call(shared, caller)
    assert await is_open_to(shared, "dan")
    await failing_call(shared, "cleo")
    assert await is_open_to(shared, "dan")


async def test_a_caller_that_is_paused_is_no_probe_for_the_others() -> None:
    now = [0.0]
    settings = ChatModelConfig(failures_in_a_row=2, failing_callers=2, pause_s=10)
    shared = ModelGate(settings, lambda: now[0])
    for caller in ("ada", "ben", "ben"):
        if caller == "ben" and not await is_open_to(shared, "cleo"):
            break
        await failing_call(shared, caller)
    now[0] = 11.0
    assert await is_open_to(shared, "cleo")
    assert await is_open_to(shared, "ada")


async def test_rows_of_failures_of_many_callers_take_bounded_memory() -> None:
    shared = gate(failures_in_a_row=2, failing_callers=2, pause_s=60)
    for number in range(1_200):
        assert await is_open_to(shared, f"caller {number}")
    assert len(shared._of_caller) <= 1_024


async def test_a_refusal_that_is_about_the_call_opens_nothing() -> None:
    world = gated(fails(400), fails(400), fails(400), FINE, failures_in_a_row=1, pause_s=60)
    for _ in range(3):
        await world.run("Which law?")
    assert (await world.run("Which law?")).final_state.exit_reason is ExitReason.COMPLETED


async def test_a_probe_that_is_answered_opens_the_way() -> None:
    now = 0.0
    settings = ChatModelConfig(failures_in_a_row=1, pause_s=60)
    world = agent_world(fails(503), FINE, FINE, gate=ModelGate(settings, lambda: now))
    await world.run("Which law?")
    now = 60.0
    for _ in range(2):
        assert (await world.run("Which law?")).final_state.exit_reason is ExitReason.COMPLETED


async def test_a_probe_that_ends_with_its_turns_log_says_nothing_of_the_provider() -> None:
    now = [0.0]
    closed = ModelGate(ChatModelConfig(failures_in_a_row=1, pause_s=10), lambda: now[0])
    with pytest.raises(ConnectionError):
        async with closed.call():
            raise ConnectionError
    now[0] = 11
    with pytest.raises(TurnLogFull):
        async with closed.call():
            raise TurnLogFull
    with pytest.raises(ConnectionError):  # the next call is the probe
        async with closed.call():
            raise ConnectionError
    with pytest.raises(CallNotMade):
        async with closed.call():
            raise AssertionError("it is left alone")
