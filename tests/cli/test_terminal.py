"""What is typed or pasted into a conversation on a terminal."""

from pathlib import Path

from proviso_client.v1 import chat_pb2, turns_pb2
from tests.cli.scripted_server import ScriptedServer, final, start, token, turn
from tests.cli.terminal_screen import chatting

LONG = " ".join(f"word{number}" for number in range(1_200))
"""More than twice what a terminal that hands out whole lines keeps of one, which is 4,095 bytes."""


def held(*events: chat_pb2.AgentEvent) -> list[chat_pb2.AgentEvent]:
    """A turn that shows "Oh", then has the events, and goes on when the test lets it."""
    call = chat_pb2.AgentEvent(tool_start=chat_pb2.ToolStart(call_id="c", tool="now"))
    return turn(start(), token("Oh"), *events, call, token("io."), final("Ohio."))


def asking() -> chat_pb2.AgentEvent:
    return chat_pb2.AgentEvent(approval_required=chat_pb2.ApprovalRequired(call_id="c", tool="now"))


def test_a_long_line_at_the_prompt_is_sent_whole(server: ScriptedServer, tmp_path: Path) -> None:
    server.chat.events = turn(start(), final("Ohio."))
    with chatting(server, tmp_path) as screen:
        screen.types(f"{LONG}\n")
        screen.shows("Ohio.\n")
    assert [request.message for request in server.chat.requests] == [LONG]


def test_a_long_line_that_is_pasted_while_an_answer_runs_is_the_next_message(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.chat.turns = [held(), turn(start(), final("Maine."))]
    server.chat.decisions_wanted = 1
    with chatting(server, tmp_path) as screen:
        screen.types("Which law?\n")
        screen.shows("\nOh")
        screen.types(f"{LONG}\n")
        server.chat.decided.release()
        assert not screen.shows("io.\n")  # what was pasted does not stand in the answer
        screen.shows("Maine.\n")
    assert [request.message for request in server.chat.requests] == ["Which law?", LONG]


def test_an_answer_to_a_question_can_be_corrected_before_it_is_sent(server: ScriptedServer, tmp_path: Path) -> None:
    server.chat.turns = [held(asking())]
    server.chat.decisions_wanted = 1
    with chatting(server, tmp_path) as screen:
        screen.types("Which law?\n")
        screen.shows("[d]eny: ")
        screen.types("d\x7fo\n")
        screen.shows("io.\n")
    assert server.chat.decisions == [("c", turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE)]
