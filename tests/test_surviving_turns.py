"""Turns whose process is killed or stopped in the middle of them, and served again on the same state: the client, which
reconnects by itself, sees every sequence once and one final state, which is the stored one.

CHAOS_ROUNDS says how often each damage is repeated."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client import AsyncClient, AsyncTurn, RetryPolicy
from proviso_client.steps import ApprovalRequired, FinalState, Token, ToolStart
from proviso_client.v1 import chat_pb2, sessions_pb2, turns_pb2
from proviso_service.agent.tools_node import OUTCOME_UNKNOWN
from proviso_service.mcp.model import ServerState
from tests.support.agent_servers import CatalogView, with_servers
from tests.support.client_kinds import events_until
from tests.support.otlp_receiver import otlp_receiver
from tests.support.running import final_of, text_of

ROOT = Path(__file__).parents[1]
ROUNDS = int(os.environ.get("CHAOS_ROUNDS", "1"))
PATIENT = RetryPolicy(max_attempts=10_000, first_wait_s=0.05, longest_wait_s=0.2, give_up_after_s=600.0)
SERVER = {"command": sys.executable, "args": ["-m", "tests.support.noting_mcp_server"]}
pytestmark = pytest.mark.timeout(600)  # processes that import everything, on a busy machine


@dataclass
class Lives:
    """One state, and the process that serves it now, always at the same port."""

    folder: Path
    models_dir: Path
    port: int = 0
    telemetry: dict[str, str] = field(default_factory=dict)
    process: asyncio.subprocess.Process | None = None

    @property
    def gate(self) -> Path:
        """What waits, waits until this file is there."""
        return self.folder / "gate"

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def start(self) -> None:
        settings = {
            "agent_dir": str(self.folder / "agent"),
            "server": {"port": self.port, "drain_s": 0.1},
            "turns": {"lease_s": 2.0, "token_interval_s": 0},
            "telemetry": self.telemetry,
        }
        arguments = (self.folder / "data", self.models_dir, json.dumps(settings), self.gate)
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.support.surviving_service", *map(str, arguments)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
        )
        assert self.process.stdout is not None
        while "port" not in (told := _told(await self.process.stdout.readline())):
            pass
        self.port = told["port"]

    async def end(self, number: int = signal.SIGKILL) -> None:
        assert self.process is not None
        assert self.process.stdout is not None
        self.process.send_signal(number)
        await self.process.stdout.read()
        await self.process.wait()

    async def again(self, number: int = signal.SIGKILL) -> None:
        """Ends the process, and serves the state by another one."""
        await self.end(number)
        await self.start()

    async def notes_ready(self) -> None:
        """Returns when the server of `note` has listed it."""
        async with grpc.aio.insecure_channel(self.target) as channel:
            await CatalogView(channel).until_state("notes", ServerState.READY)

    async def called(self, calls: Path, times: int) -> None:
        """Returns when a tool has been called so many times."""
        async with asyncio.timeout(60):
            while await asyncio.to_thread(_size, calls) < times:  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.02)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _told(line: bytes) -> dict[str, Any]:
    assert line, "the process has ended of itself"
    told: dict[str, Any] = json.loads(line[2:]) if line.startswith(b"@ ") else {}
    return told


@pytest.fixture
async def lives(tmp_path: Path, models_dir: Path) -> AsyncIterator[Lives]:
    (tmp_path / "agent").mkdir()
    with_servers(tmp_path / "agent", {"notes": SERVER | {"include": "always", "approval": "required"}})
    lives = Lives(tmp_path, models_dir)
    await lives.start()
    try:
        await lives.notes_ready()
        yield lives
    finally:
        if lives.process is not None and lives.process.returncode is None:
            await lives.end()


@asynccontextmanager
async def asked(lives: Lives, *steps: dict[str, Any]) -> AsyncIterator[tuple[AsyncClient, AsyncTurn]]:
    async with AsyncClient(lives.target, retries=PATIENT) as client:
        matter = await client.matters.create("M")
        question = json.dumps({"steps": steps})
        yield client, client.chat(question, matter_id=matter.matter_id, session_id="s")


async def ended_well(client: AsyncClient, turn: AsyncTurn, events: list[chat_pb2.AgentEvent]) -> chat_pb2.FinalState:
    """The end of the turn, of which these are all events."""
    final = final_of(events)
    assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED, final
    assert text_of(events) == final.message
    assert not turn.events_missed
    stored = await client.get_turn(turn.turn_id)
    assert (stored.final_state, stored.last_sequence) == (final, events[-1].sequence)
    whole = [event async for event in _resumed(client, turn.turn_id)]
    assert final_of(whole) == final, "who reads it from its beginning misses nothing either"
    kept = [message async for message in client.sessions.messages("s")]
    roles = [message.role for message in kept if message.turn_id == turn.turn_id]
    assert roles[0] == sessions_pb2.MESSAGE_ROLE_USER
    assert roles[-1] == sessions_pb2.MESSAGE_ROLE_ASSISTANT
    assert roles.count(sessions_pb2.MESSAGE_ROLE_USER) == 1
    return final


async def _resumed(client: AsyncClient, turn_id: str) -> AsyncIterator[chat_pb2.AgentEvent]:
    turn = client.resume(turn_id)
    async for _ in turn:
        assert turn.last_event is not None
        yield turn.last_event


def of_kind(events: list[chat_pb2.AgentEvent], kind: str) -> list[Any]:
    return [getattr(event, kind) for event in events if event.WhichOneof("event") == kind]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_turn_in_the_middle_of_its_text_goes_on(lives: Lives, number: int) -> None:
    for _ in range(ROUNDS):
        lives.gate.unlink(missing_ok=True)
        step = {"tokens": ["Good ", "day."], "repeat": 3, "gate": {"before": 3, "path": str(lives.gate)}}
        async with asked(lives, step) as (client, turn):
            events = await events_until(turn, Token)
            (question,) = [one async for one in client.sessions.messages("s") if one.turn_id == turn.turn_id]
            assert question.role == sessions_pb2.MESSAGE_ROLE_USER, "it is in the session before the turn has ended"
            reading = asyncio.create_task(events_until(turn))
            await lives.again(number)
            lives.gate.touch()
            events += await reading
            final = await ended_well(client, turn, events)
            assert final.message == "Good day." * 3
            voided = [discarded.text_id for discarded in of_kind(events, "text_discarded")]
            assert "text-1" in voided
            kept = [one async for one in client.sessions.messages("s") if one.turn_id == turn.turn_id]
            assert (kept[0].message_id, kept[0].content) == (question.message_id, question.content)


async def test_a_turn_that_is_taken_over_is_counted(lives: Lives, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "50")
    step = {"tokens": ["Good ", "day."], "gate": {"before": 1, "path": str(lives.gate)}}
    with otlp_receiver() as receiver:
        async with asked(lives, step) as (client, turn):
            events = await events_until(turn, Token)
            lives.telemetry = {"otlp_endpoint": receiver.endpoint}
            await lives.again()
            reading = asyncio.create_task(events_until(turn))
            await asyncio.to_thread(
                receiver.metrics.wait_until, lambda numbers: numbers.get("proviso.turns.taken_over") == 1
            )
            lives.gate.touch()
            await ended_well(client, turn, events + await reading)


async def test_a_turn_in_the_middle_of_an_own_tool_makes_the_call_again(lives: Lives) -> None:
    for _ in range(ROUNDS):
        lives.gate.unlink(missing_ok=True)
        calls = lives.gate.with_suffix(".calls")
        calls.unlink(missing_ok=True)
        listing = {"calls": [{"name": "list_matter_documents"}]}
        async with asked(lives, listing, {"tokens": ["Nothing ", "yet."]}) as (client, turn):
            events = await events_until(turn, ToolStart)
            await lives.called(calls, 1)
            reading = asyncio.create_task(events_until(turn))
            await lives.again()
            await lives.called(calls, 2)
            lives.gate.touch()
            events += await reading
            final = await ended_well(client, turn, events)
            assert len(of_kind(events, "tool_start")) == 1
            (end,) = of_kind(events, "tool_end")
            assert (end.error, final.tool_calls) == ("", 1)


async def test_a_call_of_another_server_that_was_under_way_is_not_made_again_unless_a_person_says_so(
    lives: Lives,
) -> None:
    for _ in range(ROUNDS):
        lives.gate.unlink(missing_ok=True)
        calls = lives.folder / "noted"
        calls.unlink(missing_ok=True)
        noting = {"calls": [{"name": "notes__note", "args": {"called": str(calls), "gate": str(lives.gate)}}]}
        async with asked(lives, noting, noting, {"tokens": ["It is ", "noted."]}) as (client, turn):
            events = await events_until(turn, ApprovalRequired)
            await client.approve(turn.turn_id, events[-1].approval_required.call_id)
            events += await events_until(turn, ToolStart)
            await lives.called(calls, 1)
            reading = asyncio.create_task(events_until(turn, ApprovalRequired))
            await lives.again()
            events += await reading
            assert calls.read_text() == ".", "nobody has approved a second call"
            (end,) = of_kind(events, "tool_end")
            assert end.error == OUTCOME_UNKNOWN
            lives.gate.touch()
            await lives.notes_ready()
            await client.approve(turn.turn_id, events[-1].approval_required.call_id)
            events += await events_until(turn)
            final = await ended_well(client, turn, events)
            assert calls.read_text() == ".."
            assert [record.error for record in final.tool_call_records] == [OUTCOME_UNKNOWN, ""]
            once = turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE
            assert [record.decision for record in final.tool_call_records] == [once, once]
            assert len([one async for one in client.audit_events() if one.action == "approve_once"]) >= 2


async def test_a_turn_that_waits_for_an_approval_waits_on(lives: Lives) -> None:
    for _ in range(ROUNDS):
        lives.gate.touch()
        calls = lives.folder / "noted"
        calls.unlink(missing_ok=True)
        noting = {"calls": [{"name": "notes__note", "args": {"called": str(calls), "gate": str(lives.gate)}}]}
        async with asked(lives, noting, {"tokens": ["It is ", "noted."]}) as (client, turn):
            events = await events_until(turn, ApprovalRequired)
            reading = asyncio.create_task(events_until(turn))
            await lives.again()
            await lives.notes_ready()
            await client.approve(turn.turn_id, events[-1].approval_required.call_id)
            events += await reading
            await ended_well(client, turn, events)
            assert calls.read_text() == "."


async def test_a_turn_that_ends_its_processes_ends_itself_after_the_second_take_over(lives: Lives) -> None:
    step = {"tokens": ["Good ", "day."], "gate": {"before": 1, "path": str(lives.gate)}}
    async with asked(lives, step) as (client, turn):
        events = await events_until(turn, Token)
        for _ in range(3):
            await lives.again()
        events += await events_until(turn, FinalState)
        final = final_of(events)
        assert final.exit_reason == turns_pb2.EXIT_REASON_INTERNAL_ERROR
        assert (await client.get_turn(turn.turn_id)).final_state == final
        kept = [message.role async for message in client.sessions.messages("s")]
        assert kept == [sessions_pb2.MESSAGE_ROLE_USER, sessions_pb2.MESSAGE_ROLE_ERROR]
