"""ChatService over a real channel: real turns, a scripted program."""

import asyncio
from collections.abc import AsyncIterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1 import context_pb2, sessions_pb2, turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_service.identity import LOCAL_TENANT, LOCAL_USER, Caller
from proviso_service.turns import ExitReason, RunningTurn, Token, TurnConfig, TurnOutcome
from tests.api.serving import Refusal, conversations, refusal, refused_with, served
from tests.turns.scripted import ANSWER, TOOL_END, TOOL_START, TURN_START, Gated, NeverWaits, ScriptedExecution, emits

QUESTION = "What is the notice period?"
ALL_KINDS = (TURN_START, TOOL_START, TOOL_END, Token("t1", "Thirty "), Token("t1", "days."))


def kinds(events: list[pb.AgentEvent]) -> list[str]:
    return [str(event.WhichOneof("event")) for event in events]


async def turn_id_of(call: "grpc.aio.UnaryStreamCall[pb.ChatRequest, Any]") -> str:
    """From the metadata that comes ahead of the first event, or of the answer."""
    metadata = dict(await call.initial_metadata())
    return str(metadata["proviso-turn-id"])


async def read_refusal(call: AsyncIterable[pb.AgentEvent]) -> Refusal:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for _ in call:
            pass
    return refused_with(caught.value)


async def test_a_turn_streams_from_its_start_to_its_final_state(tmp_path: Path) -> None:
    async with conversations(tmp_path, emits(*ALL_KINDS)) as domain, served(domain) as server:
        call = ChatServiceStub(server.channel).Chat(pb.ChatRequest(message=QUESTION))
        events = [event async for event in call]
        turn_id = await turn_id_of(call)
    assert kinds(events)[:3] == ["turn_start", "tool_start", "tool_end"]
    assert "".join(event.token.text for event in events) == "Thirty days."
    assert kinds(events)[-1] == "final_state"
    assert events[-1].final_state.message == ANSWER
    assert {event.turn_id for event in events} == {turn_id}


async def test_a_reader_is_spared_what_it_does_without_and_another_gets_all_of_it(tmp_path: Path) -> None:
    leave_out = pb.LeaveOut(tool_output=True, repeated_contexts=True, history=True)
    async with conversations(tmp_path, emits(*ALL_KINDS)) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        asked = pb.ChatRequest(message=QUESTION, request_id="r", options=pb.ChatOptions(leave_out=leave_out))
        brief = [event async for event in chat.Chat(asked)]
        turn_id = brief[0].turn_id
        again = chat.ResumeChat(pb.ResumeChatRequest(turn_id=turn_id, leave_out=leave_out))
        resumed = [event async for event in again]
        whole = [event async for event in chat.ResumeChat(pb.ResumeChatRequest(turn_id=turn_id))]
        invoked = (await chat.Invoke(asked)).final_state

    assert brief == resumed
    assert kinds(brief) == kinds(whole)
    assert not brief[0].turn_start.HasField("request_context")
    assert whole[0].turn_start.HasField("request_context")
    ends = {kind: next(event.tool_end for event in events if event.HasField("tool_end"))
            for kind, events in (("brief", brief), ("whole", whole))}  # fmt: skip
    assert (ends["brief"].output, ends["brief"].output_json) == ("", "")
    assert (ends["whole"].output, ends["whole"].output_json) == (TOOL_END.output, TOOL_END.output_json)
    assert ends["brief"].call_id == TOOL_END.call_id
    assert brief[-1].final_state.request_context == whole[-1].final_state.request_context
    assert brief[-1].final_state == invoked


async def test_the_turn_id_comes_ahead_of_the_first_event(tmp_path: Path) -> None:
    program = Gated(before=())
    async with conversations(tmp_path, program) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        call = chat.Chat(pb.ChatRequest(message=QUESTION))
        turn_id = await turn_id_of(call)
        call.cancel()
        program.gate.set()
        events = [event async for event in chat.ResumeChat(pb.ResumeChatRequest(turn_id=turn_id))]
    assert kinds(events) == ["final_state"]


async def test_a_cancelled_stream_only_detaches_its_reader(tmp_path: Path) -> None:
    program = Gated(after=(Token("t1", "later"),))
    async with conversations(tmp_path, program) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        call = chat.Chat(pb.ChatRequest(message=QUESTION))
        first = await anext(aiter(call))
        call.cancel()
        program.gate.set()
        asked = pb.ResumeChatRequest(turn_id=first.turn_id, after_sequence=first.sequence)
        rest = [event async for event in chat.ResumeChat(asked)]
    assert kinds(rest) == ["token", "final_state"]
    assert rest[-1].final_state.exit_reason == turns_pb2.EXIT_REASON_COMPLETED


async def test_a_deadline_only_detaches_its_reader(tmp_path: Path) -> None:
    program = Gated()
    async with conversations(tmp_path, program) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        call = chat.Chat(pb.ChatRequest(message=QUESTION), timeout=0.3)
        turn_id = await turn_id_of(call)
        refused = await read_refusal(call)
        program.gate.set()
        events = [event async for event in chat.ResumeChat(pb.ResumeChatRequest(turn_id=turn_id))]
    assert refused.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert events[-1].final_state.exit_reason == turns_pb2.EXIT_REASON_COMPLETED


async def test_leaving_cancels_a_turn_that_asks_for_it(tmp_path: Path) -> None:
    async with conversations(tmp_path, Gated()) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        request = pb.ChatRequest(message=QUESTION, on_disconnect=pb.ON_DISCONNECT_CANCEL)
        call = chat.Chat(request)
        first = await anext(aiter(call))
        call.cancel()
        # Whoever reads on before the service has seen him leave keeps the turn alive.
        while (await chat.GetTurn(pb.GetTurnRequest(turn_id=first.turn_id))).state != pb.TURN_STATE_ENDED:
            pass
        rest = [event async for event in chat.ResumeChat(pb.ResumeChatRequest(turn_id=first.turn_id))]
    assert rest[-1].final_state.exit_reason == turns_pb2.EXIT_REASON_CANCELLED


async def test_silence_is_filled_with_heartbeats(tmp_path: Path) -> None:
    program = Gated()
    settings = TurnConfig(heartbeat_s=0.05)
    async with conversations(tmp_path, program, settings) as domain, served(domain) as server:
        call = ChatServiceStub(server.channel).Chat(pb.ChatRequest(message=QUESTION))
        async for event in call:
            if event.WhichOneof("event") == "heartbeat":
                assert event.sequence == 0
                program.gate.set()
    assert event.WhichOneof("event") == "final_state"


async def test_invoke_answers_with_the_final_state(tmp_path: Path) -> None:
    async with conversations(tmp_path, emits(TURN_START)) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        answer = await chat.Invoke(pb.ChatRequest(message=QUESTION))
        turn = await chat.GetTurn(pb.GetTurnRequest(turn_id=answer.turn_id))
    assert answer.final_state.message == ANSWER
    assert turn.state == pb.TURN_STATE_ENDED
    assert turn.last_sequence == 2
    assert turn.final_state == answer.final_state


async def test_the_turn_id_comes_ahead_of_the_answer_of_invoke(tmp_path: Path) -> None:
    program = Gated()
    async with conversations(tmp_path, program) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        call = invoke_with_early_metadata(server.channel)(pb.ChatRequest(message=QUESTION))
        turn_id = await turn_id_of(call)
        turn = await chat.GetTurn(pb.GetTurnRequest(turn_id=turn_id))
        assert turn.state == pb.TURN_STATE_RUNNING
        assert (await chat.CancelTurn(pb.CancelTurnRequest(turn_id=turn_id))).cancelled
        [answer] = [answer async for answer in call]
    assert (answer.turn_id, answer.final_state.exit_reason) == (turn_id, turns_pb2.EXIT_REASON_CANCELLED)


def invoke_with_early_metadata(
    channel: grpc.aio.Channel,
) -> "grpc.aio.UnaryStreamMultiCallable[pb.ChatRequest, pb.InvokeResponse]":
    """gRPC's Python client gives the metadata of a unary call with its answer only; those of a stream, at once."""
    return channel.unary_stream(
        "/proviso.v1.ChatService/Invoke", pb.ChatRequest.SerializeToString, pb.InvokeResponse.FromString
    )


@dataclass
class Endless(NeverWaits):
    """A program that runs until it is cancelled; `turn_id` is of its last turn."""

    running: asyncio.Event = field(default_factory=asyncio.Event)
    turn_id: str = ""

    def start(self, turn: RunningTurn) -> ScriptedExecution:
        self.turn_id = turn.turn_id
        return ScriptedExecution(turn.turn_id, turn.request, turn.emit, self._run, turn.approvals)

    async def _run(self, execution: ScriptedExecution) -> TurnOutcome:
        self.running.set()
        await asyncio.Future()
        raise AssertionError("unreachable")


@pytest.mark.parametrize("limit_s", [None, 0.5], ids=["cancelled", "deadline"])
async def test_a_call_of_invoke_that_ends_early_ends_its_turn(tmp_path: Path, limit_s: float | None) -> None:
    program = Endless()
    async with conversations(tmp_path, program) as domain, served(domain) as server:
        request = pb.ChatRequest(message=QUESTION, on_disconnect=pb.ON_DISCONNECT_CONTINUE)
        call = ChatServiceStub(server.channel).Invoke(request, timeout=limit_s)
        ended = asyncio.ensure_future(call.code())
        await program.running.wait()
        if limit_s is None:
            call.cancel()
        expected = grpc.StatusCode.CANCELLED if limit_s is None else grpc.StatusCode.DEADLINE_EXCEEDED
        assert await ended is expected
        final = await server.turns.wait(Caller(LOCAL_TENANT, LOCAL_USER), program.turn_id)
    assert final.exit_reason is ExitReason.CANCELLED


async def test_a_turn_is_cancelled_by_its_id(tmp_path: Path) -> None:
    async with conversations(tmp_path, Gated()) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        call = chat.Chat(pb.ChatRequest(message=QUESTION))
        events = aiter(call)
        first = await anext(events)
        asked = pb.CancelTurnRequest(turn_id=first.turn_id)
        assert (await chat.CancelTurn(asked)).cancelled
        rest = [event async for event in events]
        assert not (await chat.CancelTurn(asked)).cancelled
    assert kinds(rest) == ["final_state"]
    assert rest[0].final_state.exit_reason == turns_pb2.EXIT_REASON_CANCELLED


async def test_a_running_turn_has_no_final_state(tmp_path: Path) -> None:
    program = Gated()
    async with conversations(tmp_path, program) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        call = chat.Chat(pb.ChatRequest(message=QUESTION, session_id="s1"))
        first = await anext(aiter(call))
        turn = await chat.GetTurn(pb.GetTurnRequest(turn_id=first.turn_id))
        program.gate.set()
    assert (turn.state, turn.last_sequence, turn.session_id) == (pb.TURN_STATE_RUNNING, 1, "s1")
    assert not turn.HasField("final_state")


async def test_another_user_does_not_find_a_turn(tmp_path: Path) -> None:
    async with conversations(tmp_path) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        answer = await chat.Invoke(pb.ChatRequest(message=QUESTION, user_id="ann"))
        turn_id = answer.turn_id
        got = await refusal(chat.GetTurn(pb.GetTurnRequest(turn_id=turn_id, user_id="ben")))
        cancelled = await refusal(chat.CancelTurn(pb.CancelTurnRequest(turn_id=turn_id, user_id="ben")))
        resumed = await read_refusal(chat.ResumeChat(pb.ResumeChatRequest(turn_id=turn_id, user_id="ben")))
        unknown = await refusal(chat.GetTurn(pb.GetTurnRequest(turn_id="none", user_id="ben")))
    for refused in (got, cancelled, resumed):
        assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "TURN_UNKNOWN")
        assert refused.message == unknown.message.replace("none", turn_id)
        resource = refused.details["ResourceInfo"]
        assert (resource.resource_type, resource.resource_name) == ("turn", turn_id)


async def test_a_busy_session_names_the_turn_to_attach_to(tmp_path: Path) -> None:
    program = Gated()
    async with conversations(tmp_path, program) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        request = pb.ChatRequest(message=QUESTION, session_id="s1")
        call = chat.Chat(request)
        turn_id = await turn_id_of(call)
        refused = await read_refusal(chat.Chat(request))
        program.gate.set()
    assert (refused.code, refused.reason) == (grpc.StatusCode.ABORTED, "SESSION_BUSY")
    assert refused.details["ErrorInfo"].metadata["turn_id"] == turn_id


async def test_a_repeated_request_attaches_to_the_same_turn(tmp_path: Path) -> None:
    async with conversations(tmp_path) as domain, served(domain) as server:
        chat = ChatServiceStub(server.channel)
        request = pb.ChatRequest(message=QUESTION, request_id="r1")
        first, second = await chat.Invoke(request), await chat.Invoke(request)
        request.message = "Something else"
        refused = await refusal(chat.Invoke(request))
    assert first.turn_id == second.turn_id
    assert (refused.code, refused.reason) == (grpc.StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED")


async def test_all_violations_of_a_request_are_told_at_once(tmp_path: Path) -> None:
    request = pb.ChatRequest(
        message="x" * 32_001,
        matter_context=context_pb2.MatterContext(matter_id="not a UUID", matter_name="n" * 513),
        image_urls=["https://example.org/a.png", "ftp://example.org/b.png", "https://", "file:///etc/passwd"],
        document_context=[context_pb2.DocumentContext(type="md")],
        history=pb.ConversationHistory(
            messages=[
                pb.HistoryMessage(role=sessions_pb2.MESSAGE_ROLE_USER, content="fine"),
                pb.HistoryMessage(role=sessions_pb2.MESSAGE_ROLE_SYSTEM, content="no"),
                pb.HistoryMessage(role=sessions_pb2.MESSAGE_ROLE_ASSISTANT, content="x" * 32_001),
            ]
        ),
        on_disconnect=99,  # type: ignore[arg-type]  # from a newer client
        options=pb.ChatOptions(model="gpt-0", max_turns=7, max_tool_calls=-1, max_context_chars=12_001),
    )
    async with conversations(tmp_path) as domain, served(domain) as server:
        refused = await read_refusal(ChatServiceStub(server.channel).Chat(request))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert refused.violations == {
        "message": "must have at most 32000 characters",
        "matter_context.matter_name": "must have at most 512 characters",
        "image_urls[1]": "must be an https URL",
        "image_urls[2]": "must be an https URL",
        "image_urls[3]": "must be an https URL",
        "document_context[0].filename": "must not be empty",
        "history.messages[1].role": "must be USER or ASSISTANT",
        "history.messages[2].content": "must have at most 32000 characters",
        "on_disconnect": "is not a known value",
        "options.model": "is not offered; the models are: scripted",
        "options.max_turns": "is above the service's limit of 6",
        "options.max_tool_calls": "must be at least 0",
        "options.max_context_chars": "is above the service's limit of 12000",
    }


async def test_malformed_ids_of_a_matter_context_reach_the_turn(tmp_path: Path) -> None:
    request = pb.ChatRequest(message=QUESTION, matter_context=context_pb2.MatterContext(matter_id="42"))
    async with conversations(tmp_path) as domain, served(domain) as server:
        answer = await ChatServiceStub(server.channel).Invoke(request)
    assert answer.final_state.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
