"""What models are sent of earlier messages is made once, and dropped when something is deleted."""

import asyncio
import gc
from pathlib import Path

from proviso_client.v1 import access_pb2, chat_pb2, sessions_pb2
from proviso_service.agent.payload import SentMessage, SentMessages
from proviso_service.turns import HistoryMessage, MessageRole
from tests.support.running import running_service
from tests.support.scripted_model import text

QUESTION = HistoryMessage(MessageRole.USER, '[CONTEXT] The user has selected matter "A" (matter_id: 1).\nWho pays?')
ANSWER = HistoryMessage(MessageRole.ASSISTANT, 'The Tenant "Ada"\n\ud83d\ude00')


def test_a_message_is_sent_as_typed_and_made_once() -> None:
    sent = SentMessages()
    said = [QUESTION, ANSWER, HistoryMessage(MessageRole.ERROR, "Failed."), HistoryMessage(MessageRole.USER, " ")]
    first = sent.of("acme", said)
    assert [(one.message.type, one.message.content) for one in first] == [
        ("human", "Who pays?"),
        ("ai", ANSWER.content),
    ]
    assert [one.characters for one in first] == [9, len(ANSWER.content)]
    assert all(one is before for one, before in zip(sent.of("acme", list(said)), first, strict=True))


def test_what_was_made_for_a_tenant_is_no_other_s() -> None:
    sent = SentMessages()
    assert sent.of("acme", [ANSWER])[0] is not sent.of("globex", [ANSWER])[0]


def test_a_long_message_is_not_kept() -> None:
    sent, long = SentMessages(), HistoryMessage(MessageRole.USER, "a" * 1_000)
    assert sent.of("acme", [long])[0] is not sent.of("acme", [long])[0]


async def test_nothing_of_a_deleted_session_is_kept(tmp_path: Path, models_dir: Path) -> None:
    phrase = "What did Vorkheliot Zanquibar say?"
    options = chat_pb2.ChatOptions(disable_cache=True)
    async with running_service(tmp_path / "data", models_dir, text("Who?"), text("Who?")) as service:
        matter_id = await service.create_matter()
        for message in (phrase, "And then?"):
            await service.ask(message, matter_id, session_id="s", options=options)
        assert _kept(phrase)
        deleted = await service.sessions.DeleteSession(sessions_pb2.DeleteSessionRequest(session_id="s"))
        request = access_pb2.GetDeletionRequest(deletion_id=deleted.deletion_id)
        async with asyncio.timeout(20):
            while True:
                if (await service.access.GetDeletion(request)).deletion.HasField("complete_time"):
                    break
                await asyncio.sleep(0.05)
        assert not _kept(phrase)


def _kept(phrase: str) -> bool:
    gc.collect()
    return any(isinstance(one, SentMessage) and one.message.content == phrase for one in gc.get_objects())
