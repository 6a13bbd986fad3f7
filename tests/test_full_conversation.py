"""A conversation that is full goes on in a new one, over the whole service with the embedded model."""

import json
from pathlib import Path

from proviso_client.v1 import chat_pb2, sessions_pb2, turns_pb2
from tests.support.running import AGREEMENT, RunningService, final_of, running_service

QUESTION = "What does the agreement say about the governing law?"
LIMIT = 1_800


async def ask_until_full(service: RunningService, matter_id: str) -> chat_pb2.FinalState:
    """Asks until there is no room for another question; only the first one names the matter."""
    final = final_of(await service.ask(QUESTION, matter_id, session_id="old"))
    for _ in range(20):
        if final.exit_reason != turns_pb2.EXIT_REASON_COMPLETED:
            return final
        final = final_of(await service.ask(QUESTION, session_id="old"))
    raise AssertionError("the conversation never fills")


async def test_a_full_conversation_goes_on_about_the_same_matter(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, turns={"max_context_chars": LIMIT}) as service:
        matter_id = await service.create_matter(Services=AGREEMENT)
        full = await ask_until_full(service, matter_id)
        again = final_of(await service.ask(QUESTION, session_id="old"))
        continuing = sessions_pb2.ContinueSessionRequest(session_id="old", new_session_id="new")
        made = (await service.sessions.ContinueSession(continuing)).session
        taken = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="new"))
        answered = final_of(await service.ask(QUESTION, session_id="new"))
        turn_id = next(message.turn_id for message in answered.messages if message.turn_id)
        rebuilt = await service.sessions.RebuildRequest(sessions_pb2.RebuildRequestRequest(turn_id=turn_id))
        listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="new"))
    assert {full.exit_reason, again.exit_reason} == {turns_pb2.EXIT_REASON_MAX_CONTEXT_REACHED}
    assert {full.exit_cause, again.exit_cause} == {turns_pb2.EXIT_CAUSE_CONVERSATION_FULL}
    assert full.retryable == chat_pb2.RETRYABLE_NO
    assert made.matter_context.matter_id == matter_id
    roles = [message.role for message in taken.messages]
    exchange = [sessions_pb2.MESSAGE_ROLE_USER, sessions_pb2.MESSAGE_ROLE_ASSISTANT]
    assert roles == exchange * (len(roles) // 2), "a question that found no room is not taken along"
    assert 0 < sum(len(message.content) for message in taken.messages) <= LIMIT // 3
    assert answered.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    assert "Oregon" in answered.message
    assert answered.request_context.matter_context.matter_id == matter_id
    assert [message.content for message in answered.messages[: len(taken.messages)]] == [
        message.content for message in taken.messages
    ]
    assert rebuilt.matches
    sent = [message["content"] for message in json.loads(rebuilt.payload_json)["messages"]]
    assert sent[: len(taken.messages)] == [message.content for message in taken.messages]
    assert list(listed.messages[: len(taken.messages)]) == list(taken.messages)
    assert len(listed.messages) == len(taken.messages) + 2
