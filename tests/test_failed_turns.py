"""What a turn that did not end well leaves behind, over the whole service."""

import asyncio
from pathlib import Path

import pytest

from proviso_client.v1 import chat_pb2, sessions_pb2, turns_pb2
from proviso_service.matters import Retriever
from tests.support.running import AGREEMENT, chat_request, final_of, running_service
from tests.support.scripted_model import Call, Step, calls


async def test_a_stored_error_says_what_the_model_was_given(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path, models_dir, Step(error=ValueError("broken"))) as service:
        matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
        final = final_of(await service.ask("What is the fee?", matter_id, session_id="s-1"))
        assert final.exit_reason == turns_pb2.EXIT_REASON_LLM_ERROR
        listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s-1"))
        asked, error = listed.messages
        assert error.role == sessions_pb2.MESSAGE_ROLE_ERROR
        assert error.request_context == final.request_context
        assert error.request_context.matter_context.matter_id == matter_id
        assert error.request_context.items
        assert not asked.HasField("request_context")


async def test_a_call_that_is_cut_off_has_its_end(
    tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = calls(Call("isaacus_search", '{"query": "fee"}'))
    reached = asyncio.Event()

    async def never(*_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    async with running_service(tmp_path, models_dir, call) as service:
        matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
        monkeypatch.setattr(Retriever, "search", never)
        stream = service.chat.Chat(chat_request("What is the fee?", matter_id))
        begun = await anext(aiter(stream))
        await reached.wait()
        await service.chat.CancelTurn(chat_pb2.CancelTurnRequest(turn_id=begun.turn_id))
        events = [begun, *[event async for event in stream]]
        kinds = [event.WhichOneof("event") for event in events]
        assert kinds[-3:] == ["tool_start", "tool_end", "final_state"]
        assert events[-2].tool_end.call_id == events[-3].tool_start.call_id
        assert events[-2].tool_end.error == "The turn ended before the call did."
        assert final_of(events).exit_reason == turns_pb2.EXIT_REASON_CANCELLED
