import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from proviso_service.backends.sql.sessions import SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.context.model import (
    AssetKind,
    AssetUse,
    ContextFill,
    IncludeMode,
    ItemRef,
    ItemType,
    MatterContext,
    OmissionReason,
    OmittedItem,
    RequestContext,
    RequestItem,
)
from proviso_service.errors import RequestIdReused, SessionBusy, TurnUnknown
from proviso_service.identity import Caller
from proviso_service.paging import PageRequest
from proviso_service.turns import (
    AskedCall,
    ChatMessage,
    Citation,
    ContextProblem,
    Decision,
    ExitCause,
    ExitReason,
    FinalState,
    HistoryMessage,
    MessageRole,
    ModelCallUsage,
    Retryable,
    SuspendedTurn,
    ToolCallRecord,
    TurnBegun,
    TurnLost,
    TurnOutcome,
    TurnRecord,
    TurnRequest,
    TurnState,
    Usage,
)
from tests.support.stored import Clock, an_outcome

ANNA = Caller("acme", "anna")
OTHERS = [Caller("acme", "ben"), Caller("other", "anna")]
QUESTION = TurnRequest("When is rent due?", session_id="s")

CONTEXT = RequestContext(
    items=(RequestItem(ItemRef(ItemType.TOOL, "search", "proviso"), IncludeMode.AGENT, 0.1 + 0.2, "ab" * 32),),
    omitted=(OmittedItem(ItemRef(ItemType.RULE, "Plain 😀"), OmissionReason.BUDGET, None),),
    matter_context=MatterContext("m", 'The "Lease"\0', "d", "lease.pdf"),
    assets=(AssetUse(AssetKind.IMAGE, "https://example.org/a.png", included=False, note="too large"),),
    fill=ContextFill(10, 12_000, None, 8_000),
    timestamp=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    payload_sha256="cd" * 32,
)
FULL = FinalState(
    exit_reason=ExitReason.RATE_LIMITED,
    retryable=Retryable.MAYBE,
    display_message=True,
    message="Rent is due on the 1st [1].",
    messages=(
        ChatMessage(MessageRole.USER, "When?"),
        ChatMessage(MessageRole.ASSISTANT, "On the 1st [1].", CONTEXT, "t-1", "m-1", CONTEXT.timestamp),
    ),
    request_context=CONTEXT,
    citations=(Citation(1, 0, 5, "d", "lease.pdf", 100, 120, 3, "Rent", "“due on the 1st”"),),
    usage=Usage(100, 20, 3, 60, (ModelCallUsage("m", 100, 20, 60, 0.1 + 0.2, failed=True),)),
    cycles=2,
    tool_calls=1,
    from_cache=True,
    retry_after_s=1.5,
    context_problem=ContextProblem.DOCUMENT_PROCESSING,
    duration_s=2.5,
    tool_call_records=(
        ToolCallRecord("c-1", "isaacus_search", "proviso", "{}", CONTEXT.timestamp, 0.25, decision=Decision.DENY),
    ),
    exit_cause=ExitCause.PROVIDER_PAUSED,
    omitted_sentences=2,
    message_truncated=True,
    removed_markup=3,
    history=(HistoryMessage(MessageRole.USER, "Who pays?"),),
)


@pytest.fixture
def suspended(clock: Clock) -> SuspendedTurn:
    asked = AskedCall("a", "time__get_time", ItemRef(ItemType.TOOL, "get_time", "time"), "{}")
    return SuspendedTurn(QUESTION, "{}", (asked,), (None,), clock(), 1.5)


async def begun(
    turns: SqlTurnStore, turn_id: str, request: TurnRequest = QUESTION, *, owner: str = "me", lease_s: float = 60
) -> TurnBegun:
    return await turns.begin(ANNA, turn_id, request, "hash", owner, lease_s)


async def state_of(turns: SqlTurnStore, turn_id: str) -> TurnState:
    return (await turns.get(ANNA, turn_id)).state


async def test_a_turn_runs_and_ends(turns: SqlTurnStore) -> None:
    assert await begun(turns, "t-1") == TurnBegun("t-1", created=True)
    assert await turns.get(ANNA, "t-1") == TurnRecord("t-1", ANNA, "s", TurnState.RUNNING, 0, None, owner="me")
    await turns.finish(ANNA, "t-1", "s", 17, TurnOutcome(FULL), "me")
    assert await turns.get(ANNA, "t-1") == TurnRecord("t-1", ANNA, "s", TurnState.ENDED, 17, FULL, owner="me")


def test_every_field_of_a_final_state_differs_from_its_default_in_the_round_trip() -> None:
    plain = FinalState(ExitReason.COMPLETED, Retryable.NO, False, "")
    assert all(getattr(FULL, name) != getattr(plain, name) for name in FinalState.__slots__)


@given(st.builds(FinalState, message=st.text(st.characters(exclude_categories=["Cs"])), request_context=st.none()))
def test_any_final_state_survives_as_json(final_state: FinalState) -> None:
    adapter = TypeAdapter(FinalState)
    assert adapter.validate_json(adapter.dump_json(final_state)) == final_state


@pytest.mark.parametrize("other", OTHERS)
async def test_another_callers_turn_is_unknown(turns: SqlTurnStore, other: Caller) -> None:
    await begun(turns, "t-1")
    with pytest.raises(TurnUnknown):
        await turns.get(other, "t-1")
    with pytest.raises(TurnUnknown):
        await turns.finish(other, "t-1", "s", 1, an_outcome(), "me")
    assert await state_of(turns, "t-1") is TurnState.RUNNING


async def test_a_session_runs_one_turn_at_a_time(turns: SqlTurnStore) -> None:
    await begun(turns, "t-1")
    with pytest.raises(SessionBusy) as busy:
        await begun(turns, "t-2")
    assert busy.value.turn_id == "t-1"
    await turns.finish(ANNA, "t-1", "s", 1, an_outcome(), "me")
    assert (await begun(turns, "t-2")).created


async def test_of_many_turns_of_a_session_at_once_exactly_one_begins(turns: SqlTurnStore) -> None:
    results = await asyncio.gather(*(begun(turns, f"t-{i}") for i in range(8)), return_exceptions=True)
    (winner,) = [result for result in results if isinstance(result, TurnBegun)]
    busy = [result for result in results if isinstance(result, SessionBusy)]
    assert len(busy) == 7
    assert {failure.turn_id for failure in busy} == {winner.turn_id}


async def test_sessions_of_other_callers_and_turns_without_a_session_do_not_wait(turns: SqlTurnStore) -> None:
    await begun(turns, "t-1")
    for i, other in enumerate(OTHERS):
        assert (await turns.begin(other, f"o-{i}", QUESTION, "hash", "me", 60)).created
    for i in range(2):
        assert (await begun(turns, f"stateless-{i}", TurnRequest("?"))).created


async def test_a_repeated_request_is_the_same_turn(turns: SqlTurnStore) -> None:
    request = replace(QUESTION, request_id="r-1")
    await begun(turns, "t-1", request)
    assert await begun(turns, "t-2", request) == TurnBegun("t-1", created=False)
    await turns.finish(ANNA, "t-1", "s", 1, an_outcome(), "me")
    assert await begun(turns, "t-3", request) == TurnBegun("t-1", created=False)
    with pytest.raises(TurnUnknown):
        await turns.get(ANNA, "t-2")


async def test_of_many_equal_requests_at_once_one_turn_begins(turns: SqlTurnStore) -> None:
    request = replace(QUESTION, request_id="r-1")
    results = await asyncio.gather(*(begun(turns, f"t-{i}", request) for i in range(8)))
    assert [result.created for result in results].count(True) == 1
    assert len({result.turn_id for result in results}) == 1


async def test_a_request_id_with_another_payload_is_refused(turns: SqlTurnStore) -> None:
    request = replace(QUESTION, request_id="r-1")
    await begun(turns, "t-1", request)
    with pytest.raises(RequestIdReused):
        await turns.begin(ANNA, "t-2", replace(request, session_id=""), "another hash", "me", 60)


async def test_a_request_id_belongs_to_its_caller(turns: SqlTurnStore) -> None:
    request = replace(QUESTION, request_id="r-1")
    await begun(turns, "t-1", request)
    for i, other in enumerate(OTHERS):
        assert (await turns.begin(other, f"o-{i}", request, "another hash", "me", 60)).created


async def test_a_new_request_to_a_busy_session_is_not_remembered(turns: SqlTurnStore) -> None:
    await begun(turns, "t-1")
    waiting = replace(QUESTION, request_id="r-2")
    with pytest.raises(SessionBusy):
        await begun(turns, "t-2", waiting)
    await turns.finish(ANNA, "t-1", "s", 1, an_outcome(), "me")
    assert (await begun(turns, "t-2", waiting)).created


async def test_finishing_makes_the_session_and_appends_once(turns: SqlTurnStore, sessions: SqlSessionStore) -> None:
    await begun(turns, "t-1")
    first = an_outcome("First.", "Hello", "First.")
    await turns.finish(ANNA, "t-1", "s", 3, first, "me")
    await turns.finish(ANNA, "t-1", "s", 9, an_outcome("Second.", "Hello", "Second."), "me")
    messages = (await sessions.messages(ANNA, "s", PageRequest())).items
    assert [message.content for message in messages] == ["Hello", "First."]
    record = await turns.get(ANNA, "t-1")
    assert (record.last_sequence, record.final_state) == (3, first.final_state)


async def test_a_stored_message_keeps_its_request_context(turns: SqlTurnStore, sessions: SqlSessionStore) -> None:
    await begun(turns, "t-1")
    await turns.finish(ANNA, "t-1", "s", 3, TurnOutcome(FULL, FULL.messages), "me")
    stored = (await sessions.messages(ANNA, "s", PageRequest())).items
    assert stored[1] == FULL.messages[1]


async def test_a_turn_without_a_session_leaves_none(turns: SqlTurnStore, sessions: SqlSessionStore) -> None:
    await begun(turns, "t-1", TurnRequest("?"))
    await turns.finish(ANNA, "t-1", "", 3, an_outcome("Done.", "Hello"), "me")
    assert (await sessions.list(ANNA, PageRequest())).items == []


async def test_an_outcome_that_cannot_be_stored_leaves_the_turn_running(
    turns: SqlTurnStore, sessions: SqlSessionStore
) -> None:
    await begun(turns, "t-1")
    local = ChatMessage(MessageRole.USER, "Hello", create_time=datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(Exception, match="time zone"):
        await turns.finish(ANNA, "t-1", "s", 3, replace(an_outcome(), new_messages=(local,)), "me")
    assert await state_of(turns, "t-1") is TurnState.RUNNING
    assert (await sessions.list(ANNA, PageRequest())).items == []


async def test_times_are_handed_out_in_utc(turns: SqlTurnStore, sessions: SqlSessionStore) -> None:
    moment = datetime(2026, 1, 1, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    await begun(turns, "t-1")
    sent = ChatMessage(MessageRole.USER, "Hello", create_time=moment)
    await turns.finish(ANNA, "t-1", "s", 3, replace(an_outcome(), new_messages=(sent,)), "me")
    (stored,) = (await sessions.messages(ANNA, "s", PageRequest())).items
    assert stored.create_time == moment
    assert stored.create_time.tzinfo is UTC


async def taken_over(turns: SqlTurnStore, owner: str, limit: int = 100, **changes: Any) -> list[str]:
    return [record.turn_id for record in await turns.take_over(owner, 60, limit, 1_000, **changes)]


async def test_turns_whose_lease_has_expired_are_taken_over(turns: SqlTurnStore, clock: Clock) -> None:
    await begun(turns, "expired", TurnRequest("What?"), owner="dead", lease_s=10)
    await begun(turns, "alive", TurnRequest("?"), owner="other", lease_s=11)
    await turns.checkpoint(ANNA, "expired", 7, SuspendedTurn(TurnRequest("What?"), "state"), "dead")
    clock.advance(10)
    (taken,) = await turns.take_over("me", 60, 100, 1_000)
    assert (taken.turn_id, taken.owner, taken.take_overs, taken.last_sequence) == ("expired", "me", 1, 1_007)
    assert taken == await turns.get(ANNA, "expired")
    assert await turns.suspended(ANNA, "expired") == SuspendedTurn(TurnRequest("What?"), "state")
    assert await taken_over(turns, "third") == []


async def test_a_turn_is_stored_with_its_request_from_the_start(turns: SqlTurnStore) -> None:
    await begun(turns, "t-1")
    assert await turns.suspended(ANNA, "t-1") == SuspendedTurn.at_start(QUESTION)


async def test_a_new_owner_takes_at_once_what_an_earlier_life_of_it_left(turns: SqlTurnStore) -> None:
    await begun(turns, "mine", TurnRequest("?"), owner="me")
    await begun(turns, "theirs", TurnRequest("?"), owner="other")
    assert await taken_over(turns, "me") == []
    assert await taken_over(turns, "me", is_new=True) == ["mine"]


async def test_the_oldest_turns_are_taken_first_and_no_more_than_asked_for(turns: SqlTurnStore, clock: Clock) -> None:
    for turn_id in ("t-1", "t-2", "t-3"):
        await begun(turns, turn_id, TurnRequest("?"), owner="dead", lease_s=0)
        clock.advance(1)
    assert await taken_over(turns, "me", 2) == ["t-1", "t-2"]
    assert await taken_over(turns, "me", 2) == ["t-3"]


async def test_an_owner_takes_those_of_its_turns_that_it_does_not_run_and_no_others(
    turns: SqlTurnStore, clock: Clock
) -> None:
    for turn_id in ("running", "given up"):
        await begun(turns, turn_id, TurnRequest("?"), lease_s=1)
    clock.advance(1)
    assert await taken_over(turns, "me", 1, running=["running"]) == ["given up"]


async def test_a_turn_that_was_released_is_anybody_s_and_counts_no_take_over(turns: SqlTurnStore) -> None:
    await begun(turns, "t-1")
    await turns.release("thief", {"t-1": 3})
    assert await taken_over(turns, "other") == []
    await turns.release("me", {"t-1": 9, "absent": 1})
    (taken,) = await turns.take_over("other", 60, 100, 1_000)
    assert (taken.turn_id, taken.take_overs, taken.last_sequence) == ("t-1", 0, 9)


async def test_whoever_lost_a_turn_changes_nothing_of_it(
    turns: SqlTurnStore, sessions: SqlSessionStore, suspended: SuspendedTurn
) -> None:
    await begun(turns, "t-1", lease_s=0)
    await turns.take_over("other", 60, 100, 0)
    taken = await turns.get(ANNA, "t-1")
    late: tuple[Callable[[], Awaitable[None]], ...] = (
        lambda: turns.checkpoint(ANNA, "t-1", 5, suspended, "me"),
        lambda: turns.suspend(ANNA, "t-1", 5, suspended, "me"),
        lambda: turns.resume(ANNA, "t-1", "me", 60),
        lambda: turns.record_decision(ANNA, "t-1", "s", (0,), Decision.DENY, None, "me"),
        lambda: turns.finish(ANNA, "t-1", "s", 5, an_outcome("Too late.", "Hello", "Too late."), "me"),
    )
    for work in late:
        with pytest.raises(TurnLost):
            await work()
    assert await turns.renew("me", ["t-1"], 60) == ["t-1"]
    assert await turns.get(ANNA, "t-1") == taken
    await turns.finish(ANNA, "t-1", "s", 5, an_outcome("In time.", "Hello", "In time."), "other")
    with pytest.raises(TurnLost):
        await turns.finish(ANNA, "t-1", "s", 5, an_outcome("Too late.", "Hello", "Too late."), "me")
    assert [message.content for message in await sessions.history(ANNA, "s", 1000)] == ["Hello", "In time."]
    assert (await begun(turns, "t-2")).created


async def test_a_turn_that_waits_is_taken_over_as_it_waits(turns: SqlTurnStore, suspended: SuspendedTurn) -> None:
    await begun(turns, "t-1", lease_s=0)
    await turns.suspend(ANNA, "t-1", 17, suspended, "me")
    (taken,) = await turns.take_over("other", 60, 100, 1_000)
    assert (taken.state, taken.take_overs, taken.last_sequence) == (TurnState.AWAITING_APPROVAL, 0, 17)
    with pytest.raises(SessionBusy):
        await begun(turns, "t-2")


async def test_a_renewed_lease_keeps_a_turn(turns: SqlTurnStore, clock: Clock) -> None:
    names = [f"t-{i}" for i in range(3)]
    for name in names:
        await begun(turns, name, TurnRequest("?"), lease_s=10)
    clock.advance(5)
    assert await turns.renew("me", [*names[:2], *(f"absent-{i}" for i in range(1500))], 10) == []
    clock.advance(5)
    assert await taken_over(turns, "other") == ["t-2"]


async def test_a_lease_is_renewed_by_its_owner_only_and_until_the_turn_has_ended(
    turns: SqlTurnStore, clock: Clock
) -> None:
    await begun(turns, "t-1", lease_s=10)
    assert await turns.renew("thief", ["t-1"], 1000) == ["t-1"]
    clock.advance(10)
    assert await taken_over(turns, "other") == ["t-1"]
    await turns.finish(ANNA, "t-1", "", 5, an_outcome(), "other")
    assert await turns.renew("me", ["t-1"], 1000) == []


async def test_what_a_request_began_before_is_found_by_its_caller_and_payload_only(turns: SqlTurnStore) -> None:
    await turns.begin(ANNA, "t-1", replace(QUESTION, request_id="r"), "hash", "me", 60)
    assert await turns.begun_before(ANNA, "r", "hash") == "t-1"
    assert await turns.begun_before(ANNA, "r-2", "hash") is None
    assert await turns.begun_before(replace(ANNA, user="somebody else"), "r", "hash") is None
    with pytest.raises(RequestIdReused):
        await turns.begun_before(ANNA, "r", "another hash")
