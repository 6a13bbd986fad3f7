"""SessionService over a real channel, with the SQL store."""

from datetime import UTC, datetime
from pathlib import Path

import grpc
from google.protobuf import field_mask_pb2

from proviso_client.v1 import chat_pb2, context_pb2, turns_pb2
from proviso_client.v1 import sessions_pb2 as pb
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.sessions_pb2_grpc import SessionServiceStub
from proviso_service.api.convert.values import MAX_ANSWER_BYTES
from proviso_service.context.model import ContextFill, IncludeMode, ItemRef, ItemType, RequestContext, RequestItem
from proviso_service.turns import ChatMessage, ExitReason, MessageRole, ToolCallRecord, TurnOutcome, TurnSummary, Usage
from tests.api.serving import conversations, refusal, served
from tests.support.catalogs import an_item, holding
from tests.turns.scripted import Gated, Program, ScriptedExecution, completed

SEARCH = ItemRef(ItemType.TOOL, "isaacus_search", "proviso")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
UNUSED = RequestItem(SEARCH, IncludeMode.ALWAYS)
CALL = ToolCallRecord("c-1", "isaacus_search", "proviso", "{}", NOW, 0.25)
SUMMARY = TurnSummary(ExitReason.COMPLETED, (CALL,), Usage(7, 1, 1), 1.5, "local")


def remembers(*contents: str) -> Program:
    """A program whose turns leave messages in their session."""

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        stored = tuple(ChatMessage(MessageRole.USER, content) for content in contents)
        return TurnOutcome(completed().final_state, new_messages=stored)

    return Program(script)


async def test_a_session_is_made_once(tmp_path: Path) -> None:
    async with conversations(tmp_path, catalog=holding(an_item(SEARCH))) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        made = await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1", user_id="ann"))
        found = await sessions.GetSession(pb.GetSessionRequest(session_id="s1", user_id="ann"))
        refused = await refusal(sessions.CreateSession(pb.CreateSessionRequest(session_id="s1", user_id="ann")))
    assert found.session == made.session
    assert (found.session.session_id, found.session.message_count) == ("s1", 0)
    (item,) = found.session.items
    assert (item.item.name, item.item.server_name) == ("isaacus_search", "proviso")
    assert (item.item.type, item.include_mode) == (context_pb2.CONTEXT_ITEM_TYPE_TOOL, context_pb2.INCLUDE_MODE_ALWAYS)
    assert (refused.code, refused.reason) == (grpc.StatusCode.ALREADY_EXISTS, "SESSION_EXISTS")


async def test_a_session_without_an_id_gets_one(tmp_path: Path) -> None:
    async with conversations(tmp_path) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        ids = {(await sessions.CreateSession(pb.CreateSessionRequest())).session.session_id for _ in range(2)}
    assert len(ids - {""}) == 2


async def test_sessions_of_other_users_do_not_exist(tmp_path: Path) -> None:
    async with conversations(tmp_path) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1", user_id="ann"))
        listed = await sessions.ListSessions(pb.ListSessionsRequest(user_id="ben"))
        calls = (
            sessions.GetSession(pb.GetSessionRequest(session_id="s1", user_id="ben")),
            sessions.DeleteSession(pb.DeleteSessionRequest(session_id="s1", user_id="ben")),
            sessions.ListMessages(pb.ListMessagesRequest(session_id="s1", user_id="ben")),
        )
        refused = [await refusal(call) for call in calls]
    assert not listed.sessions
    assert {(r.code, r.reason) for r in refused} == {(grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")}


async def test_sessions_are_listed_by_page_newest_first(tmp_path: Path) -> None:
    async with conversations(tmp_path) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        for name in ("s1", "s2", "s3"):
            await sessions.CreateSession(pb.CreateSessionRequest(session_id=name))
        first = await sessions.ListSessions(pb.ListSessionsRequest(page_size=2))
        last = await sessions.ListSessions(pb.ListSessionsRequest(page_size=2, page_token=first.next_page_token))
        refused = await refusal(sessions.ListSessions(pb.ListSessionsRequest(page_token="forged")))  # noqa: S106
    assert [s.session_id for s in first.sessions] == ["s3", "s2"]
    assert [s.session_id for s in last.sessions] == ["s1"]
    assert not last.next_page_token
    assert (first.total_size, last.total_size) == (3, 3)
    assert refused.violations.keys() == {"page_token"}


async def test_a_session_has_the_title_and_notes_that_it_was_given(tmp_path: Path) -> None:
    async with conversations(tmp_path, catalog=holding(an_item(SEARCH))) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        made = (await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1", user_id="ann"))).session
        titled = pb.Session(session_id="s1", title="Rent", notes="Ask Kim", message_count=7)
        await sessions.UpdateSession(pb.UpdateSessionRequest(session=titled, user_id="ann"))
        mask = field_mask_pb2.FieldMask(paths=["title"])
        untitled = pb.UpdateSessionRequest(session=pb.Session(session_id="s1"), update_mask=mask, user_id="ann")
        changed = (await sessions.UpdateSession(untitled)).session
        foreign = pb.UpdateSessionRequest(session=titled, user_id="ben")
        refused = await refusal(sessions.UpdateSession(foreign))
        (listed,) = (await sessions.ListSessions(pb.ListSessionsRequest(user_id="ann"))).sessions
    assert (made.title, made.notes) == ("", "")
    assert (changed.title, changed.notes, changed.message_count) == ("", "Ask Kim", 0)
    assert changed.update_time.ToDatetime() > made.update_time.ToDatetime()
    assert listed == changed
    assert refused.reason == "SESSION_NOT_FOUND"


async def test_a_field_of_a_session_that_cannot_be_changed_is_named(tmp_path: Path) -> None:
    async with conversations(tmp_path) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        mask = field_mask_pb2.FieldMask(paths=["title", "items", "colour"])
        request = pb.UpdateSessionRequest(session=pb.Session(session_id="s1"), update_mask=mask)
        refused = await refusal(sessions.UpdateSession(request))
        empty = await refusal(sessions.UpdateSession(pb.UpdateSessionRequest()))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert all(f"'{path}' is not a field that can be changed" in refused.message for path in ("items", "colour"))
    assert empty.violations == {"session": "must be set"}


async def test_a_deleted_session_is_gone(tmp_path: Path) -> None:
    async with conversations(tmp_path) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1"))
        await sessions.DeleteSession(pb.DeleteSessionRequest(session_id="s1"))
        refused = await refusal(sessions.GetSession(pb.GetSessionRequest(session_id="s1")))
    assert refused.reason == "SESSION_NOT_FOUND"


async def test_a_session_that_runs_a_turn_is_not_deleted(tmp_path: Path) -> None:
    program = Gated()
    async with conversations(tmp_path, program) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1"))
        call = ChatServiceStub(server.channel).Chat(chat_pb2.ChatRequest(message="Hello", session_id="s1"))
        first = await anext(aiter(call))
        found = await sessions.GetSession(pb.GetSessionRequest(session_id="s1"))
        refused = await refusal(sessions.DeleteSession(pb.DeleteSessionRequest(session_id="s1")))
        program.gate.set()
    assert found.session.running_turn_id == first.turn_id
    assert (refused.code, refused.reason) == (grpc.StatusCode.ABORTED, "SESSION_BUSY")


async def test_messages_are_listed_oldest_first(tmp_path: Path) -> None:
    async with conversations(tmp_path, remembers("one", "two")) as domain, served(domain) as server:
        await ChatServiceStub(server.channel).Invoke(chat_pb2.ChatRequest(message="Hello", session_id="s1"))
        listed = await SessionServiceStub(server.channel).ListMessages(pb.ListMessagesRequest(session_id="s1"))
    assert ([message.content for message in listed.messages], listed.total_size) == (["one", "two"], 2)
    assert all(m.message_id and m.turn_id and m.HasField("create_time") for m in listed.messages)
    assert {m.role for m in listed.messages} == {pb.MESSAGE_ROLE_USER}


async def test_a_page_that_would_be_too_large_is_cut_and_goes_on(tmp_path: Path) -> None:
    long = ["\N{CAT FACE}" * 30_000 + str(i) for i in range(60)]
    async with conversations(tmp_path, remembers(*long)) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await ChatServiceStub(server.channel).Invoke(chat_pb2.ChatRequest(message="Hello", session_id="s1"))
        received: list[str] = []
        token = ""
        while token or not received:
            page = await sessions.ListMessages(pb.ListMessagesRequest(session_id="s1", page_size=100, page_token=token))
            assert page.ByteSize() <= MAX_ANSWER_BYTES
            received += [message.content for message in page.messages]
            token = page.next_page_token
    assert received == long


def answers(item: RequestItem) -> Program:
    """A program whose answers had one item."""

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        context = RequestContext((item,), (), None, (), ContextFill(0, 12_000), NOW)
        new = (ChatMessage(MessageRole.USER, "Hello"), ChatMessage(MessageRole.ASSISTANT, "Hi", context, turn=SUMMARY))
        return TurnOutcome(completed().final_state, new_messages=new)

    return Program(script)


async def test_a_message_has_what_is_kept_of_its_turn(tmp_path: Path) -> None:
    async with conversations(tmp_path, answers(UNUSED)) as domain, served(domain) as server:
        await ChatServiceStub(server.channel).Invoke(chat_pb2.ChatRequest(message="Hello", session_id="s1"))
        listed = await SessionServiceStub(server.channel).ListMessages(pb.ListMessagesRequest(session_id="s1"))
    question, answer = listed.messages
    assert not question.HasField("turn")
    assert answer.turn.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    (call,) = answer.turn.tool_calls
    assert (call.tool, call.server_name, call.input_json) == ("isaacus_search", "proviso", "{}")
    assert (call.duration.ToMilliseconds(), call.start_time.ToDatetime(UTC)) == (250, NOW)
    assert (answer.turn.usage.input_tokens, answer.turn.model) == (7, "local")


async def test_a_message_from_before_summaries_were_kept_has_none(tmp_path: Path) -> None:
    async with conversations(tmp_path, remembers("one")) as domain, served(domain) as server:
        await ChatServiceStub(server.channel).Invoke(chat_pb2.ChatRequest(message="Hello", session_id="s1"))
        listed = await SessionServiceStub(server.channel).ListMessages(pb.ListMessagesRequest(session_id="s1"))
    assert not listed.messages[0].HasField("turn")
    assert not listed.messages[0].HasField("request_context")


async def test_an_item_that_three_answers_did_not_use_is_suggested_for_removal(tmp_path: Path) -> None:
    catalog = holding(an_item(SEARCH))
    async with conversations(tmp_path, answers(UNUSED), catalog=catalog) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1"))
        suggested = []
        for _ in range(3):
            await ChatServiceStub(server.channel).Invoke(chat_pb2.ChatRequest(message="Hello", session_id="s1"))
            suggested.append(await sessions.SuggestRemovals(pb.SuggestRemovalsRequest(session_id="s1")))
        refused = await refusal(sessions.SuggestRemovals(pb.SuggestRemovalsRequest(session_id="s2")))
    assert [(len(answer.suggestions), answer.answers) for answer in suggested] == [(0, 1), (0, 2), (1, 3)]
    (suggestion,) = suggested[-1].suggestions
    assert (suggestion.item.item.name, suggestion.answers) == ("isaacus_search", 3)
    assert suggestion.item.include_mode == context_pb2.INCLUDE_MODE_ALWAYS
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")
