import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from proviso_client.v1 import chat_pb2, matters_pb2, turns_pb2
from tests.cli.scripted_server import Finished, ScriptedServer, final, start, token, turn

Proviso = Callable[..., Finished]


def ask(proviso: Proviso, server: ScriptedServer, *more: str) -> Finished:
    return proviso("chat", "--address", server.address, "--message", "Which law?", *more)


def test_one_message_is_answered_on_stdout(proviso: Proviso, server: ScriptedServer) -> None:
    server.chat.events = turn(start(), token("Delaware"), token("."), final("Delaware."))
    ended = ask(proviso, server, "--session", "s-1")
    assert (ended.exit_code, ended.out, ended.err) == (0, "Delaware.\n", "")
    (request,) = server.chat.requests
    assert (request.message, request.session_id) == ("Which law?", "s-1")
    assert not request.HasField("matter_context")


def test_matter_and_document_are_found_by_name(proviso: Proviso, server: ScriptedServer) -> None:
    matter = server.matters.add("Northwind")
    server.matters.documents = [
        matters_pb2.Document(document_id="old", filename="NDA.md"),
        matters_pb2.Document(document_id="new", filename="NDA.md"),
    ]
    server.chat.events = turn(start(), final("Yes."))
    assert ask(proviso, server, "--matter", "Northwind", "--document", "nda.md").exit_code == 0
    context = server.chat.requests[0].matter_context
    assert (context.matter_id, context.document_id, context.document_name) == (matter.matter_id, "new", "NDA.md")


def test_unknown_matter_names_near_ones(proviso: Proviso, server: ScriptedServer) -> None:
    server.matters.add("Smith v. Jones")
    server.matters.add("Northwind Robotics")
    ended = ask(proviso, server, "--matter", "northwind robotic")
    assert ended.exit_code == 1
    assert ended.err == "proviso: There is no matter 'northwind robotic'; near names: 'Northwind Robotics'\n"


def test_unknown_document_names_near_ones(proviso: Proviso, server: ScriptedServer) -> None:
    server.matters.add("M")
    server.matters.documents = [matters_pb2.Document(document_id="d", filename="mutual-nda.md")]
    ended = ask(proviso, server, "--matter", "M", "--document", "nda.md")
    assert ended.exit_code == 1
    assert "'mutual-nda.md'" in ended.err


def test_document_without_matter_is_a_usage_error(proviso: Proviso) -> None:
    assert proviso("chat", "--document", "nda.md").exit_code == 2


def test_cut_stream_is_resumed_without_loss_or_repetition(proviso: Proviso, server: ScriptedServer) -> None:
    server.chat.events = turn(start(), token("One "), token("two "), token("three."), final("One two three."))
    server.chat.cuts = [0, 2, 2, 4]
    ended = ask(proviso, server)
    assert (ended.exit_code, ended.out) == (0, "One two three.\n")
    assert server.chat.resumes == [2, 2, 4]
    first, second = server.chat.requests
    assert first.request_id == second.request_id != ""


def test_expired_turn_ends_with_its_stored_state(proviso: Proviso, server: ScriptedServer) -> None:
    server.chat.events = turn(start(), token("One"), final("One two."))
    server.chat.cuts, server.chat.expired = [2], True
    ended = ask(proviso, server)
    assert ended.exit_code == 0
    assert ended.out.endswith("One two.\n")


def test_server_that_stays_away_is_one_line(proviso: Proviso, server: ScriptedServer) -> None:
    server.chat.events = turn(start(), final("Never."))
    server.chat.cuts = [1] * 20
    ended = ask(proviso, server)
    assert ended.exit_code == 1
    assert ended.err.count("\n") == 1


def test_other_endings_fail_and_say_why(proviso: Proviso, server: ScriptedServer) -> None:
    server.chat.events = turn(
        start(), final("Sorry.", exit_reason=turns_pb2.EXIT_REASON_LLM_ERROR, retryable=chat_pb2.RETRYABLE_MAYBE)
    )
    ended = ask(proviso, server)
    assert ended.exit_code == 1
    assert ended.out == "Sorry.\n  Ended: LLM_ERROR; sending it again may help\n"


@pytest.mark.parametrize(("flags", "release"), [((), "UNSPECIFIED"), (("--raw",), "RAW")])
def test_text_is_sent_once_checked_unless_raw_text_is_asked_for(
    proviso: Proviso, server: ScriptedServer, flags: tuple[str, ...], release: str
) -> None:
    server.chat.events = turn(start(), final("Yes."))
    assert ask(proviso, server, *flags).exit_code == 0
    assert server.chat.requests[0].options.text_release == chat_pb2.TextRelease.Value(f"TEXT_RELEASE_{release}")


def test_json_is_one_line_for_each_event(proviso: Proviso, server: ScriptedServer) -> None:
    server.chat.events = turn(start(), token("Grün"), final("Grün"))
    ended = ask(proviso, server, "--json")
    events = [json.loads(line) for line in ended.out.splitlines()]
    assert [event["sequence"] for event in events] == [1, 2, 3]
    assert events[1]["token"]["text"] == "Grün"
    assert events[2]["final_state"]["exit_reason"] == "EXIT_REASON_COMPLETED"


def test_conversation_reads_until_end_of_input(
    proviso: Proviso, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.chat.events = turn(start(), token("Yes."), final("Yes."))
    lines = iter(["First?", "  ", "Second?"])

    def read(_: str) -> str:
        line = next(lines, None)
        if line is None:
            raise EOFError
        return line

    monkeypatch.setattr("builtins.input", read)
    ended = proviso("chat", "--address", server.address)
    assert ended.exit_code == 0
    assert [request.message for request in server.chat.requests] == ["First?", "Second?"]
    assert len({request.session_id for request in server.chat.requests}) == 1
    assert f"--session {server.chat.requests[0].session_id}" in ended.out


def test_an_answer_that_is_under_way_comes_before_the_next_message(
    proviso: Proviso, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.chat.events = turn(start(), token("Yes."), final("Yes."))
    server.chat.busy = 2
    lines = iter(["Next?"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines, "exit"))
    ended = proviso("chat", "--address", server.address, "--session", "s-1")
    assert (ended.exit_code, ended.err) == (0, "")
    assert [request.message for request in server.chat.requests] == ["Next?"] * 3
    assert server.chat.resumes == [0, 0]
    assert ended.out.count("This session is still answering an earlier message. Yours is sent after it.\nYes.\n") == 2
    assert ended.out.count("Yes.\n") == 3


def test_after_a_cancelled_answer_the_next_message_is_not_sent(
    proviso: Proviso, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled = final("", exit_reason=turns_pb2.EXIT_REASON_CANCELLED, display_message=False)
    server.chat.events = turn(start(), cancelled)
    server.chat.busy = 1
    lines = iter(["Next?"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines, "exit"))
    assert proviso("chat", "--address", server.address, "--session", "s-1").exit_code == 0
    assert (len(server.chat.requests), server.chat.resumes) == (1, [0])


def test_a_single_message_to_a_busy_session_is_refused(proviso: Proviso, server: ScriptedServer) -> None:
    server.chat.busy = 1
    ended = ask(proviso, server, "--session", "s-1")
    assert (ended.exit_code, ended.out) == (1, "")
    assert ended.err == (
        "proviso: This session is answering another message; wait for it to end, or use another --session\n"
    )


def test_ctrl_c_cancels_the_turn(server: ScriptedServer, tmp_path: Path) -> None:
    server.chat.events = turn(
        start(),
        token("Thinking"),
        final("", exit_reason=turns_pb2.EXIT_REASON_CANCELLED, display_message=False),
    )
    server.chat.wait_for_cancel = True
    command = [sys.executable, "-m", "proviso_service.cli", "chat", "--address", server.address, "--message", "Hm?"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as chat:
        assert chat.stdout
        assert os.read(chat.stdout.fileno(), 100) == b"Thinking"
        chat.send_signal(signal.SIGINT)
        out, err = chat.communicate(timeout=20)
    assert server.chat.cancelled.is_set()
    assert (chat.returncode, err) == (130, b"")
    assert b"Ended: CANCELLED" in out
