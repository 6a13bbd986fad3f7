"""The assets of a message belong to it alone: no other message of its session, and no other session, has anything of
them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from proviso_client.v1 import chat_pb2, context_pb2, sessions_pb2
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from tests.support.running import RunningService, chat_request, final_of, running_service
from tests.support.scripted_model import ScriptedChatModel, text

IMAGE = "https://images.example.org/plan.png"
SUMMARY = "Requirements of the tenants."
ASSETS: dict[str, Any] = {
    "image_urls": [IMAGE],
    "document_context": [context_pb2.DocumentContext(filename="needs.md", type="md", summary=SUMMARY)],
}
BLOCK = f"[Uploaded Documents Context]\n- needs.md (md): {SUMMARY}"
TRACES = ("Uploaded Documents Context", "needs.md", SUMMARY, IMAGE)
ANSWER = text("Which one do you mean?")


@pytest.fixture
def model() -> ScriptedChatModel:
    return ScriptedChatModel(script=[ANSWER] * 8)


@pytest.fixture
async def service(tmp_path: Path, models_dir: Path, model: ScriptedChatModel) -> AsyncIterator[RunningService]:
    models = ChatModels(NamedChatModel("scripted", model, takes_image_urls=True))
    async with running_service(tmp_path / "data", models_dir, chat_models=models) as running:
        yield running


async def ask(service: RunningService, message: str, matter_id: str, **fields: Any) -> chat_pb2.FinalState:
    uncached = chat_pb2.ChatOptions(disable_cache=True)
    return final_of([e async for e in service.chat.Chat(chat_request(message, matter_id, options=uncached, **fields))])


def traces_in(value: object) -> list[str]:
    return [trace for trace in TRACES if trace in str(value)]


async def test_a_later_message_of_the_session_has_nothing_of_the_assets(
    service: RunningService, model: ScriptedChatModel
) -> None:
    matter_id = await service.create_matter()
    first = await ask(service, "What do they need?", matter_id, session_id="s1", **ASSETS)
    second = await ask(service, "And what else?", matter_id, session_id="s1")
    with_assets, without = model.payloads
    parts = with_assets[-1].content
    assert isinstance(parts, list)
    assert BLOCK in str(parts[0]["text"])  # type: ignore[index]
    assert parts[1]["image_url"] == {"url": IMAGE}  # type: ignore[index]
    assert [asset.name for asset in first.request_context.assets] == ["needs.md", IMAGE]

    assert traces_in([message.content for message in without]) == []
    assert "What do they need?" in [message.content for message in without], "as it was typed"
    assert not second.request_context.assets
    assert traces_in(second) == []

    listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s1"))
    assert [message.content for message in listed.messages][::2] == ["What do they need?", "And what else?"]
    assert not [message.content for message in listed.messages if traces_in(message.content)]


async def test_the_callers_own_history_has_nothing_of_the_assets(
    service: RunningService, model: ScriptedChatModel
) -> None:
    matter_id = await service.create_matter()
    first = await ask(service, "What do they need?", matter_id, **ASSETS)
    history = [chat_pb2.HistoryMessage(role=message.role, content=message.content) for message in first.messages]
    second = await ask(service, "And what else?", matter_id, history=history)
    assert [message.content for message in history] == ["What do they need?", "Which one do you mean?"]
    assert traces_in([message.content for message in model.payloads[1]]) == []
    assert not second.request_context.assets


async def test_other_sessions_and_users_have_nothing_of_the_assets(
    service: RunningService, model: ScriptedChatModel
) -> None:
    matter_id = await service.create_matter()
    await ask(service, "What do they need?", matter_id, session_id="s1", user_id="ann", **ASSETS)
    others = [
        await ask(service, "What do they need?", matter_id, session_id="s2", user_id="ann"),
        await ask(service, "What do they need?", matter_id, session_id="s1", user_id="ben"),
        await ask(service, "What do they need?", matter_id, user_id="ann"),
    ]
    for payload in model.payloads[1:]:
        assert traces_in([message.content for message in payload]) == []
        assert "Which one do you mean?" not in [message.content for message in payload], "there is no history"
    assert traces_in(others) == []
