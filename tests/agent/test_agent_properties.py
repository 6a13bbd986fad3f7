"""Whatever a model and the tools do, a turn ends once, and what its readers hold agrees with how it ended."""

import asyncio
import contextlib
from collections.abc import Sequence

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.agent.conversation import trim_messages
from proviso_service.tools.base import Passage
from proviso_service.turns.events import Event, TextDiscarded, Token, ToolEnd, ToolStart, TurnStart
from proviso_service.turns.exit_reasons import EXIT_SEMANTICS, NOT_ENOUGH_INFORMATION, ExitReason
from proviso_service.turns.ports import TurnOptions, TurnOutcome
from tests.support.agent_world import PASSAGE, AgentWorld, Lookup, agent_world
from tests.support.memory_caches import memory_caches
from tests.support.scripted_model import Call, Step, text

VALID = Call("lookup", '{"query": "law"}')
SAME_ID = Call("lookup", '{"query": "law"}', "call-1")
INVALID = (Call("no_such_tool"), Call("lookup", "{}"), Call("lookup", "query=law"), Call("lookup", "{}", "call-1"))
LONG = Passage("d", "Long.md", 0, "word " * 2_000)
ENDING = [text("Good day.")] * 40


def rate_limit() -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError("no", request=httpx.Request("POST", "http://m/"), response=httpx.Response(429))


replies = st.sampled_from(
    [
        (),
        (" ", "\n"),
        ("It says “governed by the laws ", "of Ohio” [1]."),
        ("It is “governed by the laws of Texas” [1].",),
        ("The cap is 5,000.",),
        (NOT_ENOUGH_INFORMATION,),
        (NOT_ENOUGH_INFORMATION, "\n"),
        ("word " * 900,),
    ]
)
requested = st.lists(st.sampled_from([VALID, VALID, VALID, SAME_ID, *INVALID]), max_size=5)
# Made anew for every example: an exception keeps the tracebacks of all its raisings.
errors = (
    st.none()
    | st.none()
    | st.builds(rate_limit)
    | st.builds(ConnectionError)
    | st.builds(ValueError, st.just("secret"))
)
steps = st.builds(Step, replies, requested, errors)
scripts = st.lists(steps, max_size=14)
outcomes = st.lists(
    st.sampled_from([[PASSAGE], [], [LONG]]) | st.builds(TimeoutError) | st.builds(RuntimeError, st.just("secret")),
    min_size=1,
    max_size=6,
)
limits = st.builds(
    TurnOptions,
    max_turns=st.integers(1, 6),
    max_tool_calls=st.integers(0, 3),
    max_context_chars=st.sampled_from([3_000, 12_000]),
)


def standing(events: Sequence[Event]) -> str:
    """The text that a reader holds who follows the events: tokens, less what was voided."""
    texts: dict[str, str] = {}
    for event in events:
        if isinstance(event, Token):
            texts[event.text_id] = texts.get(event.text_id, "") + event.text
        elif isinstance(event, TextDiscarded):
            assert texts.pop(event.text_id), "only text that stands is voided"
    assert len(texts) <= 1
    return "".join(texts.values())


def assert_events_are_sound(world: AgentWorld, executed: int) -> None:
    """One start, first; every tool call has an id of its own and one end."""
    assert [isinstance(e, TurnStart) for e in world.events] == [True] + [False] * (len(world.events) - 1)
    started = [e.call_id for e in world.events if isinstance(e, ToolStart)]
    assert len(started) == len(set(started)) == executed
    for payload in world.model.payloads:
        assert not trim_messages(payload, 12_000).overflowed  # type: ignore[arg-type]


def assert_reason_fits_script(outcome: TurnOutcome, options: TurnOptions, world: AgentWorld) -> None:
    final, last = outcome.final_state, world.model.script[len(world.model.payloads) - 1]
    match final.exit_reason:
        case ExitReason.COMPLETED:
            assert last.error is None
            assert final.message == "".join(last.tokens)
        case ExitReason.MAX_TOOL_CALLS_REACHED:
            assert final.message == "".join(last.tokens)
            assert final.tool_calls == options.max_tool_calls
            assert world.model.tools_seen[-1] == []
        case ExitReason.MAX_TURNS_REACHED:
            assert final.cycles == options.max_turns
        case ExitReason.INVALID_TOOL_CALL:
            consumed = world.model.script[: len(world.model.payloads)]
            assert sum(any(call in INVALID for call in step.calls) for step in consumed) >= 2
        case ExitReason.RATE_LIMITED:
            assert isinstance(last.error, httpx.HTTPStatusError)
        case ExitReason.LLM_ERROR:
            assert isinstance(last.error, (ConnectionError, ValueError))
        case ExitReason.LLM_GENERATION_FAILURE:
            assert last.error is None
        case ExitReason.MAX_CONTEXT_REACHED:
            assert last.tokens or last.calls
        case _:
            raise AssertionError(final.exit_reason)


@settings(max_examples=60, deadline=None)
@given(scripts, outcomes, limits)
def test_a_turn_ends_once_and_in_agreement_with_its_events(
    script: list[Step], results: list[Sequence[Passage] | Exception], options: TurnOptions
) -> None:
    asyncio.run(_run_to_the_end(script, results, options))


async def _run_to_the_end(
    script: list[Step], results: list[Sequence[Passage] | Exception], options: TurnOptions
) -> None:
    world = agent_world(*script, *ENDING, tools=[Lookup(*results)])
    outcome = await world.run("Which law?", options=options)
    final = outcome.final_state
    semantics = EXIT_SEMANTICS[final.exit_reason]
    assert (final.retryable, final.display_message) == (semantics.retryable, semantics.display_message)
    assert_events_are_sound(world, final.tool_calls)
    assert sum(isinstance(e, ToolEnd) for e in world.events) == final.tool_calls
    assert final.usage.model_calls == len(world.model.payloads)
    assert options.max_turns is not None
    assert options.max_tool_calls is not None
    assert final.cycles <= options.max_turns
    assert final.tool_calls <= options.max_tool_calls
    answered = final.exit_reason in (ExitReason.COMPLETED, ExitReason.MAX_TOOL_CALLS_REACHED)
    assert final.message == (standing(world.events) if answered else semantics.message)
    assert standing(world.events) in ("", final.message)
    assert "secret" not in final.message + "".join(e.output + e.error for e in world.events if isinstance(e, ToolEnd))
    assert [m.content for m in outcome.new_messages[:1]] in ([], ["Which law?"])
    assert_reason_fits_script(outcome, options, world)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@settings(max_examples=60, deadline=None)
@given(scripts, outcomes, limits)
def test_a_question_asked_again_ends_once_too_and_what_was_answered_is_answered_alike(
    script: list[Step], results: list[Sequence[Passage] | Exception], options: TurnOptions
) -> None:
    asyncio.run(_ask_twice(script, results, options))


async def _ask_twice(script: list[Step], results: list[Sequence[Passage] | Exception], options: TurnOptions) -> None:
    world = agent_world(*script, *ENDING, tools=[Lookup(*results)], caches=memory_caches())
    calls_before = 0
    for _ in range(2):
        final = (await world.run("Which law?", options=options)).final_state
        assert_events_are_sound(world, final.tool_calls)
        assert final.usage.model_calls == len(world.model.payloads) - calls_before
        calls_before = len(world.model.payloads)
        assert final.cycles <= len(final.usage.calls)
        answered = final.exit_reason in (ExitReason.COMPLETED, ExitReason.MAX_TOOL_CALLS_REACHED)
        assert not final.from_cache or answered
        assert standing(world.events) in ("", final.message)
        if answered:
            assert standing(world.events) == ("" if final.from_cache else final.message)
        assert asyncio.all_tasks() == {asyncio.current_task()}


@settings(max_examples=40, deadline=None)
@given(scripts, outcomes, st.integers(0, 120))
def test_a_turn_that_is_cancelled_anywhere_leaves_no_text_and_no_task(
    script: list[Step], results: list[Sequence[Passage] | Exception], after: int
) -> None:
    asyncio.run(_cancel_after(script, results, after))


async def _cancel_after(script: list[Step], results: list[Sequence[Passage] | Exception], after: int) -> None:
    world = agent_world(*script, *ENDING, tools=[Lookup(*results)])
    turn = asyncio.create_task(world.run("Which law?"))
    for _ in range(after):
        await asyncio.sleep(0)
    turn.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await turn
    if turn.cancelled():
        assert standing(world.events) == ""
    assert asyncio.all_tasks() == {asyncio.current_task()}
