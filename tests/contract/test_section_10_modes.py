"""Behavioural contract, section 10: the two execution modes."""

import asyncio

import grpc
import httpx
import pytest

from proviso_client.v1 import chat_pb2, turns_pb2
from tests.support.contract_world import (
    GROUNDED,
    INVENTED,
    LIST,
    SEARCH,
    SIX_STEPS,
    UNKNOWN,
    ContractWorld,
    Mode,
)
from tests.support.final_states import comparable
from tests.support.running import final_of
from tests.support.scripted_model import Step, calls, text

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITED = Step(
    error=httpx.HTTPStatusError("no", request=httpx.Request("POST", "http://m.invalid/"), response=httpx.Response(429))
)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([text("Which one?")], id="plain answer"),
        pytest.param([calls(SEARCH), text(GROUNDED)], id="cited answer"),
        pytest.param([calls(SEARCH, LIST), text(GROUNDED)], id="parallel calls"),
        pytest.param([calls(SEARCH), text(INVENTED), text(GROUNDED)], id="ungrounded, then grounded"),
        pytest.param([calls(LIST, LIST, LIST, LIST), text("There is one document.")], id="tool limit"),
        pytest.param(list(SIX_STEPS), id="turn limit"),
        pytest.param([calls(UNKNOWN), calls(UNKNOWN)], id="invalid calls"),
        pytest.param([Step(), Step()], id="nothing"),
        pytest.param([LIMITED] * 3, id="rate limited"),
    ],
)
async def test_10_1_both_modes_come_to_the_same_final_state(world: ContractWorld, script: list[Step]) -> None:
    streamed, invoked = [await world.ask(*script, mode=mode) for mode in Mode]
    assert comparable(streamed.final) == comparable(invoked.final)
    assert streamed.kinds == invoked.kinds


async def test_10_2_invoke_ends_with_its_answer(world: ContractWorld) -> None:
    world.play(text("Which one?"))
    answer = await world.service.chat.Invoke(world.request())
    kept = await world.other.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=answer.turn_id))
    assert kept.state == chat_pb2.TURN_STATE_ENDED
    assert kept.final_state == answer.final_state


async def test_10_3_a_stream_ends_with_its_final_state(world: ContractWorld) -> None:
    world.play(text("Which one?"))
    call = world.service.chat.Chat(world.request())
    kinds = [event.WhichOneof("event") async for event in call]
    assert kinds[-1] == "final_state"
    assert await call.code() is grpc.StatusCode.OK


async def test_10_4_a_stream_shows_text_before_the_turn_has_ended(world: ContractWorld) -> None:
    world.play(Step(["Hello. ", "How"], hold_after=(go_on := asyncio.Event())))
    running = world.service.chat.Chat(world.request())
    events = aiter(running)
    started, token = await anext(events), await anext(events)
    assert token.token.text == "Hello."
    state = await world.other.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=started.turn_id))
    assert state.state == chat_pb2.TURN_STATE_RUNNING
    go_on.set()
    assert [event.WhichOneof("event") async for event in events] == ["token", "final_state"]


async def test_10_5_invoke_takes_replies_and_retrievals_from_the_caches(world: ContractWorld, new_matter: str) -> None:
    first, again = [
        await world.ask(*script, mode=Mode.INVOKE, matter_id=new_matter, cached=True)
        for script in ([calls(SEARCH), text(GROUNDED)], [])
    ]
    assert (first.final.from_cache, again.final.from_cache) == (False, True)
    assert [end.from_cache for end in again.of_kind("tool_end")] == [True]
    assert (again.final.message, again.final.usage.model_calls) == (GROUNDED, 0)


async def test_10_6_a_stream_takes_replies_and_retrievals_from_the_caches_and_has_no_tokens_then(
    world: ContractWorld, new_matter: str
) -> None:
    first, again = [
        await world.ask(*script, mode=Mode.CHAT, matter_id=new_matter, cached=True)
        for script in ([calls(SEARCH), text(GROUNDED)], [])
    ]
    assert (first.final.from_cache, again.final.from_cache) == (False, True)
    assert [end.from_cache for end in again.of_kind("tool_end")] == [True]
    assert (first.standing_text, again.standing_text, again.final.message) == (GROUNDED, "", GROUNDED)


async def test_10_7_a_call_of_invoke_that_is_given_up_ends_its_turn(world: ContractWorld) -> None:
    world.play(Step(["Hello. ", "How"], hold_after=asyncio.Event()))
    request = world.request(request_id="given-up")
    call = world.service.chat.Invoke(request)
    await world.model.held.wait()
    call.cancel()
    events = [event async for event in world.other.chat.Chat(request)]
    assert final_of(events).exit_reason == turns_pb2.EXIT_REASON_CANCELLED
