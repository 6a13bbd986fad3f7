"""A message that finds no room is kept for the person, and stands in nobody's way."""

import re
from pathlib import Path

from proviso_client.v1 import chat_pb2, sessions_pb2
from proviso_service.turns import CAUSE_SEMANTICS, ExitCause, ExitReason
from tests.support.running import RunningService, cause_of, final_of, reason_of, running_service
from tests.support.scripted_model import text

USER, ERROR, ASSISTANT = (
    sessions_pb2.MESSAGE_ROLE_USER,
    sessions_pb2.MESSAGE_ROLE_ERROR,
    sessions_pb2.MESSAGE_ROLE_ASSISTANT,
)
ANSWER = text("Which one do you mean?")


async def stored(service: RunningService, session_id: str) -> list[tuple[int, str]]:
    listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id=session_id))
    return [(message.role, message.content) for message in listed.messages]


async def test_a_message_that_is_too_long_says_how_long_it_may_be_and_is_kept(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, ANSWER, ANSWER) as service:
        matter_id = await service.create_matter()
        long = "Bitte prüfen Sie die folgende Klausel. " + "§" * 20_000
        final = final_of(await service.ask(long, matter_id, session_id="s"))
        assert (reason_of(final), cause_of(final)) == (ExitReason.MAX_CONTEXT_REACHED, ExitCause.MESSAGE_TOO_LONG)
        assert (final.retryable, final.display_message) == (chat_pb2.RETRYABLE_NO, True)
        limit = re.findall(r"\d+", final.message)[0]
        assert final.message == CAUSE_SEMANTICS[ExitCause.MESSAGE_TOO_LONG].text("de", limit=limit)
        assert await stored(service, "s") == [(USER, long), (ERROR, final.message)]

        fits = long[: int(limit)]
        assert reason_of(final_of(await service.ask(fits, matter_id, session_id="new"))) is ExitReason.COMPLETED
        over = final_of(await service.ask(long[: int(limit) + 1], matter_id, session_id="newer"))
        assert cause_of(over) is ExitCause.MESSAGE_TOO_LONG

        answered = final_of(await service.ask("Hello", matter_id, session_id="s"))
        assert reason_of(answered) is ExitReason.COMPLETED
        assert [message.content for message in answered.messages] == ["Hello", answered.message]
        assert [role for role, _ in await stored(service, "s")] == [USER, ERROR, USER, ASSISTANT]


async def test_a_message_that_a_full_conversation_has_no_room_for_is_kept_and_not_taken_along(
    tmp_path: Path, models_dir: Path
) -> None:
    async with running_service(tmp_path / "data", models_dir, ANSWER, ANSWER) as service:
        matter_id = await service.create_matter()
        await service.ask("x" * 9_000, matter_id, session_id="s")
        late = "What about this? " + "y" * 4_000
        final = final_of(await service.ask(late, session_id="s"))
        assert (reason_of(final), cause_of(final)) == (ExitReason.MAX_CONTEXT_REACHED, ExitCause.CONVERSATION_FULL)
        assert final.message == CAUSE_SEMANTICS[ExitCause.CONVERSATION_FULL].message
        assert (await stored(service, "s"))[2:] == [(USER, late), (ERROR, final.message)]

        assert reason_of(final_of(await service.ask("And now?", session_id="s"))) is ExitReason.COMPLETED
        continuing = sessions_pb2.ContinueSessionRequest(session_id="s", new_session_id="next")
        await service.sessions.ContinueSession(continuing)
        assert late not in [content for _, content in await stored(service, "next")]
