"""A conversation that is full goes on in a new session, and a message that came to nothing is not lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proviso_client.v1 import chat_pb2, context_pb2, turns_pb2
from proviso_service.cli.conversation import is_lost
from tests.cli.scripted_server import Finished, ScriptedServer, final, start, turn
from tests.cli.terminal_screen import chatting

Talk = Callable[..., Finished]
FULL = {
    "exit_reason": turns_pb2.EXIT_REASON_MAX_CONTEXT_REACHED,
    "exit_cause": turns_pb2.EXIT_CAUSE_CONVERSATION_FULL,
    "retryable": chat_pb2.RETRYABLE_NO,
}


def full() -> list[chat_pb2.AgentEvent]:
    return turn(start(), final("There is no room left.", **FULL))


def answered(message: str = "Ohio.", **fields: Any) -> list[chat_pb2.AgentEvent]:
    return turn(start(), final(message, **fields))


@pytest.fixture
def talk(proviso: Talk, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Types lines into a conversation in session s-1, and ends it."""

    def talk(*lines: str) -> Finished:
        typed = iter(lines)
        monkeypatch.setattr("builtins.input", lambda _: next(typed, "exit"))
        return proviso("chat", "--address", server.address, "--session", "s-1")

    return talk


def test_a_full_session_goes_on_in_a_new_one_which_is_sent_the_message(server: ScriptedServer, talk: Talk) -> None:
    server.chat.turns = [answered(), full(), answered("Oregon."), answered("Maine.")]
    ended = talk("First?", "Second?", "/continue", "Third?")
    assert (ended.exit_code, ended.err) == (0, "")
    asked = [(request.session_id, request.message) for request in server.chat.requests]
    new = asked[-1][0]
    assert asked == [("s-1", "First?"), ("s-1", "Second?"), (new, "Second?"), (new, "Third?")]
    assert new in server.sessions.sessions
    assert new != "s-1"
    assert ended.out.endswith(
        "There is no room left.\n"
        "  Ended: MAX_CONTEXT_REACHED (CONVERSATION_FULL); sending it again does not help\n"
        "This session is full. /continue goes on in a new one, with the items, the matter and the last answers of this "
        "one, and sends your message there.\n"
        f"This is session {new} now, with 4 messages of the old one. The old one stays as it is.\n"
        "Oregon.\nMaine.\n"
        f"\nGo on later with: proviso chat --session {new}\n"
    )


def test_a_session_that_is_nearly_full_says_so(server: ScriptedServer, talk: Talk) -> None:
    fill = context_pb2.ContextFill(characters_used=11_000, characters_limit=12_000, near_limit=True)
    server.chat.events = answered(request_context=context_pb2.RequestContext(fill=fill))
    ended = talk("Which law?")
    assert "Ohio.\nThis session is nearly full. /continue goes on in a new one" in ended.out


def test_a_session_that_is_not_full_can_go_on_too_and_nothing_is_sent_again(server: ScriptedServer, talk: Talk) -> None:
    server.chat.turns = [full(), answered(), answered()]
    talk("First?", "Another?", "/continue", "Third?")
    assert [request.message for request in server.chat.requests] == ["First?", "Another?", "Third?"]
    assert server.chat.requests[-1].session_id != "s-1"


def test_one_message_to_a_full_session_says_how_to_go_on(proviso: Talk, server: ScriptedServer) -> None:
    server.chat.events = full()
    ended = proviso("chat", "--address", server.address, "--session", "s-1", "--message", "Which law?")
    assert ended.exit_code == 1
    assert "In proviso chat --session s-1, /continue goes on in a new one" in ended.out
    as_json = proviso("chat", "--address", server.address, "--session", "s-1", "--message", "Which law?", "--json")
    assert all(line.startswith("{") for line in as_json.out.splitlines())


@pytest.mark.parametrize(
    ("reason", "cause", "retryable", "lost"),
    [
        ("COMPLETED", "UNSPECIFIED", "NOT_APPLICABLE", False),
        ("MAX_TOOL_CALLS_REACHED", "UNSPECIFIED", "YES", False),
        ("MAX_CONTEXT_REACHED", "MESSAGE_TOO_LONG", "NO", True),
        ("MAX_CONTEXT_REACHED", "CONVERSATION_FULL", "NO", True),
        ("RATE_LIMITED", "UNSPECIFIED", "YES", True),
        ("LLM_ERROR", "PROVIDER_PAUSED", "YES", True),
        ("LLM_GENERATION_FAILURE", "EMPTY", "YES", True),
        ("LLM_GENERATION_FAILURE", "BLOCKED", "NO", True),
        ("LLM_GENERATION_FAILURE", "NOTHING_FOUND", "YES", False),
        ("LLM_GENERATION_FAILURE", "UNGROUNDED", "YES", False),
        ("CANCELLED", "CANCELLED_BY_CALLER", "NOT_APPLICABLE", False),
        ("CANCELLED", "STOPPING", "YES", True),
        ("CANCELLED", "ABANDONED", "YES", True),
    ],
)
def test_a_message_is_lost_unless_it_was_answered_refused_or_cancelled(
    reason: str, cause: str, retryable: str, lost: bool
) -> None:
    state = chat_pb2.FinalState(
        exit_reason=f"EXIT_REASON_{reason}", exit_cause=f"EXIT_CAUSE_{cause}", retryable=f"RETRYABLE_{retryable}"
    )
    assert is_lost(state) is lost


@pytest.mark.parametrize("failure", ["turn", "call"])
def test_a_message_that_came_to_nothing_stands_in_the_next_prompt(
    server: ScriptedServer, tmp_path: Path, failure: str
) -> None:
    busy = final("Busy.", exit_reason=turns_pb2.EXIT_REASON_RATE_LIMITED, retryable=chat_pb2.RETRYABLE_YES)
    server.chat.turns = [turn(start(), busy), answered()]
    if failure == "call":
        server.chat.turns, server.chat.refused = [answered()], 1
    question = "Which law governs it?"
    with chatting(server, tmp_path) as screen:
        screen.types(question + "\n")
        screen.shows("governs it?\n")
        screen.shows("governs it?")  # in the next prompt
        screen.types(" Now.\n")
        screen.shows("Ohio.\n\n> ")
    assert [request.message for request in server.chat.requests] == [question, f"{question} Now."]
