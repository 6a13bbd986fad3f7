"""Behavioural contract, section 9: the events of a stream."""

import asyncio
import json

import pytest

from proviso_client.v1 import chat_pb2, turns_pb2
from tests.support.contract_world import EXTRACT, GROUNDED, LIST, SEARCH, ContractWorld, EndedTurn, Mode, held_for_ever
from tests.support.running import final_of
from tests.support.scripted_model import Step, calls, text

pytestmark = pytest.mark.asyncio(loop_scope="module")


def call_events(turn: EndedTurn, call_id: str) -> list[str]:
    """Kinds of the events of one tool call, in order."""
    events = (getattr(event, str(event.WhichOneof("event"))) for event in turn.events)
    return [type(event).__name__ for event in events if getattr(event, "call_id", "") == call_id]


@pytest.mark.parametrize(
    ("release", "shown"),
    [
        pytest.param(chat_pb2.TEXT_RELEASE_UNSPECIFIED, "Which one?", id="each sentence"),
        pytest.param(chat_pb2.TEXT_RELEASE_RAW, "Which one? Or", id="raw"),
    ],
)
async def test_9_1_text_comes_in_tokens_while_the_model_writes(
    world: ContractWorld, release: chat_pb2.TextRelease, shown: str
) -> None:
    world.play(Step(["Which ", "one? ", "Or"], hold_after=(go_on := asyncio.Event())))
    events, text_so_far = [], ""
    async for event in world.service.chat.Chat(world.request(options={"text_release": release})):
        events.append(event)
        text_so_far += event.token.text
        if text_so_far == shown:
            go_on.set()  # the model has not ended, and its text is here
    assert final_of(events).message == "Which one? Or"


async def test_9_2_tool_start_names_the_tool_and_its_arguments(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text(GROUNDED), mode=mode)
    (start,) = turn.of_kind("tool_start")
    assert (start.tool, start.server_name) == ("isaacus_search", "proviso")
    assert json.loads(start.input_json) == {"query": "governing law"}


async def test_9_3_tool_end_holds_what_the_tool_returned(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text(GROUNDED), mode=mode)
    (end,) = turn.of_kind("tool_end")
    assert end.output == world.payloads[1][-1].content
    typed = json.loads(end.output_json)
    assert typed["results"][0]["heading"] == "9. Governing Law"


async def test_9_4_the_last_event_holds_the_conversation_and_the_exit_reason(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text(GROUNDED), mode=mode)
    assert turn.final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    assert [m.content for m in turn.final.messages][-1] == GROUNDED


async def test_9_5_every_tool_call_starts_before_it_ends_once(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH, LIST), calls(EXTRACT), text(GROUNDED), mode=mode)
    ids = [start.call_id for start in turn.of_kind("tool_start")]
    assert len(set(ids)) == 3
    assert all(call_events(turn, call_id) == ["ToolStart", "ToolEnd"] for call_id in ids)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([calls(SEARCH), text(GROUNDED)], id="answer"),
        pytest.param([Step(["Let me look."], [SEARCH]), Step(["Wh"], error=ValueError())], id="failure"),
        pytest.param([Step(), Step()], id="nothing"),
    ],
)
async def test_9_6_the_final_state_is_the_last_event(world: ContractWorld, mode: Mode, script: list[Step]) -> None:
    turn = await world.ask(*script, mode=mode)
    assert turn.kinds[0] == "turn_start"
    assert turn.kinds.index("final_state") == len(turn.kinds) - 1
    assert turn.standing_text in ("", turn.final.message)


async def test_9_7_texts_and_tool_calls_come_in_the_order_of_the_model(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(Step(["Let me look."], [SEARCH]), text(GROUNDED), mode=mode)
    middle = ["token", "text_discarded", "tool_start", "tool_end", "token", "citation"]
    assert turn.kinds == ["turn_start", *middle, "final_state"]


async def test_9_8_a_kept_answer_comes_without_tokens_and_then_the_final_state(
    world: ContractWorld, mode: Mode, new_matter: str
) -> None:
    script = Step(["Let me look."], [SEARCH]), text(GROUNDED)
    first = await world.ask(*script, mode=mode, matter_id=new_matter, cached=True)
    again = await world.ask(mode=mode, matter_id=new_matter, cached=True)
    assert {"token", "text_discarded"} <= set(first.kinds)
    assert again.kinds == ["turn_start", "tool_start", "tool_end", "citation", "final_state"]
    assert again.of_kind("citation") == first.of_kind("citation")


@pytest.mark.parametrize("pieces", [[GROUNDED], list(GROUNDED), [GROUNDED[:7], "", GROUNDED[7:]]])
async def test_9_9_the_pieces_of_a_text_follow_no_rule_and_change_nothing(
    world: ContractWorld, mode: Mode, pieces: list[str]
) -> None:
    turn = await world.ask(calls(SEARCH), Step(pieces), mode=mode)
    assert turn.final.message == turn.standing_text == GROUNDED
    assert [c.quote for c in turn.final.citations] == ["the laws of the State of Oregon"]


async def test_9_10_parallel_calls_run_at_once_and_each_keeps_its_order(world: ContractWorld) -> None:
    world.extractor.shut()
    turn = asyncio.create_task(world.ask(calls(EXTRACT, EXTRACT, EXTRACT), text(GROUNDED)))
    await world.extractor.until_running(3)
    world.extractor.open()
    ended = await turn
    assert ended.kinds[1:7] == ["tool_start"] * 3 + ["tool_end"] * 3
    ids = [start.call_id for start in ended.of_kind("tool_start")]
    assert all(call_events(ended, call_id) == ["ToolStart", "ToolEnd"] for call_id in ids)


async def test_9_11_a_cancelled_turn_ends_its_stream_like_any_other(world: ContractWorld) -> None:
    world.play(held_for_ever())
    running = world.service.chat.Chat(world.request())
    events = [await anext(aiter(running))]
    await world.other.chat.CancelTurn(chat_pb2.CancelTurnRequest(turn_id=events[0].turn_id))
    events += [event async for event in running]
    assert final_of(events).exit_reason == turns_pb2.EXIT_REASON_CANCELLED
