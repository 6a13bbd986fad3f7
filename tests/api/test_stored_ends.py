"""A turn whose events are gone, because they have expired or the service was started anew: its stored end is left."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client.v1 import chat_pb2, turns_pb2
from tests.support.endless_process import endless_service
from tests.support.running import AGREEMENT, RunningService, chat_request, final_of, running_service
from tests.support.scripted_model import text

QUESTION = "What is the governing law?"


async def ends(
    call: "grpc.aio.UnaryStreamCall[Any, chat_pb2.AgentEvent]",
) -> AsyncIterator[chat_pb2.AgentEvent]:
    async for event in call:
        assert event.WhichOneof("event") == "final_state"
        yield event


async def assert_the_stored_end_is_left(
    service: RunningService, request: chat_pb2.ChatRequest, seen: list[chat_pb2.AgentEvent]
) -> None:
    end, turn_id = seen[-1], seen[-1].turn_id
    chat = service.chat.Chat(request)
    (repeated,) = [event async for event in ends(chat)]
    assert (repeated.turn_id, repeated.sequence, repeated.final_state) == (turn_id, end.sequence, end.final_state)
    assert ("proviso-turn-id", turn_id) in tuple(await chat.initial_metadata())
    for after in (0, 2, end.sequence):
        rest = chat_pb2.ResumeChatRequest(turn_id=turn_id, after_sequence=after)
        (resumed,) = [event async for event in ends(service.chat.ResumeChat(rest))]
        assert (resumed.sequence, resumed.final_state) == (end.sequence, end.final_state)
    invoked = await service.chat.Invoke(request)
    assert (invoked.turn_id, invoked.final_state) == (turn_id, end.final_state)


async def test_after_a_restart_the_same_request_gets_the_stored_end(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path, models_dir) as service:
        matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
        request = chat_request(QUESTION, matter_id, request_id="r-1", session_id="s-1")
        seen = [event async for event in service.chat.Chat(request)]
        assert "Oregon" in final_of(seen).message
    async with running_service(tmp_path, models_dir) as service:
        await assert_the_stored_end_is_left(service, request, seen)


async def test_after_its_time_the_same_request_gets_the_stored_end(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path, models_dir, turns={"log_ttl_s": 0.001}) as service:
        request = chat_request(QUESTION, request_id="r-1")
        seen = [event async for event in service.chat.Chat(request)]
        rest = chat_pb2.ResumeChatRequest(turn_id=seen[0].turn_id)
        while len([event async for event in service.chat.ResumeChat(rest)]) > 1:
            pass
        await assert_the_stored_end_is_left(service, request, seen)


@pytest.mark.timeout(300)  # on a busy machine
async def test_a_turn_that_was_killed_goes_on_for_whoever_was_reading(tmp_path: Path, models_dir: Path) -> None:
    """The store does not know how many of its events were sent."""
    async with endless_service(tmp_path / "data", models_dir) as doomed:
        call, first = await doomed.begin_turn()
        doomed.process.kill()
        await doomed.process.wait()
    call.cancel()
    async with running_service(tmp_path / "data", models_dir, text("You are welcome.")) as service:
        for after in (0, 1, 57):
            rest = chat_pb2.ResumeChatRequest(turn_id=first.turn_id, after_sequence=after)
            events = [event async for event in service.chat.ResumeChat(rest)]
            told = events[0].token.first_sequence if events[0].HasField("token") else events[0].sequence
            assert told == after + 1
            assert events[-1].final_state.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
