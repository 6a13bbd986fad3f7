"""Commands in a conversation: what they ask the service, and what they show."""

from collections.abc import Callable

import pytest

from proviso_client.v1 import context_pb2, sessions_pb2, turns_pb2
from tests.cli.scripted_server import Finished, ScriptedServer, final, start, turn

Proviso = Callable[..., Finished]
Talk = Callable[..., Finished]

PLAIN = context_pb2.RequestContextItem(
    type=context_pb2.CONTEXT_ITEM_TYPE_RULE, name="Plain English", include_mode=context_pb2.INCLUDE_MODE_ALWAYS
)
CONTEXT = context_pb2.RequestContext(
    items=[PLAIN],
    omitted=[
        context_pb2.OmittedContextItem(
            item=context_pb2.ContextItemRef(type=context_pb2.CONTEXT_ITEM_TYPE_REFERENCE, name="Glossary"),
            reason=context_pb2.OMISSION_REASON_BUDGET,
            score=0.5,
        )
    ],
)
PAGE = """\
1 rule (always)

Context Used:
Rules (1):
  • Plain English [Always]

Left out (1):
  • Glossary [Reference - 0.50] better items took the room
"""


def answer(content: str, turn_id: str, context: context_pb2.RequestContext | None = None) -> sessions_pb2.ChatMessage:
    return sessions_pb2.ChatMessage(
        role=sessions_pb2.MESSAGE_ROLE_ASSISTANT, content=content, turn_id=turn_id, request_context=context
    )


@pytest.fixture
def talk(proviso: Proviso, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Types lines into a conversation until they end."""

    def talk(*lines: str, session: str = "s-1") -> Finished:
        typed = iter(lines)

        def read(_: str) -> str:
            line = next(typed, None)
            if line is None:
                raise EOFError
            return line

        monkeypatch.setattr("builtins.input", read)
        return proviso("chat", "--address", server.address, *(["--session", session] if session else []))

    return talk


def shown(ended: Finished) -> str:
    """What stands between the greeting and the parting line."""
    assert ended.exit_code == 0
    return ended.out.partition("ends the conversation.\n")[2].partition("\nGo on later")[0]


def test_context_shows_the_last_answers_summary_items_and_details(server: ScriptedServer, talk: Talk) -> None:
    server.sessions.pages = [[answer("One.", "t-1")], [answer("Two.", "t-2", CONTEXT)]]
    assert shown(talk("/context")) == PAGE


def test_context_of_an_answer_without_one_says_so(server: ScriptedServer, talk: Talk) -> None:
    server.sessions.pages = [[answer("One.", "t-1")]]
    assert shown(talk("/context")) == "No context data available\n"


def test_a_new_session_has_no_answer_and_no_messages(talk: Talk) -> None:
    ended = talk("/context", "/rebuild", "/history", session="")
    assert shown(ended) == (
        "There is no answer in this session yet.\n" * 2 + "There are no messages in this session yet.\n"
    )


def test_a_session_is_renamed_and_its_last_answer_rated(server: ScriptedServer, talk: Talk) -> None:
    server.sessions.pages = [[answer("One.", "t-1")], [answer("Two.", "t-2")]]
    ended = talk("/rename Rent", "/rate down The date is missing", "/rate up")
    assert shown(ended).splitlines() == [
        "The title of the session is: Rent",
        "Thank you. The last answer is rated: down",
        "Thank you. The last answer is rated: up",
    ]
    assert server.sessions.sessions["s-1"].title == "Rent"
    assert [(one.turn_id, one.rating, one.text) for one in server.sessions.rated] == [
        ("t-2", sessions_pb2.RATING_DOWN, "The date is missing"),
        ("t-2", sessions_pb2.RATING_UP, ""),
    ]


def test_items_are_added_and_removed_before_the_first_message(server: ScriptedServer, talk: Talk) -> None:
    ended = talk('/add rule "Plain English"', "/add tool time:now", "/remove rule Plain English", session="")
    (session,) = server.sessions.sessions.values()
    assert [item.item.name for item in session.items] == ["now"]
    assert shown(ended).splitlines() == [
        "Plain English is in the session: 1 rule (manual)",
        "time:now is in the session: 1 rule (manual), 1 tool (manual)",
        "Plain English is not in the session: 1 tool (manual)",
    ]
    assert f"--session {session.session_id}" in ended.out


def test_a_failed_command_says_why_and_the_conversation_goes_on(server: ScriptedServer, talk: Talk) -> None:
    server.sessions.unknown = {"Plain Englsh"}
    server.chat.events = turn(start(), final("Ohio."))
    ended = talk("/add rule Plain Englsh", "/add rule", "/forget", "Which law?")
    assert ended.err.splitlines()[0] == "proviso: There is no rule 'Plain Englsh'; near: 'Plain English'"
    assert len(ended.err.splitlines()) == 3
    assert shown(ended) == "Ohio.\n"


def test_preview_shows_what_a_message_would_be_given_without_sending_it(server: ScriptedServer, talk: Talk) -> None:
    server.sessions.preview = CONTEXT
    assert shown(talk("/preview Which law?")) == PAGE
    (request,) = server.sessions.previews
    assert (request.session_id, request.message) == ("s-1", "Which law?")
    assert not server.chat.requests


def test_rebuild_of_the_last_answer_matches(server: ScriptedServer, talk: Talk) -> None:
    server.sessions.pages = [[answer("One.", "t-1"), answer("Two.", "t-2")]]
    server.sessions.rebuilt = sessions_pb2.RebuildRequestResponse(matches=True, payload_sha256="ab12")
    assert shown(talk("/rebuild")) == "The request can be rebuilt exactly as it was sent (SHA-256 ab12).\n"
    assert server.sessions.rebuilds == ["t-2"]


def test_rebuild_names_what_has_changed(server: ScriptedServer, talk: Talk) -> None:
    changes = (sessions_pb2.ITEM_CHANGE_CHANGED, sessions_pb2.ITEM_CHANGE_MISSING, sessions_pb2.ITEM_CHANGE_LOST)
    item = context_pb2.ContextItemRef(type=context_pb2.CONTEXT_ITEM_TYPE_RULE, name="Plain")
    server.sessions.pages = [[answer("One.", "t-1")]]
    server.sessions.rebuilt = sessions_pb2.RebuildRequestResponse(
        differences=[sessions_pb2.ItemDifference(item=item, change=change) for change in changes],
        system_prompt_changed=True,
    )
    assert shown(talk("/rebuild")).splitlines() == [
        "The request as rebuilt differs from the one that was sent.",
        "  • Plain has another version in the catalog now",
        "  • Plain has left the catalog",
        "  • Plain is no longer stored as it was used: the payload lacks it",
        "  • The service's own instructions have changed",
    ]


def test_history_shows_the_messages(server: ScriptedServer, talk: Talk) -> None:
    server.sessions.pages = [
        [sessions_pb2.ChatMessage(role=sessions_pb2.MESSAGE_ROLE_USER, content="Which law?")],
        [answer("Ohio\x1b.", "t-1", CONTEXT)],
    ]
    server.sessions.pages[1][0].turn.exit_reason = turns_pb2.EXIT_REASON_COMPLETED
    assert shown(talk("/history")).splitlines() == [
        "User",
        "Which law?",
        "",
        "Assistant, COMPLETED",
        "Ohio\ufffd.",
        "  1 rule (always)",
    ]


def test_help_lists_the_commands_and_a_space_makes_a_message(server: ScriptedServer, talk: Talk) -> None:
    server.chat.events = turn(start(), final("Yes."))
    ended = talk("/help", " /s/ is a signature?")
    assert "/preview MESSAGE" in ended.out
    assert [request.message for request in server.chat.requests] == [" /s/ is a signature?"]
