"""Tool calls that wait for an approval, in a conversation."""

import asyncio
import io
import os
import pty
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from google.protobuf import timestamp_pb2
from rich.console import Console

from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_service.cli.approvals import Approvals, asking
from proviso_service.cli.connection import connect
from proviso_service.cli.server_options import Server
from proviso_service.cli.transcript import Screen
from tests.cli.scripted_server import TURN_ID, ScriptedServer, final, start, turn

ONCE = turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE
SESSION = turns_pb2.TOOL_CALL_DECISION_APPROVE_FOR_SESSION
DENY = turns_pb2.TOOL_CALL_DECISION_DENY
STEPS = 20
"""Of the event loop, enough for what was typed to be read."""
CHOICE = "Allow this call? [o]nce, for the [s]ession, [d]eny: "


def waits(call_id: str = "c-1", tool: str = "time__now", input_json: str = '{"zone": "UTC"}') -> chat_pb2.AgentEvent:
    asked = chat_pb2.ApprovalRequired(call_id=call_id, tool=tool, server_name="time", input_json=input_json)
    return chat_pb2.AgentEvent(turn_id=TURN_ID, approval_required=asked)


def starts(call_id: str = "c-1") -> chat_pb2.AgentEvent:
    return chat_pb2.AgentEvent(turn_id=TURN_ID, tool_start=chat_pb2.ToolStart(call_id=call_id, tool="now"))


@dataclass
class Person:
    """Is asked, and types; `None` ends the input."""

    lines: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    questions: asyncio.Queue[None] = field(default_factory=asyncio.Queue)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Nothing is typed before a question."""
        assert self.lines.empty()
        yield

    async def read_line(self) -> str:
        self.questions.put_nowait(None)
        line = await self.lines.get()
        if line is None:
            raise EOFError
        return line

    async def asked(self, times: int = 1) -> None:
        for _ in range(times):
            await asyncio.wait_for(self.questions.get(), 10)


@dataclass
class Asked:
    """A person who is asked: what is shown to them, and the calls that wait."""

    page: io.StringIO
    person: Person
    approvals: Approvals

    @property
    def shown(self) -> list[str]:
        return self.page.getvalue().splitlines()

    async def decides(self, line: str | None) -> None:
        await self.person.asked()
        self.person.lines.put_nowait(line)


@asynccontextmanager
async def asking_person(server: ScriptedServer, *, has_person: bool = True) -> AsyncIterator[Asked]:
    page, person = io.StringIO(), Person()
    screen = Screen(Console(file=page, width=200, soft_wrap=True))
    asked = person if has_person else None
    async with connect(Server(server.address)) as connection, asking(connection, screen, asked) as approvals:
        yield Asked(page, person, approvals)


async def decided(server: ScriptedServer, count: int) -> None:
    """Returns when the service has had so many decisions."""
    for _ in range(count):
        assert await asyncio.to_thread(server.chat.decided.acquire, timeout=10)


@pytest.mark.parametrize(
    ("typed", "decision"), [("o", ONCE), ("Once\n", ONCE), ("s", SESSION), ("session", SESSION), ("D\n", DENY)]
)
async def test_a_decision_is_sent(server: ScriptedServer, typed: str, decision: int) -> None:
    async with asking_person(server) as at:
        at.approvals.note(waits())
        await at.decides(typed)
        await decided(server, 1)
    assert server.chat.decisions == [("c-1", decision)]
    assert at.shown == ['  time:now {"zone": "UTC"}', f"  {CHOICE}"]


async def test_an_unclear_line_is_asked_about_again(server: ScriptedServer) -> None:
    async with asking_person(server) as at:
        at.approvals.note(waits())
        for line in ("", "yes", "o"):
            await at.decides(line)
        await decided(server, 1)
    assert server.chat.decisions == [("c-1", ONCE)]


async def test_calls_are_asked_about_one_after_the_other(server: ScriptedServer) -> None:
    async with asking_person(server) as at:
        at.approvals.note(waits("c-1"))
        at.approvals.note(waits("c-2", "time__remove"))
        await at.decides("o")
        await decided(server, 1)
        await at.decides("d")
        await decided(server, 1)
    assert server.chat.decisions == [("c-1", ONCE), ("c-2", DENY)]


async def test_a_question_is_put_again_below_another_call_that_begins_to_wait(server: ScriptedServer) -> None:
    async with asking_person(server) as at:
        at.approvals.note(waits("c-1"))
        await at.person.asked()
        at.approvals.note(waits("c-2", "time__remove"))
        await at.decides("o")
        await decided(server, 1)
    assert server.chat.decisions == [("c-1", ONCE)]
    assert [line for line in at.shown if "zone" in line][:2] == ['  time:now {"zone": "UTC"}'] * 2


async def test_an_approval_for_the_session_covers_the_tools_other_calls(server: ScriptedServer) -> None:
    async with asking_person(server) as at:
        for call_id, tool in (("c-1", "time__now"), ("c-2", "time__now"), ("c-3", "time__remove")):
            at.approvals.note(waits(call_id, tool))
        await at.decides("s")
        await decided(server, 1)
        await at.decides("d")
        await decided(server, 1)
    assert server.chat.decisions == [("c-1", SESSION), ("c-3", DENY)]


async def test_a_question_is_withdrawn_when_its_call_starts(server: ScriptedServer) -> None:
    async with asking_person(server) as at:
        at.approvals.note(waits("c-1"))
        at.approvals.note(waits("c-2", "time__remove"))
        await at.person.asked()
        at.approvals.note(starts("c-1"))
        await at.decides("o")
        await decided(server, 1)
    assert server.chat.decisions == [("c-2", ONCE)]


async def test_nothing_is_asked_after_the_turn_has_ended(server: ScriptedServer) -> None:
    async with asking_person(server) as at:
        at.approvals.note(waits())
        await at.person.asked()
        at.approvals.note(final("", exit_reason=turns_pb2.EXIT_REASON_CANCELLED))
        at.approvals.note(waits("c-2", "time__remove"))
        await at.decides("d")
        await decided(server, 1)
    assert server.chat.decisions == [("c-2", DENY)]


async def test_a_decision_that_is_refused_is_told_and_not_repeated(server: ScriptedServer) -> None:
    server.chat.calls_not_waiting = {"c-1"}
    async with asking_person(server) as at:
        at.approvals.note(waits("c-1"))
        at.approvals.note(waits("c-2", "time__remove"))
        await at.decides("o")
        await at.decides("d")
        await decided(server, 2)
    assert "The call waits no more" in at.page.getvalue()
    assert server.chat.decisions == [("c-1", ONCE), ("c-2", DENY)]


async def test_without_a_person_it_says_how_to_decide(server: ScriptedServer) -> None:
    event = waits()
    event.approval_required.expire_time.CopyFrom(timestamp_pb2.Timestamp(seconds=1_767_323_045))
    async with asking_person(server, has_person=False) as at:
        at.approvals.note(event)
    instructed = "call ChatService.DecideToolCall with turn_id turn-1 and call_id c-1"
    assert at.shown == [
        '  time:now {"zone": "UTC"}',
        f"  waits for an approval until 03:04:05 UTC: {instructed}",
    ]


async def test_at_the_end_of_input_it_says_how_to_decide_on_every_call(server: ScriptedServer) -> None:
    async with asking_person(server) as at:
        at.approvals.note(waits("c-1"))
        at.approvals.note(waits("c-2", "time__remove"))
        await at.decides(None)
        for _ in range(STEPS):
            await asyncio.sleep(0)
        at.approvals.note(waits("c-3", "time__remove"))
    assert [line.rpartition(" ")[2] for line in at.shown if "DecideToolCall" in line] == ["c-1", "c-2", "c-3"]
    assert [line for line in at.shown if CHOICE in line] == [f"  {CHOICE}"]
    assert server.chat.decisions == []


async def test_what_a_call_asks_for_is_shown_whole_and_moves_no_cursor(server: ScriptedServer) -> None:
    long = '{"text": "' + "x" * 2_000 + '\x1b[2K\\n"}'
    async with asking_person(server) as at:
        at.approvals.note(waits(input_json=long))
        await at.decides("d")
        await decided(server, 1)
    assert at.shown[0] == "  time:now " + long.replace("\x1b", "\ufffd")


def test_a_person_at_a_terminal_decides(server: ScriptedServer, tmp_path: Path) -> None:
    server.chat.events = turn(start(), waits(), starts(), final("It is noon."))
    server.chat.decisions_wanted = 1
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "proviso_service.cli", "chat", "--address", server.address, "--message", "Time?"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as chat:
        assert chat.stdout
        shown = b""
        while CHOICE.encode() not in shown:
            piece = os.read(chat.stdout.fileno(), 1_000)
            assert piece, shown
            shown += piece
        os.write(controller, b"s\n")
        out, err = chat.communicate(timeout=20)
    os.close(controller)
    os.close(terminal)
    assert (chat.returncode, err) == (0, b"")
    assert server.chat.decisions == [("c-1", SESSION)]
    assert shown.count(b"now") == 1
    assert out.endswith(b"It is noon.\n")
