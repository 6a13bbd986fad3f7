"""ContinueSession over a real channel: a session that goes on where another one has become too long."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest

from proviso_client.v1 import chat_pb2, context_pb2
from proviso_client.v1 import sessions_pb2 as pb
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.sessions_pb2_grpc import SessionServiceStub
from proviso_service.context.model import (
    ContextFill,
    IncludeMode,
    ItemRef,
    ItemType,
    MatterContext,
    RequestContext,
    RequestItem,
)
from proviso_service.turns import ChatMessage, ExitReason, MessageRole, TurnConfig, TurnOutcome, TurnSummary
from tests.api.serving import Served, conversations, refusal, served
from tests.support.catalogs import an_item, holding
from tests.turns.scripted import Gated, Program, ScriptedExecution, completed

SEARCH = ItemRef(ItemType.TOOL, "isaacus_search", "proviso")
PLAIN = ItemRef(ItemType.RULE, "Plain English")
MATTER = MatterContext("00000000-0000-4000-8000-000000000001", "Northwind", "", "")
CONTEXT = RequestContext(
    (RequestItem(SEARCH, IncludeMode.ALWAYS),), (), None, (), ContextFill(0, 600), datetime(2026, 1, 2, tzinfo=UTC)
)
LIMIT = TurnConfig(max_context_chars=600)
"""A third of it, which is what a new session takes along, has room for 200 characters."""


def says(*turns: Sequence[tuple[MessageRole, str]]) -> Program:
    """A program whose turns leave these messages, and the matter, in their session."""
    left = iter(turns)

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        stored = tuple(
            ChatMessage(role, content, CONTEXT, turn=TurnSummary(ExitReason.COMPLETED, model="local"))
            if role is MessageRole.ASSISTANT
            else ChatMessage(role, content)
            for role, content in next(left)
        )
        return TurnOutcome(
            completed().final_state, new_messages=stored, update_matter_context=True, matter_context=MATTER
        )

    return Program(script)


def exchange(question: str, answer: str) -> Sequence[tuple[MessageRole, str]]:
    return (MessageRole.USER, question), (MessageRole.ASSISTANT, answer)


async def ask(server: Served, times: int, session_id: str = "old", user_id: str = "") -> None:
    for _ in range(times):
        request = chat_pb2.ChatRequest(message="Hello", session_id=session_id, user_id=user_id)
        await ChatServiceStub(server.channel).Invoke(request)


async def messages(server: Served, session_id: str) -> list[pb.ChatMessage]:
    sessions = SessionServiceStub(server.channel)
    return list((await sessions.ListMessages(pb.ListMessagesRequest(session_id=session_id))).messages)


async def go_on(server: Served, session_id: str = "old", new_session_id: str = "new", user_id: str = "") -> pb.Session:
    request = pb.ContinueSessionRequest(session_id=session_id, new_session_id=new_session_id, user_id=user_id)
    return (await SessionServiceStub(server.channel).ContinueSession(request)).session


async def test_items_and_matter_come_along_and_the_old_session_stays_as_it_is(tmp_path: Path) -> None:
    catalog = holding(an_item(SEARCH), an_item(PLAIN, IncludeMode.MANUAL))
    program = says(exchange("Which law?", "Oregon."))
    async with conversations(tmp_path, program, LIMIT, catalog) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="old"))
        await ask(server, 1)
        rule = context_pb2.ContextItemRef(type=context_pb2.CONTEXT_ITEM_TYPE_RULE, name="Plain English")
        added = await sessions.AddContextItem(pb.AddContextItemRequest(session_id="old", item=rule))
        tool = context_pb2.ContextItemRef(
            type=context_pb2.CONTEXT_ITEM_TYPE_TOOL, name="isaacus_search", server_name="proviso"
        )
        before = (await sessions.RemoveContextItem(pb.RemoveContextItemRequest(session_id="old", item=tool))).session
        made = await go_on(server)
        after = (await sessions.GetSession(pb.GetSessionRequest(session_id="old"))).session
    assert len(added.session.items) == 2
    assert [item.item.name for item in made.items] == ["Plain English"]
    assert made.matter_context.matter_name == "Northwind"
    assert (made.session_id, made.message_count, made.running_turn_id) == ("new", 2, "")
    assert after == before


@pytest.mark.parametrize(
    ("turns", "taken"),
    [
        ([exchange("q1", "a" * 198)], ["q1", "a" * 198]),
        ([exchange("q1", "a" * 199)], []),
        ([exchange("q" * 151, "a" * 50)], []),
        ([exchange("q1", "a1"), exchange("q2", "a" * 196)], ["q2", "a" * 196]),
        ([exchange("q1", "a1"), exchange("q2", "a2"), exchange("q" * 96, "a" * 96)], None),
        ([exchange("q1", "a1"), ((MessageRole.USER, "cancelled"),), exchange("q2", "a2")], None),
        ([exchange("q1", "a1"), ((MessageRole.USER, "q2"), (MessageRole.ERROR, "e" * 500))], ["q1", "a1", "q2"]),
        ([exchange("\N{CAT FACE}" * 100, "\N{CAT FACE}" * 100)], ["\N{CAT FACE}" * 100] * 2),
    ],
    ids=["fits", "one-over", "question-does-not-fit", "newest", "all", "unanswered", "failures", "code-points"],
)
async def test_the_last_exchanges_come_along_as_far_as_they_fill_a_third_of_the_limit(
    tmp_path: Path, turns: list[Sequence[tuple[MessageRole, str]]], taken: list[str] | None
) -> None:
    said = [content for turn in turns for _, content in turn]
    async with conversations(tmp_path, says(*turns), LIMIT) as domain, served(domain) as server:
        await ask(server, len(turns))
        made = await go_on(server)
        found = await messages(server, "new")
    assert [message.content for message in found] == (said if taken is None else taken)
    assert made.message_count == len(found)
    assert sum(len(message.content) for message in found) <= LIMIT.max_context_chars // 3
    assert not found or found[0].role == pb.MESSAGE_ROLE_USER


async def test_messages_keep_what_is_known_of_their_turns_and_have_ids_of_their_own(tmp_path: Path) -> None:
    program = says(exchange("Which law?", "Oregon."))
    async with conversations(tmp_path, program, LIMIT) as domain, served(domain) as server:
        await ask(server, 1)
        await go_on(server)
        old, new = await messages(server, "old"), await messages(server, "new")
        chat, turn_id = ChatServiceStub(server.channel), new[1].turn_id
        state = (await chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=turn_id))).state
    assert {message.message_id for message in old}.isdisjoint(message.message_id for message in new)
    for message in (*old, *new):
        message.ClearField("message_id")
    assert old == new
    assert (new[1].turn.model, new[1].request_context.items[0].name) == ("local", "isaacus_search")
    assert state == chat_pb2.TURN_STATE_ENDED


async def test_answers_that_came_along_count_for_suggested_removals(tmp_path: Path) -> None:
    turns = [exchange(f"q{i}", f"a{i}") for i in range(3)]
    catalog = holding(an_item(SEARCH))
    async with conversations(tmp_path, says(*turns), LIMIT, catalog) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="old"))
        await ask(server, 3)
        await go_on(server)
        suggested = await sessions.SuggestRemovals(pb.SuggestRemovalsRequest(session_id="new"))
    assert suggested.answers == 3
    assert [suggestion.item.item.name for suggestion in suggested.suggestions] == ["isaacus_search"]


async def test_a_session_that_goes_on_can_go_on_again_and_outlives_the_first(tmp_path: Path) -> None:
    program = says(exchange("q1", "a1"), exchange("q2", "a2"))
    async with conversations(tmp_path, program, LIMIT) as domain, served(domain) as server:
        await ask(server, 1)
        await go_on(server)
        await ask(server, 1, "new")
        await go_on(server, "new", "newest")
        sessions = SessionServiceStub(server.channel)
        for gone in ("old", "new"):
            await sessions.DeleteSession(pb.DeleteSessionRequest(session_id=gone))
        left = await messages(server, "newest")
    assert [message.content for message in left] == ["q1", "a1", "q2", "a2"]


async def test_a_new_session_without_an_id_gets_one(tmp_path: Path) -> None:
    async with conversations(tmp_path, says(exchange("q1", "a1")), LIMIT) as domain, served(domain) as server:
        await ask(server, 1)
        ids = {(await go_on(server, new_session_id="")).session_id for _ in range(2)}
    assert len(ids - {"", "old"}) == 2


async def test_an_empty_session_can_go_on(tmp_path: Path) -> None:
    async with conversations(tmp_path, catalog=holding(an_item(SEARCH))) as domain, served(domain) as server:
        await SessionServiceStub(server.channel).CreateSession(pb.CreateSessionRequest(session_id="old"))
        made = await go_on(server)
    assert (len(made.items), made.message_count, made.HasField("matter_context")) == (1, 0, False)


async def test_ids_that_are_unknown_or_taken_and_malformed_ones_are_refused(tmp_path: Path) -> None:
    async with conversations(tmp_path, says(exchange("q1", "a1")), LIMIT) as domain, served(domain) as server:
        await ask(server, 1)
        await SessionServiceStub(server.channel).CreateSession(pb.CreateSessionRequest(session_id="taken"))
        unknown = await refusal(go_on(server, "unknown"))
        taken = await refusal(go_on(server, "old", "taken"))
        itself = await refusal(go_on(server, "old", "old"))
        malformed = await refusal(go_on(server, "", "x" * 129))
        unmade = await refusal(SessionServiceStub(server.channel).GetSession(pb.GetSessionRequest(session_id="new")))
        kept = await messages(server, "taken")
    assert (unknown.code, unknown.reason) == (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")
    assert {(refused.code, refused.reason) for refused in (taken, itself)} == {
        (grpc.StatusCode.ALREADY_EXISTS, "SESSION_EXISTS")
    }
    assert malformed.code == grpc.StatusCode.INVALID_ARGUMENT
    assert set(malformed.violations) == {"session_id", "new_session_id"}
    assert unmade.reason == "SESSION_NOT_FOUND"
    assert kept == []


async def test_sessions_of_other_users_do_not_go_on_and_their_ids_are_free(tmp_path: Path) -> None:
    async with conversations(tmp_path, says(exchange("q1", "a1")), LIMIT) as domain, served(domain) as server:
        await ask(server, 1, user_id="ann")
        refused = await refusal(go_on(server, user_id="ben"))
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="new", user_id="ben"))
        made = await go_on(server, user_id="ann")
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")
    assert made.message_count == 2


async def test_a_session_that_runs_a_turn_does_not_go_on(tmp_path: Path) -> None:
    program = Gated()
    async with conversations(tmp_path, program) as domain, served(domain) as server:
        await SessionServiceStub(server.channel).CreateSession(pb.CreateSessionRequest(session_id="old"))
        call = ChatServiceStub(server.channel).Chat(chat_pb2.ChatRequest(message="Hello", session_id="old"))
        first = await anext(aiter(call))
        refused = await refusal(go_on(server))
        program.gate.set()
    assert (refused.code, refused.reason) == (grpc.StatusCode.ABORTED, "SESSION_BUSY")
    assert refused.details["ErrorInfo"].metadata["turn_id"] == first.turn_id
