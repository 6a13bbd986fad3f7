"""Turns that wait for a person, in the whole service: over restarts, and over a kill."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, sessions_pb2, turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub
from proviso_service.turns.endings import CANNOT_RESUME
from tests.support.endless_process import endless_service
from tests.support.marked_tools import needing_approval
from tests.support.running import RunningService, chat_request, final_of, running_service
from tests.support.scripted_model import Call, Step, calls, text

TOOL, OTHER_TOOL = "list_matter_documents", "isaacus_search"
CALL = calls(Call(TOOL))
ANSWER = text("You have no documents in this matter.")
SORRY = text("I could not look at your documents.")

ONCE = turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE
FOR_SESSION = turns_pb2.TOOL_CALL_DECISION_APPROVE_FOR_SESSION
DENY = turns_pb2.TOOL_CALL_DECISION_DENY
USER, ASSISTANT = sessions_pb2.MESSAGE_ROLE_USER, sessions_pb2.MESSAGE_ROLE_ASSISTANT
APPROVAL = sessions_pb2.MESSAGE_ROLE_APPROVAL


@asynccontextmanager
async def service(folder: Path, models_dir: Path, *script: Step, **settings: Any) -> AsyncIterator[RunningService]:
    with needing_approval(TOOL):
        async with running_service(folder, models_dir, *script, **settings) as running:
            yield running


@dataclass
class Turn:
    """A turn of a session, and the events that its readers have seen."""

    turn_id: str
    events: list[chat_pb2.AgentEvent] = field(default_factory=list)

    async def decide(self, running: RunningService, decision: turns_pb2.ToolCallDecision) -> None:
        (asked, *_) = [event.approval_required for event in self.events if event.HasField("approval_required")]
        request = chat_pb2.DecideToolCallRequest(turn_id=self.turn_id, call_id=asked.call_id, decision=decision)
        await running.chat.DecideToolCall(request)

    async def read_on(self, running: RunningService) -> chat_pb2.FinalState:
        after = self.events[-1].sequence
        request = chat_pb2.ResumeChatRequest(turn_id=self.turn_id, after_sequence=after)
        self.events += [event async for event in running.chat.ResumeChat(request)]
        return final_of(self.events)


async def asked(chat: ChatServiceStub, matter_id: str, session_id: str = "s") -> Turn:
    """A turn that waits, and whose reader has gone away."""
    call = chat.Chat(chat_request("What is there?", matter_id, session_id=session_id))
    events: list[chat_pb2.AgentEvent] = []
    async for event in call:  # type: ignore[attr-defined]
        events.append(event)
        if event.HasField("approval_required"):
            break
    call.cancel()
    return Turn(events[0].turn_id, events)


def kinds(turn: Turn) -> list[str]:
    return [str(event.WhichOneof("event")) for event in turn.events]


async def messages(running: RunningService) -> list[tuple[int, str]]:
    listed = await running.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s"))
    return [(message.role, message.content) for message in listed.messages]


async def test_an_approved_call_is_made_and_the_approval_kept_in_the_session(tmp_path: Path, models_dir: Path) -> None:
    async with service(tmp_path, models_dir, CALL, ANSWER, ANSWER) as running:
        matter_id = await running.create_matter()
        turn = await asked(running.chat, matter_id)
        await turn.decide(running, ONCE)
        final = await turn.read_on(running)
        assert kinds(turn)[:4] == ["turn_start", "approval_required", "tool_start", "tool_end"]
        assert not turn.events[3].tool_end.error
        assert (final.exit_reason, final.tool_calls) == (turns_pb2.EXIT_REASON_COMPLETED, 1)
        assert [role for role, _ in await messages(running)] == [USER, APPROVAL, ASSISTANT]
        assert (APPROVAL, f"Approved once: proviso:{TOOL}") in await messages(running)
        next_turn = final_of(await running.ask("And now?", matter_id, session_id="s"))
        assert APPROVAL not in [message.role for message in next_turn.messages]


async def test_a_denied_call_is_not_made_and_the_model_goes_on_without_it(tmp_path: Path, models_dir: Path) -> None:
    async with service(tmp_path, models_dir, CALL, SORRY) as running:
        turn = await asked(running.chat, await running.create_matter())
        await turn.decide(running, DENY)
        final = await turn.read_on(running)
        assert turn.events[3].tool_end.error == "The person did not approve this call."
        assert (final.exit_reason, final.tool_calls) == (turns_pb2.EXIT_REASON_COMPLETED, 0)
        assert (APPROVAL, f"Denied: proviso:{TOOL}") in await messages(running)


async def test_a_call_that_nobody_decides_on_expires(tmp_path: Path, models_dir: Path) -> None:
    async with service(tmp_path, models_dir, CALL, SORRY, turns={"approval_s": 0.1}) as running:
        events = await running.ask("What is there?", await running.create_matter(), session_id="s")
        assert final_of(events).exit_reason == turns_pb2.EXIT_REASON_COMPLETED
        errors = [event.tool_end.error for event in events if event.HasField("tool_end")]
        assert errors == ["Nobody decided on this call in time."]
        assert (APPROVAL, f"Not decided in time: proviso:{TOOL}") in await messages(running)


async def test_an_approval_for_the_session_holds_for_its_later_turns_only(tmp_path: Path, models_dir: Path) -> None:
    async with service(tmp_path, models_dir, CALL, ANSWER, CALL, ANSWER, CALL, SORRY) as running:
        matter_id = await running.create_matter()
        turn = await asked(running.chat, matter_id)
        await turn.decide(running, FOR_SESSION)
        await turn.read_on(running)
        later = await running.ask("And now?", matter_id, session_id="s", options={"disable_cache": True})
        assert [str(event.WhichOneof("event")) for event in later][1:3] == ["tool_start", "tool_end"]
        elsewhere = await asked(running.chat, matter_id, session_id="another")
        assert kinds(elsewhere)[-1] == "approval_required"
        session = (await running.sessions.GetSession(sessions_pb2.GetSessionRequest(session_id="s"))).session
        assert [tool.name for tool in session.approved_tools] == [TOOL]


async def test_of_two_calls_the_one_that_needs_no_approval_runs_with_the_approved_one(
    tmp_path: Path, models_dir: Path
) -> None:
    both = calls(Call(OTHER_TOOL, '{"query": "rent"}'), Call(TOOL))
    async with service(tmp_path, models_dir, both, SORRY) as running:
        turn = await asked(running.chat, await running.create_matter())
        assert kinds(turn) == ["turn_start", "approval_required"]
        await turn.decide(running, DENY)
        await turn.read_on(running)
    errors = {event.tool_end.tool: event.tool_end.error for event in turn.events if event.HasField("tool_end")}
    assert errors.keys() == {TOOL, OTHER_TOOL}
    assert errors[TOOL] == "The person did not approve this call."
    assert errors[OTHER_TOOL] != errors[TOOL]


@pytest.mark.parametrize(("decision", "answer"), [(ONCE, ANSWER), (DENY, SORRY)], ids=["approved", "denied"])
async def test_a_turn_waits_through_a_restart_of_the_service(
    tmp_path: Path, models_dir: Path, decision: turns_pb2.ToolCallDecision, answer: Step
) -> None:
    async with service(tmp_path, models_dir, CALL) as running:
        turn = await asked(running.chat, await running.create_matter())
    async with service(tmp_path, models_dir, answer) as running:
        state = await running.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=turn.turn_id))
        assert state.state == chat_pb2.TURN_STATE_AWAITING_APPROVAL
        assert list(state.pending_approvals) == [turn.events[-1].approval_required]
        await turn.decide(running, decision)
        final = await turn.read_on(running)
        assert final.message == answer.tokens[0]
        assert final.tool_calls == (1 if decision == ONCE else 0)
        assert [call.model for call in final.usage.calls] == ["scripted"] * 2
        begun = turn.events[0].turn_start.request_context
        ended = context_pb2.RequestContext()
        ended.CopyFrom(final.request_context)
        for item in ended.items:
            item.cited = False  # which is known at the end
        for name in ("items", "timestamp", "payload_sha256"):
            assert getattr(ended, name) == getattr(begun, name)
        assert [role for role, _ in await messages(running)] == [USER, APPROVAL, ASSISTANT]
        whole = Turn(turn.turn_id, turn.events[:1])
        assert await whole.read_on(running) == final


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE turns SET suspended = '{'",
        "UPDATE turns SET suspended = json_set(suspended, '$.version', 99)",
        "UPDATE turns SET suspended = json_set(suspended, '$.state', '{\"version\": 99}')",
    ],
    ids=["damaged", "another version", "another version of the agent"],
)
async def test_a_turn_whose_stored_state_cannot_be_read_ends_and_its_person_is_told(
    tmp_path: Path, models_dir: Path, damage: str
) -> None:
    async with service(tmp_path, models_dir, CALL) as running:
        matter_id = await running.create_matter()
        turn = await asked(running.chat, matter_id)
    with closing(sqlite3.connect(tmp_path / "state.sqlite3")) as database, database:
        assert database.execute(damage).rowcount == 1
    async with service(tmp_path, models_dir, ANSWER) as running:
        final = await ended(running, turn)
        assert (final.exit_reason, final.retryable) == (
            turns_pb2.EXIT_REASON_INTERNAL_ERROR,
            chat_pb2.RETRYABLE_YES,
        )
        assert (final.display_message, final.message) == (True, CANNOT_RESUME["en"])
        assert (await messages(running))[-1] == (sessions_pb2.MESSAGE_ROLE_ERROR, CANNOT_RESUME["en"])
        again = final_of(await running.ask("What is there?", matter_id, session_id="s"))
        assert again.message == ANSWER.tokens[0]


async def ended(running: RunningService, turn: Turn) -> chat_pb2.FinalState:
    """How a turn ended, once it has."""
    async with asyncio.timeout(60):
        while True:
            found = await running.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=turn.turn_id))
            if found.state == chat_pb2.TURN_STATE_ENDED:
                return found.final_state
            await asyncio.sleep(0.02)


@pytest.mark.timeout(300)  # on a busy machine
async def test_a_turn_waits_through_a_kill_of_the_service(tmp_path: Path, models_dir: Path) -> None:
    async with endless_service(tmp_path, models_dir, "tests.support.asking_service") as doomed:
        matter_id = await _matter(doomed.channel)
        turn = await asked(ChatServiceStub(doomed.channel), matter_id)
        doomed.process.kill()
        await doomed.process.wait()
    async with service(tmp_path, models_dir, ANSWER) as running:
        await turn.decide(running, ONCE)
        final = await turn.read_on(running)
        assert final.message == ANSWER.tokens[0]


@pytest.mark.timeout(300)  # on a busy machine
async def test_a_turn_that_is_killed_after_the_approved_call_goes_on_without_making_it_again(
    tmp_path: Path, models_dir: Path
) -> None:
    async with endless_service(tmp_path, models_dir, "tests.support.asking_service") as doomed:
        turn = await asked(ChatServiceStub(doomed.channel), await _matter(doomed.channel))
        chat = ChatServiceStub(doomed.channel)
        (approval,) = [event.approval_required for event in turn.events if event.HasField("approval_required")]
        await chat.DecideToolCall(
            chat_pb2.DecideToolCallRequest(turn_id=turn.turn_id, call_id=approval.call_id, decision=ONCE)
        )
        async for event in chat.ResumeChat(chat_pb2.ResumeChatRequest(turn_id=turn.turn_id)):
            if event.HasField("tool_end"):
                break
        doomed.process.kill()
        await doomed.process.wait()
    async with service(tmp_path, models_dir, ANSWER) as running:
        final = await ended(running, turn)
        assert (final.exit_reason, final.message) == (turns_pb2.EXIT_REASON_COMPLETED, ANSWER.tokens[0])
        assert [record.decision for record in final.tool_call_records] == [turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE]


async def _matter(channel: grpc.aio.Channel) -> str:
    created = await MatterServiceStub(channel).CreateMatter(matters_pb2.CreateMatterRequest(name="M"))
    return str(created.matter.matter_id)
