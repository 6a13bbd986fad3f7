"""Turns through the Python client, of the real service, with either client."""

import asyncio
from pathlib import Path
from uuid import uuid4

import grpc
import pytest

from proviso_client import NO_RETRIES, AsyncClient, RetryPolicy
from proviso_client.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidRequest,
    NotFound,
    ProvisoError,
    SessionBusy,
    TooBusy,
    Unavailable,
)
from proviso_client.steps import (
    ApprovalRequired,
    Citation,
    FinalState,
    TextDiscarded,
    Token,
    ToolEnd,
    ToolStart,
    TurnStart,
)
from proviso_client.v1 import chat_pb2, turns_pb2
from tests.support.client_kinds import Connect, events_until
from tests.support.cutting_proxy import cutting_proxy
from tests.support.scripted_model import Call, Step, calls, text
from tests.support.stage import Stage, stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEARCH = Call("isaacus_search", '{"query": "governing law"}')
EXTRACT = Call("isaacus_extract", '{"question": "Which law governs the agreement?"}')
GROUNDED = "It is governed by “the laws of the State of Oregon” [1]."
BRIEF = RetryPolicy(max_attempts=2, first_wait_s=0.001)
WATCHFUL = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.keepalive_time_ms", 500),
    ("grpc.keepalive_timeout_ms", 2_000),
    ("grpc.http2.ping_timeout_ms", 2_000),
]
"""A connection that nobody answers over is given up within seconds."""


@pytest.fixture
def question() -> str:
    """One that no other test asks."""
    return f"What about {uuid4()}?"


async def test_a_chat_brings_tool_calls_text_and_citations_as_steps(
    connect: Connect, staged: Stage, question: str
) -> None:
    staged.play(question, calls(SEARCH), text(*GROUNDED.partition("“")))
    async with connect(staged.target, user_id="ada") as client:
        session_id = str(uuid4())
        seen: list[str] = []
        async with client.chat(question, matter_id=staged.matter_id, session_id=session_id) as turn:
            async for step in turn:
                match step:
                    case TurnStart(session_id=session):
                        assert session == session_id
                    case ToolStart(tool=tool) | ToolEnd(tool=tool, error=""):
                        seen.append(tool)
                    case Citation(filename=filename, quote=quote):
                        seen.append(f"{filename}: {quote}")
                    case Token():
                        assert turn.text.endswith(step.text)
        assert seen == ["isaacus_search", "isaacus_search", "agreement.md: the laws of the State of Oregon"]
        assert turn.final is not None
        assert turn.text == turn.final.message == GROUNDED
        stored = await client.get_turn(turn.turn_id)
        assert (stored.last_sequence, stored.final_state.message) == (turn.sequence, GROUNDED)
        assert [message.content async for message in client.sessions.messages(session_id)] == [question, GROUNDED]


async def test_the_text_is_without_what_was_discarded(connect: Connect, staged: Stage, question: str) -> None:
    staged.play(question, Step(("Let me look. ",), calls=[SEARCH]), text(GROUNDED))
    async with connect(staged.target) as client:
        turn = client.chat(question, matter_id=staged.matter_id)
        await events_until(turn, Token)
        assert turn.text == "Let me look. "
        await events_until(turn, TextDiscarded)
        assert turn.text == ""
        await events_until(turn, Token)
        assert turn.text == GROUNDED
        assert (await turn.result()).message == GROUNDED


async def test_an_answer_from_the_cache_is_text_though_no_token_came(
    connect: Connect, staged: Stage, question: str
) -> None:
    staged.play(question, text("You are welcome\n"))
    async with connect(staged.target) as client:
        await client.chat(question, matter_id=staged.matter_id).result()
        turn = client.chat(question, matter_id=staged.matter_id)
        steps = [step async for step in turn]
    assert [type(step) for step in steps] == [TurnStart, FinalState]
    assert turn.text == "You are welcome\n"


async def test_a_deadline_ends_the_reading_and_the_turn_can_be_taken_up(
    connect: Connect, staged: Stage, question: str
) -> None:
    _, go_on = staged.held(question)
    async with connect(staged.target) as client:
        request_id = str(uuid4())
        for timeout_s in (0.3, 3.0, 30.0):  # the same turn again, for a machine that is too busy to send text so soon
            turn = client.chat(question, matter_id=staged.matter_id, request_id=request_id, timeout_s=timeout_s)
            with pytest.raises(DeadlineExceeded) as raised:
                await turn.result()
            if turn.text == "You are welcome\n":
                break
        assert isinstance(raised.value, TimeoutError)
        assert isinstance(raised.value.__cause__, grpc.RpcError)
        go_on.set()
        rest = client.resume(turn.turn_id, turn.sequence)
        steps = [step async for step in rest]
        assert not any(isinstance(step, Token | TurnStart) for step in steps)
        assert rest.text == "You are welcome\n"


async def test_cancel_ends_the_turn_in_a_final_state(connect: Connect, staged: Stage, question: str) -> None:
    staged.held(question)
    async with connect(staged.target) as client:
        turn = client.chat(question, matter_id=staged.matter_id)
        await events_until(turn, Token)
        await turn.cancel()
        assert (await turn.result()).exit_reason == turns_pb2.EXIT_REASON_CANCELLED


async def test_a_turn_cancelled_before_it_begins_ends_as_soon_as_it_has(
    connect: Connect, staged: Stage, question: str
) -> None:
    staged.held(question)
    async with connect(staged.target) as client:
        turn = client.chat(question, matter_id=staged.matter_id)
        await turn.cancel()
        assert (await turn.result()).exit_reason == turns_pb2.EXIT_REASON_CANCELLED


async def test_leaving_the_context_detaches_from_the_turn(connect: Connect, staged: Stage, question: str) -> None:
    staged.held(question)
    async with connect(staged.target) as client:
        async with client.chat(question, matter_id=staged.matter_id, on_disconnect="ON_DISCONNECT_CANCEL") as turn:
            await events_until(turn, Token)
        with pytest.raises(ProvisoError, match="left before its end"):
            await turn.result()
        # Whoever reads on before the service has seen him leave keeps the turn alive.
        while (await client.get_turn(turn.turn_id)).state != chat_pb2.TURN_STATE_ENDED:
            pass
        final = await client.resume(turn.turn_id).result()
        assert final.exit_reason == turns_pb2.EXIT_REASON_CANCELLED


async def test_closing_ends_a_reading_that_waits(connect: Connect, staged: Stage, question: str) -> None:
    model, _ = staged.held(question)
    async with connect(staged.target) as client:
        turn = client.chat(question, matter_id=staged.matter_id)
        await events_until(turn, Token)

        async def rest() -> list[object]:
            return [step async for step in turn]

        reading = asyncio.create_task(rest())
        await model.held.wait()
        await turn.close()
        assert not any(isinstance(step, FinalState) for step in await reading)


async def test_a_step_that_is_waited_for_in_vain_comes_later(staged: Stage, question: str) -> None:
    _, go_on = staged.held(question)
    async with AsyncClient(staged.target) as client:
        turn = client.chat(question, matter_id=staged.matter_id)
        while turn.text != "You are welcome\n":
            await anext(turn)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(turn), 0.05)
        go_on.set()
        assert (await turn.result()).message == turn.text == "You are welcome\n"


async def test_a_connection_whose_other_end_vanishes_without_a_word_is_replaced(
    connect: Connect, staged: Stage, question: str
) -> None:
    _, go_on = staged.held(question)
    async with cutting_proxy(staged.port) as proxy, connect(proxy.target, options=WATCHFUL) as client:
        turn = client.chat(question, matter_id=staged.matter_id, timeout_s=50.0)
        await events_until(turn, Token)
        proxy.hush()
        go_on.set()
        assert (await turn.result()).message == turn.text == "You are welcome\n"


async def test_a_busy_session_names_the_turn_to_attach_to(connect: Connect, staged: Stage, question: str) -> None:
    _, go_on = staged.held(question)
    session_id = str(uuid4())
    async with connect(staged.target) as client:
        turn = client.chat(question, matter_id=staged.matter_id, session_id=session_id)
        await events_until(turn, Token)
        with pytest.raises(SessionBusy) as raised:
            await client.chat("And now?", session_id=session_id).result()
        assert raised.value.turn_id == turn.turn_id
        go_on.set()
        attached = await client.resume(raised.value.turn_id).result()
        assert attached == await turn.result()


async def test_an_invalid_request_has_every_violation(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target) as client:
        with pytest.raises(InvalidRequest) as raised:
            await client.chat("Hi", session_id="s" * 129, image_urls=["ftp://example.com/a.png"]).result()
    error = raised.value
    assert {violation.field for violation in error.violations} == {"session_id", "image_urls[0]"}
    assert all(violation.description for violation in error.violations)
    assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert error.request_id
    assert isinstance(error.__cause__, grpc.RpcError)


async def test_too_many_turns_are_told_with_the_time_to_wait(
    connect: Connect, tmp_path: Path, models_dir: Path, question: str
) -> None:
    async with (
        stage(tmp_path, models_dir, server={"max_turns_running": 1}) as full,
        connect(full.target, retries=NO_RETRIES) as client,
    ):
        full.held(question)
        await events_until(client.chat(question, matter_id=full.matter_id), Token)
        with pytest.raises(TooBusy) as raised:
            await client.chat("And now?", matter_id=full.matter_id).result()
    assert raised.value.retry_after_s is not None
    assert 1 <= raised.value.retry_after_s <= 2


async def test_a_tool_call_goes_on_when_it_is_approved(connect: Connect, staged: Stage, question: str) -> None:
    staged.play(question, calls(EXTRACT), text(GROUNDED))
    async with connect(staged.target) as client:
        turn = client.chat(question, matter_id=staged.matter_id)
        asked = (await events_until(turn, ApprovalRequired))[-1].approval_required
        await client.approve(turn.turn_id, asked.call_id)
        final = await turn.result()
        assert final.tool_call_records[0].decision == turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE
        with pytest.raises(FailedPrecondition):
            await client.deny(turn.turn_id, asked.call_id)


async def test_invoke_returns_the_final_state(connect: Connect, staged: Stage, question: str) -> None:
    staged.play(question, calls(SEARCH), text(GROUNDED))
    async with connect(staged.target) as client:
        answer = await client.invoke(question, matter_id=staged.matter_id)
        assert answer.final_state.message == GROUNDED
        assert not await client.cancel_turn(answer.turn_id)


async def test_users_do_not_see_each_others_turns(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target, user_id="ada") as client:
        turn = client.chat("Hello")
        final = await turn.result()
        assert final.context_problem == chat_pb2.CONTEXT_PROBLEM_MATTER_REQUIRED
        with pytest.raises(NotFound) as raised:
            await client.for_user("bob").resume(turn.turn_id).result()
        assert (raised.value.reason, raised.value.resource_name) == ("TURN_UNKNOWN", turn.turn_id)
        assert (await client.get_turn(turn.turn_id)).final_state == final


async def test_a_service_that_is_not_there_is_unavailable_when_patience_ends(
    connect: Connect, unused_tcp_port: int
) -> None:
    async with connect(f"127.0.0.1:{unused_tcp_port}", retries=BRIEF) as client:
        for attempt in (client.chat("Hello").result(), client.get_turn("t"), client.invoke("Hello")):
            with pytest.raises(Unavailable) as raised:
                await attempt
            assert raised.value.reason == ""
