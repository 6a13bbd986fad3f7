"""DecideToolCall and GetTurn over a real channel: real turns, a scripted program."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1 import sessions_pb2, turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.sessions_pb2_grpc import SessionServiceStub
from proviso_service.turns import TurnOutcome
from tests.api.serving import conversations, refusal, served
from tests.support.catalogs import a_catalog, an_item, holding_catalog
from tests.turns.scripted import ASKED, TURN_START, Program, ScriptedExecution, completed

ONCE = turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE
FOR_SESSION = turns_pb2.TOOL_CALL_DECISION_APPROVE_FOR_SESSION
DENY = turns_pb2.TOOL_CALL_DECISION_DENY


CATALOG = a_catalog(an_item(ASKED.ref))


async def asks(execution: ScriptedExecution) -> TurnOutcome:
    async def suspend() -> str:
        return "asked"

    if not execution.state:
        execution.emit(TURN_START)
    asked = replace(ASKED, sha256=CATALOG.tool_sha256(ASKED.ref))
    decisions = await execution.approvals.decide([asked], suspend)
    return completed(str(decisions[ASKED.call_id]))


@dataclass
class Asked:
    """A turn that has asked, and what it asked."""

    channel: grpc.aio.Channel
    turn_id: str
    asked: pb.ApprovalRequired

    @property
    def chat(self) -> Any:
        return ChatServiceStub(self.channel)

    async def decide(self, decision: int, **changes: str) -> None:
        fields = {"turn_id": self.turn_id, "call_id": self.asked.call_id} | changes
        await self.chat.DecideToolCall(pb.DecideToolCallRequest(decision=decision, **fields))  # type: ignore[arg-type]

    async def rest(self) -> list[pb.AgentEvent]:
        request = pb.ResumeChatRequest(turn_id=self.turn_id, after_sequence=2)
        return [event async for event in self.chat.ResumeChat(request)]


@asynccontextmanager
async def asked_turn(folder: Path, session_id: str = "") -> AsyncIterator[Asked]:
    catalog = holding_catalog(CATALOG)
    async with conversations(folder, Program(asks), catalog=catalog) as domain, served(domain) as server:
        call = ChatServiceStub(server.channel).Chat(pb.ChatRequest(message="What time is it?", session_id=session_id))
        events = aiter(call)
        await anext(events)
        event = await anext(events)
        call.cancel()
        assert event.sequence == 2
        yield Asked(server.channel, event.turn_id, event.approval_required)


async def test_get_turn_says_what_a_waiting_turn_waits_for(tmp_path: Path) -> None:
    async with asked_turn(tmp_path) as turn:
        answer = await turn.chat.GetTurn(pb.GetTurnRequest(turn_id=turn.turn_id))
        assert answer.state == pb.TURN_STATE_AWAITING_APPROVAL
        assert list(answer.pending_approvals) == [turn.asked]
        assert (turn.asked.tool, turn.asked.server_name) == ("time__get_time", "time")
        assert turn.asked.HasField("expire_time")
        await turn.decide(ONCE)
        await turn.rest()
        answer = await turn.chat.GetTurn(pb.GetTurnRequest(turn_id=turn.turn_id))
        assert answer.state == pb.TURN_STATE_ENDED
        assert not answer.pending_approvals


@pytest.mark.parametrize(
    ("decision", "said"), [(ONCE, "approve_once"), (FOR_SESSION, "approve_for_session"), (DENY, "deny")]
)
async def test_a_turn_goes_on_with_the_decision(tmp_path: Path, decision: int, said: str) -> None:
    async with asked_turn(tmp_path) as turn:
        await turn.decide(decision)
        (end,) = await turn.rest()
        assert (end.sequence, end.final_state.message) == (3, said)
        await turn.decide(decision)


async def test_refusals_of_decisions(tmp_path: Path) -> None:
    async with asked_turn(tmp_path) as turn:
        refused = await refusal(turn.decide(ONCE, call_id="call-9"))
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "TURN_NOT_WAITING")
        for changes in ({"turn_id": "no-such-turn"}, {"user_id": "somebody-else"}):
            refused = await refusal(turn.decide(ONCE, **changes))
            assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "TURN_UNKNOWN")
        refused = await refusal(turn.chat.DecideToolCall(pb.DecideToolCallRequest()))
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
        assert refused.violations.keys() == {"turn_id", "call_id", "decision"}
        await turn.decide(ONCE)
        refused = await refusal(turn.decide(DENY))
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "TURN_NOT_WAITING")


async def test_the_session_of_a_waiting_turn_is_busy_and_not_deleted(tmp_path: Path) -> None:
    async with asked_turn(tmp_path, "lease") as turn:
        sessions: Any = SessionServiceStub(turn.channel)
        await sessions.CreateSession(sessions_pb2.CreateSessionRequest(session_id="lease"))
        refused = await refusal(sessions.DeleteSession(sessions_pb2.DeleteSessionRequest(session_id="lease")))
        assert (refused.code, refused.reason) == (grpc.StatusCode.ABORTED, "SESSION_BUSY")
        again = pb.ChatRequest(message="And now?", session_id="lease")
        refused = await refusal(turn.chat.Invoke(again))
        assert (refused.code, refused.reason) == (grpc.StatusCode.ABORTED, "SESSION_BUSY")
        await turn.decide(FOR_SESSION)
        session = await sessions.GetSession(sessions_pb2.GetSessionRequest(session_id="lease"))
        assert [(tool.server_name, tool.name) for tool in session.session.approved_tools] == [("time", "get_time")]


async def test_cancelling_ends_a_waiting_turn(tmp_path: Path) -> None:
    async with asked_turn(tmp_path) as turn:
        answer = await turn.chat.CancelTurn(pb.CancelTurnRequest(turn_id=turn.turn_id))
        assert answer.cancelled
        (end,) = await turn.rest()
        assert end.final_state.exit_reason == turns_pb2.EXIT_REASON_CANCELLED


async def test_a_service_that_comes_back_goes_on_with_the_turn(tmp_path: Path) -> None:
    async with asked_turn(tmp_path) as turn:
        pass
    async with conversations(tmp_path, Program(asks)) as domain, served(domain) as server:
        again = Asked(server.channel, turn.turn_id, turn.asked)
        answer = await again.chat.GetTurn(pb.GetTurnRequest(turn_id=turn.turn_id))
        assert list(answer.pending_approvals) == [turn.asked]
        await again.decide(ONCE)
        (end,) = await again.rest()
        assert (end.sequence, end.final_state.message) == (3, "approve_once")
