"""The context of a turn that is cut: whatever becomes of it, the next message is not about the matter before it."""

import asyncio
from collections.abc import AsyncIterable
from pathlib import Path

import pytest

from proviso_client.v1 import chat_pb2, context_pb2, sessions_pb2, turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from tests.support.endless_process import endless_service
from tests.support.running import AGREEMENT, RunningService, chat_request, final_of, running_service
from tests.support.scripted_model import Step, text

ANSWER = text("Which agreement do you mean?")


async def known(service: RunningService) -> str:
    found = await service.sessions.GetSession(sessions_pb2.GetSessionRequest(session_id="s"))
    return found.session.matter_context.matter_id


def asked(matter_id: str, message: str = "Which law governs it?") -> chat_pb2.ChatRequest:
    return chat_request(message, matter_id, session_id="s", options=chat_pb2.ChatOptions(disable_cache=True))


async def ask(service: RunningService, request: chat_pb2.ChatRequest) -> chat_pb2.FinalState:
    return final_of([event async for event in service.chat.Chat(request)])


async def begun(call: AsyncIterable[chat_pb2.AgentEvent]) -> str:
    """The id of the turn, once its model has been called or will be."""
    return (await anext(aiter(call))).turn_id


async def test_a_turn_that_is_cancelled_has_changed_the_matter(tmp_path: Path, models_dir: Path) -> None:
    script = [ANSWER, Step(hold=asyncio.Event()), ANSWER]
    async with running_service(tmp_path / "data", models_dir, *script) as service:
        old, new = await service.create_matter("Old"), await service.create_matter("New")
        await ask(service, asked(old))
        call = service.chat.Chat(asked(new))
        turn_id = await begun(call)
        assert await known(service) == new, "from the start of the turn on"
        await service.chat.CancelTurn(chat_pb2.CancelTurnRequest(turn_id=turn_id))
        events = [event async for event in call]
        assert events[-1].final_state.exit_reason == turns_pb2.EXIT_REASON_CANCELLED
        assert await known(service) == new
        assert (await ask(service, asked(""))).request_context.matter_context.matter_id == new


async def test_a_turn_whose_model_fails_has_changed_the_matter(tmp_path: Path, models_dir: Path) -> None:
    script = [ANSWER, Step(error=ValueError("broken")), ANSWER]
    async with running_service(tmp_path / "data", models_dir, *script) as service:
        old, new = await service.create_matter("Old"), await service.create_matter("New")
        await ask(service, asked(old))
        assert (await ask(service, asked(new))).exit_reason == turns_pb2.EXIT_REASON_LLM_ERROR
        assert (await ask(service, asked(""))).request_context.matter_context.matter_id == new


async def test_a_turn_that_is_too_long_for_the_model_has_changed_the_matter(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, ANSWER, ANSWER) as service:
        old, new = await service.create_matter("Old"), await service.create_matter("New")
        await ask(service, asked(old))
        final = await ask(service, asked(new, "x" * 12_001))
        assert final.exit_reason == turns_pb2.EXIT_REASON_MAX_CONTEXT_REACHED
        assert (await ask(service, asked(""))).request_context.matter_context.matter_id == new


@pytest.mark.timeout(300)  # on a busy machine
async def test_a_turn_that_is_killed_with_its_service_has_changed_the_matter(tmp_path: Path, models_dir: Path) -> None:
    data_dir = tmp_path / "data"
    async with running_service(data_dir, models_dir, ANSWER) as service:
        old, new = await service.create_matter("Old", Lease=AGREEMENT), await service.create_matter("New")
        await ask(service, asked(old))
    async with endless_service(data_dir, models_dir) as doomed:
        turn_id = await begun(ChatServiceStub(doomed.channel).Chat(asked(new)))
        doomed.process.kill()
        await doomed.process.wait()
    async with running_service(data_dir, models_dir, ANSWER, ANSWER) as service:
        ending = service.chat.ResumeChat(chat_pb2.ResumeChatRequest(turn_id=turn_id))
        matter = context_pb2.MatterContext(matter_id=new, matter_name="New")
        for final in (final_of([event async for event in ending]), await ask(service, asked(""))):
            assert final.request_context.matter_context == matter
