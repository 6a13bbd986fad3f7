import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from proviso_service.backends.sql.sessions import SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.context.model import (
    ContextChange,
    ContextFill,
    IncludeMode,
    ItemRef,
    ItemType,
    MatterContext,
    NewSession,
    RequestContext,
    SessionItem,
    with_item,
)
from proviso_service.errors import ContextItemNotFound, SessionBusy, SessionExists, SessionNotFound, TurnUnknown
from proviso_service.identity import Caller
from proviso_service.paging import PageRequest
from proviso_service.turns import (
    ChatMessage,
    Decision,
    ExitReason,
    MessageRole,
    ToolCallRecord,
    TurnOutcome,
    TurnRequest,
    TurnSummary,
    Usage,
)
from tests.support.stored import Clock, an_outcome

ANNA = Caller("acme", "anna")
NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
OTHERS = [Caller("acme", "ben"), Caller("other", "anna")]
ITEMS = (
    SessionItem(ItemRef(ItemType.RULE, "Plain English"), IncludeMode.ALWAYS),
    SessionItem(ItemRef(ItemType.TOOL, "search", "proviso"), IncludeMode.MANUAL, missing=True),
)


async def said(turns: SqlTurnStore, session_id: str, *contents: str, outcome: TurnOutcome | None = None) -> str:
    """Runs a whole turn that stores these messages, and returns its id."""
    turn_id = f"turn of {contents}"
    await turns.begin(ANNA, turn_id, TurnRequest("?", session_id=session_id), "hash", "me", 60)
    await turns.finish(ANNA, turn_id, session_id, 1, outcome or an_outcome("Done.", *contents), "me")
    return turn_id


async def test_a_session_keeps_its_items(sessions: SqlSessionStore, clock: Clock) -> None:
    created = await sessions.create(ANNA, "s", NewSession(ITEMS))
    assert (created.session_id, created.items, created.create_time) == ("s", ITEMS, clock.time)
    assert (created.matter_context, created.running_turn_id, created.message_count) == (None, "", 0)
    assert await sessions.get(ANNA, "s") == created
    with pytest.raises(SessionExists):
        await sessions.create(ANNA, "s", NewSession())
    assert await sessions.get_or_create(ANNA, "s", NewSession()) == created


async def test_an_unknown_session_can_be_made_on_the_way(sessions: SqlSessionStore) -> None:
    made = await sessions.get_or_create(ANNA, "s", NewSession(ITEMS))
    assert made.items == ITEMS
    assert await sessions.get(ANNA, "s") == made


async def test_a_session_knows_the_matter_that_it_is_found_with(sessions: SqlSessionStore) -> None:
    first, other = ContextChange(MatterContext("m-1", "One")), ContextChange(MatterContext("m-2", "Two", "d", "D.md"))
    for change in (first, other, first, ContextChange(None)):
        found = await sessions.get_or_create(ANNA, "s", NewSession(ITEMS), change)
        assert (found.items, found.matter_context) == (ITEMS, change.matter_context)
        assert await sessions.get(ANNA, "s") == found
    made = await sessions.get_or_create(ANNA, "t", NewSession(), first)
    assert await sessions.get_or_create(ANNA, "t", NewSession()) == made


async def test_one_session_is_made_however_many_ask_at_once(sessions: SqlSessionStore) -> None:
    made = await asyncio.gather(*(sessions.get_or_create(ANNA, "s", NewSession(ITEMS)) for _ in range(8)))
    assert len(set(made)) == 1
    results = await asyncio.gather(
        *(sessions.create(ANNA, "t", NewSession()) for _ in range(8)), return_exceptions=True
    )
    assert sum(isinstance(result, SessionExists) for result in results) == 7


async def test_always_items_of_a_late_server_join_once_however_many_ask_at_once(
    sessions: SqlSessionStore, turns: SqlTurnStore
) -> None:
    late = SessionItem(ItemRef(ItemType.TOOL, "now", "time"), IncludeMode.ALWAYS)
    made = await sessions.create(ANNA, "s", NewSession(ITEMS, ("time", "files")))
    assert made.pending_servers == ("time", "files")
    assert await sessions.get_or_create(ANNA, "s", NewSession(ITEMS, ("time", "files"))) == made
    listed = NewSession((*ITEMS, late), ("files",))
    joined = await asyncio.gather(*(sessions.get_or_create(ANNA, "s", listed) for _ in range(8)))
    assert {(session.items, session.pending_servers) for session in joined} == {((*ITEMS, late), ("files",))}
    assert await sessions.get(ANNA, "s") == joined[0]
    await said(turns, "t", outcome=replace(an_outcome("Done.", "Hello"), new_session=NewSession(ITEMS, ("files",))))
    assert (await sessions.get(ANNA, "t")).pending_servers == ("files",)


@pytest.mark.parametrize("other", OTHERS)
async def test_a_session_is_seen_by_its_user_only(
    sessions: SqlSessionStore, turns: SqlTurnStore, other: Caller
) -> None:
    await said(turns, "s", "Hello", "Good day")
    with pytest.raises(SessionNotFound):
        await sessions.get(other, "s")
    with pytest.raises(SessionNotFound):
        await sessions.messages(other, "s", PageRequest())
    with pytest.raises(SessionNotFound):
        await sessions.delete(other, "s")
    assert await sessions.history(other, "s", 1000) == ()
    assert (await sessions.list(other, PageRequest())).items == []
    await sessions.create(other, "s", NewSession())
    assert (await sessions.get(ANNA, "s")).message_count == 2


async def test_sessions_are_listed_newest_first(sessions: SqlSessionStore, turns: SqlTurnStore, clock: Clock) -> None:
    for name in ("first", "second", "third"):
        await sessions.create(ANNA, name, NewSession())
        clock.advance(1)
    await said(turns, "first", "Hello")
    listed = (await sessions.list(ANNA, PageRequest())).items
    assert [session.session_id for session in listed] == ["third", "second", "first"]
    assert listed[-1] == await sessions.get(ANNA, "first")
    assert listed[-1].update_time > listed[0].update_time


async def test_messages_come_oldest_first_and_name_their_turn(
    sessions: SqlSessionStore, turns: SqlTurnStore, clock: Clock
) -> None:
    first = await said(turns, "s", "Hello", "Good day")
    second = await said(turns, "s", "And?", "Nothing.")
    messages = (await sessions.messages(ANNA, "s", PageRequest())).items
    assert [(message.content, message.turn_id) for message in messages] == [
        ("Hello", first),
        ("Good day", first),
        ("And?", second),
        ("Nothing.", second),
    ]
    assert len({message.message_id for message in messages}) == 4
    assert {message.create_time for message in messages} == {clock.time}


async def test_turns_may_leave_any_number_of_messages(sessions: SqlSessionStore, turns: SqlTurnStore) -> None:
    for contents in (("a", "b", "c"), (), ("d",), ("e", "f")):
        await said(turns, "s", *contents)
    messages = (await sessions.messages(ANNA, "s", PageRequest())).items
    assert "".join(message.content for message in messages) == "abcdef"
    assert (await sessions.get(ANNA, "s")).message_count == 6


async def test_a_message_keeps_the_id_and_time_it_came_with(
    sessions: SqlSessionStore, turns: SqlTurnStore, clock: Clock
) -> None:
    sent = ChatMessage(MessageRole.USER, "Hello", turn_id="turn", message_id="m-1", create_time=clock.time)
    clock.advance(5)
    await said(turns, "s", outcome=replace(an_outcome(), new_messages=(sent,)))
    assert (await sessions.messages(ANNA, "s", PageRequest())).items == [sent]


async def test_a_message_keeps_the_summary_of_its_turn(sessions: SqlSessionStore, turns: SqlTurnStore) -> None:
    call = ToolCallRecord("c-1", "now", "time", "{}", NOW, 0.1 + 0.2, "denied", decision=Decision.DENY)
    summary = TurnSummary(ExitReason.COMPLETED, (call,), Usage(100, 20, 1), 2.5, "local")
    new = (ChatMessage(MessageRole.USER, "When?"), ChatMessage(MessageRole.ASSISTANT, "Now.", turn=summary))
    await said(turns, "s", outcome=replace(an_outcome(), new_messages=new))
    listed = (await sessions.messages(ANNA, "s", PageRequest())).items
    assert [message.turn for message in listed] == [None, summary]


async def test_the_matter_context_stays_until_a_turn_changes_it(sessions: SqlSessionStore, turns: SqlTurnStore) -> None:
    matter = MatterContext("m-1", 'The "Lease"', "d-1", "lease.pdf")
    await said(turns, "s", "1", outcome=replace(an_outcome(), matter_context=matter, update_matter_context=True))
    assert (await sessions.get(ANNA, "s")).matter_context == matter
    await said(turns, "s", "2")
    assert (await sessions.get(ANNA, "s")).matter_context == matter
    await said(turns, "s", "3", outcome=replace(an_outcome(), update_matter_context=True))
    assert (await sessions.get(ANNA, "s")).matter_context is None


async def test_a_session_names_its_running_turn_and_cannot_be_deleted_meanwhile(
    sessions: SqlSessionStore, turns: SqlTurnStore
) -> None:
    await sessions.create(ANNA, "s", NewSession())
    await turns.begin(ANNA, "t-1", TurnRequest("?", session_id="s"), "hash", "me", 60)
    assert (await sessions.get(ANNA, "s")).running_turn_id == "t-1"
    assert (await sessions.list(ANNA, PageRequest())).items[0].running_turn_id == "t-1"
    with pytest.raises(SessionBusy) as busy:
        await sessions.delete(ANNA, "s")
    assert busy.value.turn_id == "t-1"
    await turns.finish(ANNA, "t-1", "s", 1, an_outcome(), "me")
    assert (await sessions.get(ANNA, "s")).running_turn_id == ""


async def test_a_turn_that_has_to_make_its_session_gives_it_the_items_of_its_outcome(
    sessions: SqlSessionStore, turns: SqlTurnStore
) -> None:
    await said(turns, "s", outcome=replace(an_outcome("Done.", "Hello"), new_session=NewSession(ITEMS)))
    assert (await sessions.get(ANNA, "s")).items == ITEMS


async def test_a_turn_that_leaves_nothing_makes_no_session(sessions: SqlSessionStore, turns: SqlTurnStore) -> None:
    await said(turns, "s", outcome=an_outcome())
    with pytest.raises(SessionNotFound):
        await sessions.get(ANNA, "s")


async def test_a_deleted_session_leaves_no_trace(sessions: SqlSessionStore, turns: SqlTurnStore) -> None:
    turn_id = await said(turns, "s", "My secret", "Noted")
    await sessions.delete(ANNA, "s")
    with pytest.raises(SessionNotFound):
        await sessions.get(ANNA, "s")
    with pytest.raises(TurnUnknown):
        await turns.get(ANNA, turn_id)
    await sessions.create(ANNA, "s", NewSession())
    assert (await sessions.messages(ANNA, "s", PageRequest())).items == []
    assert await sessions.history(ANNA, "s", 1000) == ()


@pytest.mark.parametrize(
    ("max_chars", "contents"),
    [
        (0, ["eeeee"]),
        (4, ["eeeee"]),
        (5, ["dddd", "eeeee"]),
        (8, ["dddd", "eeeee"]),
        (9, ["ccc", "dddd", "eeeee"]),
        (100, ["a", "bb", "ccc", "dddd", "eeeee"]),
    ],
)
async def test_the_history_holds_the_newest_messages_up_to_the_first_over_the_limit(
    sessions: SqlSessionStore, turns: SqlTurnStore, max_chars: int, contents: list[str]
) -> None:
    for content in ("a", "bb", "ccc", "dddd", "eeeee"):
        await said(turns, "s", content)
    assert [message.content for message in await sessions.history(ANNA, "s", max_chars)] == contents


async def test_the_history_counts_code_points_and_leaves_out_what_the_model_never_reads(
    sessions: SqlSessionStore, turns: SqlTurnStore
) -> None:
    roles = (MessageRole.USER, MessageRole.ERROR, MessageRole.APPROVAL, MessageRole.SYSTEM, MessageRole.ASSISTANT)
    new = tuple(ChatMessage(role, "😀\0漢") for role in roles)
    await said(turns, "s", outcome=replace(an_outcome(), new_messages=new))
    history = await sessions.history(ANNA, "s", 3)
    assert [message.role for message in history] == [MessageRole.USER, MessageRole.ASSISTANT]
    assert len(await sessions.history(ANNA, "s", 2)) == 1
    assert (await sessions.get(ANNA, "s")).message_count == 5


async def test_the_history_of_an_unknown_session_is_empty(sessions: SqlSessionStore) -> None:
    assert await sessions.history(ANNA, "unknown", 1000) == ()


async def test_changes_of_items_are_made_one_after_another(sessions: SqlSessionStore, clock: Clock) -> None:
    await sessions.create(ANNA, "s", NewSession(ITEMS))
    added = [SessionItem(ItemRef(ItemType.RULE, str(number)), IncludeMode.MANUAL) for number in range(20)]
    clock.advance(1)
    await asyncio.gather(*(sessions.change_items(ANNA, "s", partial(with_item, ref=one.ref)) for one in added))
    found = await sessions.get(ANNA, "s")
    assert set(found.items) == {*ITEMS, *added}
    assert found.update_time == clock.time > found.create_time


async def test_a_change_that_changes_nothing_or_fails_leaves_the_session_as_it_was(
    sessions: SqlSessionStore, clock: Clock
) -> None:
    created = await sessions.create(ANNA, "s", NewSession(ITEMS))
    clock.advance(1)
    assert await sessions.change_items(ANNA, "s", lambda items: items) == created

    def fails(items: tuple[SessionItem, ...]) -> tuple[SessionItem, ...]:
        raise ContextItemNotFound("rule 'x'")

    with pytest.raises(ContextItemNotFound):
        await sessions.change_items(ANNA, "s", fails)
    assert await sessions.get(ANNA, "s") == created


@pytest.mark.parametrize("other", OTHERS)
async def test_the_items_of_a_session_are_changed_by_its_user_only(sessions: SqlSessionStore, other: Caller) -> None:
    created = await sessions.create(ANNA, "s", NewSession(ITEMS))
    with pytest.raises(SessionNotFound):
        await sessions.change_items(other, "s", lambda items: ())
    assert await sessions.get(ANNA, "s") == created


async def test_recent_contexts_are_those_of_the_newest_answers(sessions: SqlSessionStore, turns: SqlTurnStore) -> None:
    contexts = [RequestContext((), (), None, (), ContextFill(n, 12_000), NOW) for n in range(4)]
    for context in contexts:
        new = (ChatMessage(MessageRole.USER, "?"), ChatMessage(MessageRole.ASSISTANT, "!", context))
        await said(turns, "s", str(context.fill), outcome=replace(an_outcome(), new_messages=new))
    await said(turns, "s", "An old message", "An answer without a context")
    assert await sessions.recent_contexts(ANNA, "s", 3) == (contexts[3], contexts[2], contexts[1])
    assert await sessions.recent_contexts(ANNA, "s", 200) == tuple(reversed(contexts))
    for caller in OTHERS:
        with pytest.raises(SessionNotFound):
            await sessions.recent_contexts(caller, "s", 3)
