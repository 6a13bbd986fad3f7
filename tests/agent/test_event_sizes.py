"""What tools and models make too large: neither the log nor the wire of a turn suffers from it."""

import json
from pathlib import Path

import pytest
from langchain_core.messages import ToolMessage

from proviso_client.v1 import chat_pb2, context_pb2, turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_service.agent.tool_calls import MAX_ARGUMENT_CHARS, MAX_OUTPUT_JSON_BYTES
from proviso_service.tools.base import SourcePassage
from proviso_service.turns import ExitReason, ToolEnd, ToolStart, TurnConfig
from tests.api.serving import conversations, served
from tests.support.agent_world import DOCUMENT_ID, MATTER_ID, PASSAGE, Lookup, agent_world
from tests.support.scripted_model import Call, Step, calls, text

SEARCH = Call("lookup", '{"query": "law"}')
ANSWER = text("It is governed by “the laws of Ohio” [1].")


def lookup_of(characters: int, letter: str = "x") -> Lookup:
    """A tool whose typed result has this many characters, beside the passage that answers."""
    return Lookup([PASSAGE, SourcePassage(DOCUMENT_ID, "Annex.md", 0, letter * characters)])


async def test_five_megabytes_of_a_tool_reach_neither_log_nor_wire(tmp_path: Path) -> None:
    world = agent_world(calls(SEARCH, SEARCH, SEARCH), ANSWER, tools=[lookup_of(5_000_000)])
    async with conversations(tmp_path, world.agent) as domain, served(domain) as server:
        request = chat_pb2.ChatRequest(
            message="Which law?", matter_context=context_pb2.MatterContext(matter_id=MATTER_ID)
        )
        stub = ChatServiceStub(server.channel)
        events = [event async for event in stub.Chat(request)]
        again = chat_pb2.ResumeChatRequest(turn_id=events[0].turn_id)
        assert [event async for event in stub.ResumeChat(again)] == events
    assert events[-1].final_state.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    assert [c.quote for c in events[-1].final_state.citations] == ["the laws of Ohio"]
    ended = [event.tool_end for event in events if event.WhichOneof("event") == "tool_end"]
    assert [(end.output_json, end.truncated, end.error) for end in ended] == [("", True, "")] * 3
    assert all("the laws of Ohio" in json.loads(end.output)["results"][0]["text"] for end in ended)
    assert sum(event.ByteSize() for event in events) < 100_000


@pytest.mark.parametrize("letter", ["x", "§", "💼"])
async def test_a_typed_result_is_whole_up_to_the_bound_and_left_out_beyond(letter: str) -> None:
    frame = len(json.dumps({"results": [{"text": PASSAGE.text}, {"text": ""}]}, separators=(",", ":")))
    fitting = (MAX_OUTPUT_JSON_BYTES - frame) // len(letter.encode())
    for more, whole in ((0, True), (1, False)):
        world = agent_world(calls(SEARCH), ANSWER, tools=[lookup_of(fitting + more, letter)])
        await world.run("Which law?")
        (ended,) = (event for event in world.events if isinstance(event, ToolEnd))
        assert ended.truncated
        assert bool(ended.output_json) is whole
        if whole:
            assert json.loads(ended.output_json)["results"][1]["text"] == letter * fitting


async def test_typed_results_leave_room_in_a_small_log(tmp_path: Path) -> None:
    """However many calls the settings allow."""
    turns = TurnConfig(max_tool_calls=20, max_turns=30, log_max_bytes=64 * 1024)
    script = [calls(SEARCH)] * 20
    world = agent_world(*script, ANSWER, tools=[lookup_of(6_000)], turns=turns)
    async with conversations(tmp_path, world.agent, turns) as domain, served(domain) as server:
        request = chat_pb2.ChatRequest(
            message="Which law?", matter_context=context_pb2.MatterContext(matter_id=MATTER_ID)
        )
        events = [event async for event in ChatServiceStub(server.channel).Chat(request)]
    assert events[-1].final_state.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    assert events[-1].final_state.tool_calls == 20


async def test_arguments_of_a_megabyte_are_an_invalid_call() -> None:
    huge = Call("lookup", json.dumps({"query": "x" * 1_000_000}))
    world = agent_world(calls(huge), calls(SEARCH), ANSWER)
    final = (await world.run("Which law?")).final_state
    assert (final.exit_reason, final.tool_calls) == (ExitReason.COMPLETED, 1)
    told = world.model.payloads[1][-1]
    assert isinstance(told, ToolMessage)
    assert f"more than {MAX_ARGUMENT_CHARS} characters" in str(told.content)
    (started,) = (event for event in world.events if isinstance(event, ToolStart))
    assert started.input_json == '{"query":"law"}'
    assert sum(len(str(event)) for event in world.events) < 20_000


async def test_arguments_up_to_the_bound_are_run() -> None:
    query = "x" * (MAX_ARGUMENT_CHARS - len('{"query":""}'))
    world = agent_world(calls(Call("lookup", json.dumps({"query": query}))), ANSWER)
    assert (await world.run("Which law?")).final_state.tool_calls == 1
    (started,) = (event for event in world.events if isinstance(event, ToolStart))
    assert len(started.input_json) == MAX_ARGUMENT_CHARS


async def test_an_id_of_endless_length_is_replaced() -> None:
    call = Call("lookup", '{"query": "law"}', call_id="i" * 1_000_000)
    world = agent_world(Step(calls=[call]), ANSWER)
    await world.run("Which law?")
    assert [event.call_id for event in world.events if isinstance(event, ToolStart | ToolEnd)] == ["call-1", "call-1"]
