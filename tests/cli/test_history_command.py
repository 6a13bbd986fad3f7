"""`proviso history`."""

import json
from collections.abc import Callable

from proviso_client.v1 import sessions_pb2, turns_pb2
from tests.cli.scripted_server import Finished, ScriptedServer

Proviso = Callable[..., Finished]

QUESTION = sessions_pb2.ChatMessage(role=sessions_pb2.MESSAGE_ROLE_USER, content="Which law?")
ANSWER = sessions_pb2.ChatMessage(
    role=sessions_pb2.MESSAGE_ROLE_ASSISTANT,
    content="Ohio\x1b[31m\u2028law.",
    turn=turns_pb2.TurnSummary(exit_reason=turns_pb2.EXIT_REASON_COMPLETED, model="local"),
)


def show(proviso: Proviso, server: ScriptedServer, *more: str) -> Finished:
    server.sessions.sessions["s-1"] = sessions_pb2.Session(session_id="s-1")
    server.sessions.pages = [[QUESTION], [ANSWER, QUESTION]]
    return proviso("history", *more, "--address", server.address)


def test_every_page_is_shown_as_text(proviso: Proviso, server: ScriptedServer) -> None:
    ended = show(proviso, server, "s-1")
    assert (ended.exit_code, ended.err) == (0, "")
    assert ended.out == (
        "User\nWhich law?\n\n"
        "Assistant, COMPLETED, local\nOhio\ufffd[31m\ufffdlaw.\n  No context data available\n\n"
        "User\nWhich law?\n\n"
    )


def test_json_is_one_line_for_each_message(proviso: Proviso, server: ScriptedServer) -> None:
    ended = show(proviso, server, "s-1", "--json")
    messages = [json.loads(line) for line in ended.out.splitlines()]
    assert [message["content"] for message in messages] == ["Which law?", ANSWER.content, "Which law?"]
    assert messages[1]["turn"] == {"exit_reason": "EXIT_REASON_COMPLETED", "model": "local"}


def test_an_unknown_session_is_one_line_on_stderr(proviso: Proviso, server: ScriptedServer) -> None:
    ended = show(proviso, server, "s-2")
    assert (ended.exit_code, ended.out) == (1, "")
    assert ended.err == "proviso: There is no session 's-2'\n"
