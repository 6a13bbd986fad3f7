"""Whatever a model and its tools do, and whenever somebody cancels: a turn in the turn engine ends once, for the reason
that the oracle works out from the script, and all that it leaves agrees with that end; asked for again, it makes what
the caches do not hold."""

import asyncio
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.agent.payload import characters_of
from proviso_service.turns import (
    Citation,
    ExitReason,
    FinalState,
    MessageRole,
    ToolEnd,
    ToolStart,
    TurnStart,
    semantics_of,
)
from tests.support.agent_world import PASSAGE
from tests.support.played_turn import DETAIL, HUGE, QUESTION, PlayedTurn, play, play_twice
from tests.support.turn_oracle import (
    LEFT_OUT,
    PASSAGES,
    Expected,
    Failure,
    Kept,
    Limits,
    Lookup,
    Reply,
    Words,
    expected_end,
)

ANSWERED = frozenset({ExitReason.COMPLETED, ExitReason.MAX_TOOL_CALLS_REACHED})
BY_DOCUMENT = {passage.document_id: passage for passage in (PASSAGE, HUGE)}
ENDING = [Reply(Words.QUESTION)] * 30

lookups = st.lists(st.sampled_from([Lookup.FOUND, Lookup.EMPTY, *Lookup]), min_size=1, max_size=4).map(tuple)
asking = st.builds(Reply, st.sampled_from([Words.NOTHING, Words.LONG, *Words]), lookups)
replies = st.one_of(
    asking,
    asking,
    st.builds(Reply, st.sampled_from(Words)),
    st.builds(Reply, st.sampled_from(Words), failure=st.sampled_from(Failure)),
)
scripts = st.lists(replies, max_size=10).map(lambda drawn: [*drawn, *ENDING])
limits = st.builds(
    Limits,
    turns=st.sampled_from([6, 6, 1, 2, 3]),
    tool_calls=st.integers(0, 3),
    # A long text and a result or two come close to those between.
    context_chars=st.sampled_from([12_000, 12_000, 3_000, 1_000]) | st.integers(4_550, 4_750),
)
paces = st.integers(0, 2**32).map(Random)


@settings(max_examples=100)
@given(scripts, limits, paces, st.booleans())
def test_a_turn_ends_once_for_the_reason_that_its_script_gives(
    script: list[Reply], limits: Limits, pace: Random, same_ids: bool
) -> None:
    turn = asyncio.run(play(script, limits, pace, same_ids=same_ids))
    assert_ends_as(expectation(turn, script, limits), turn, limits)


@settings(max_examples=60)
@given(scripts, limits, paces)
def test_a_turn_that_is_asked_for_again_makes_what_was_not_kept_and_nothing_else(
    script: list[Reply], limits: Limits, pace: Random
) -> None:
    first, again = asyncio.run(play_twice(script, limits, pace))
    kept = Kept()
    before = expectation(first, script, limits, kept=kept)
    assert_ends_as(before, first, limits)
    all_kept = len(kept.replies) == sum(not call.failed for call in first.final.usage.calls)
    found = {call for call in before.executed if call[1] in PASSAGES}
    expected = expectation(again, script, limits, before.attempts, kept)
    assert_ends_as(expected, again, limits)
    assert [end.from_cache for end in again.of_kind(ToolEnd)] == [call in found for call in expected.executed]
    if first.final.exit_reason in ANSWERED and all_kept:
        assert (again.final.from_cache, again.payloads) == (True, [])
        assert (again.final.message, again.final.citations) == (first.final.message, first.final.citations)


@settings(max_examples=60)
@given(scripts, limits, paces, st.integers(0, 30))
def test_a_turn_that_is_cancelled_anywhere_ends_once_and_shows_no_text(
    script: list[Reply], limits: Limits, pace: Random, cancel_at: int
) -> None:
    turn = asyncio.run(play(script, limits, pace, cancel_at=cancel_at))
    if turn.was_cancelled:
        assert turn.final.exit_reason is ExitReason.CANCELLED
    else:
        assert turn.final.exit_reason is expectation(turn, script, limits).reason
    assert turn.final.usage.model_calls == len(turn.payloads)
    assert_sound(turn, limits)


def expectation(
    turn: PlayedTurn, script: list[Reply], limits: Limits, played: int = 0, kept: Kept | None = None
) -> Expected:
    """What the script gives, with the lengths of what the tools' results were cut to."""
    (start,) = turn.of_kind(TurnStart)
    results = [len(end.output) for end in turn.of_kind(ToolEnd)]
    first_chars = start.request_context.fill.characters_used
    return expected_end(script, limits, first_chars, results.__getitem__, played, kept)


def assert_ends_as(expected: Expected, turn: PlayedTurn, limits: Limits) -> None:
    assert turn.final.exit_reason is expected.reason
    assert (turn.final.cycles, turn.final.tool_calls) == (expected.cycles, expected.tool_calls)
    assert turn.final.usage.model_calls == len(turn.payloads) == expected.attempts
    assert len(turn.of_kind(ToolEnd)) == expected.tool_calls
    words = semantics_of(turn.final.exit_reason, turn.final.exit_cause).message
    assert turn.final.message == (expected.answer or words)
    assert turn.final.from_cache is (expected.from_cache and bool(expected.answer))
    assert len(turn.final.citations) == expected.answer.startswith(Words.QUOTED.value)
    assert turn.final.omitted_sentences == (expected.answer == LEFT_OUT)
    assert_sound(turn, limits)


def assert_sound(turn: PlayedTurn, limits: Limits) -> None:
    """What holds of every turn."""
    assert [isinstance(event, FinalState) for event in turn.events].index(True) == len(turn.events) - 1
    assert turn.final.exit_reason in ExitReason
    answered = turn.final.exit_reason in ANSWERED and is_answered(turn)
    semantics = semantics_of(turn.final.exit_reason, turn.final.exit_cause)
    assert (turn.final.retryable, turn.final.display_message) == (semantics.retryable, semantics.display_message)
    told = "" if turn.final.from_cache else turn.final.message
    assert turn.standing_text == told or (not answered and turn.standing_text == "")
    assert DETAIL not in str(turn.events)
    for payload in turn.payloads:
        assert characters_of(payload) <= limits.context_chars  # type: ignore[arg-type]
    if turn.final.exit_reason is ExitReason.MAX_TOOL_CALLS_REACHED and not turn.final.from_cache:
        assert turn.tool_choices[-1] == "none"
    assert_tool_events_are_sound(turn)
    assert_citations_are_sound(turn)
    assert_stored_as_told(turn)


def assert_tool_events_are_sound(turn: PlayedTurn) -> None:
    """Calls have ids of their own, and one end after their start, unless the turn was cancelled meanwhile."""
    started = [event.call_id for event in turn.of_kind(ToolStart)]
    ended = [event.call_id for event in turn.of_kind(ToolEnd)]
    assert len(started) == len(set(started)) == turn.final.tool_calls
    assert len(ended) == len(set(ended))
    assert set(ended) == set(started) or turn.was_cancelled
    for event in turn.of_kind(ToolEnd):
        start = next(e for e in turn.of_kind(ToolStart) if e.call_id == event.call_id)
        assert turn.events.index(start) < turn.events.index(event)


def assert_citations_are_sound(turn: PlayedTurn) -> None:
    assert (turn.of_kind(Citation) == list(turn.final.citations)) or turn.was_cancelled
    for citation in turn.final.citations:
        passage = BY_DOCUMENT[citation.document_id]
        assert passage.text[citation.start - passage.start : citation.end - passage.start] == citation.quote
        assert turn.final.message[citation.answer_start : citation.answer_end].endswith(f"[{citation.number}]")


def is_answered(turn: PlayedTurn) -> bool:
    """The limit of tool calls may be reached without an answer."""
    return turn.final.messages[-1].role is MessageRole.ASSISTANT


def assert_stored_as_told(turn: PlayedTurn) -> None:
    """Once: the final state that readers got, the question, and what was displayed."""
    (outcome,) = turn.stored
    assert outcome.final_state == turn.final
    kept = [(message.role, message.content) for message in outcome.new_messages]
    asked, shown = (MessageRole.USER, QUESTION), (MessageRole.ERROR, turn.final.message)
    match turn.final.exit_reason:
        case ExitReason.MAX_CONTEXT_REACHED:
            assert kept == [asked, shown]
            assert outcome.new_messages[0].unsent
        case ExitReason.CANCELLED:
            assert kept in ([], [asked])  # nothing was read of a message whose turn was cancelled before it began
        case ExitReason.COMPLETED | ExitReason.MAX_TOOL_CALLS_REACHED if is_answered(turn):
            assert kept == [asked, (MessageRole.ASSISTANT, turn.final.message)]
            assert outcome.new_messages[1].request_context == turn.final.request_context
        case _:
            assert kept == [asked, shown]
    assert [(message.role, message.content) for message in turn.final.messages] == kept
