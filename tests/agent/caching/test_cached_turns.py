"""Turns that find what earlier turns have kept in the caches."""

import asyncio
from dataclasses import replace

import pytest

from proviso_service.turns import (
    Citation,
    Event,
    ExitCause,
    ExitReason,
    FinalState,
    Token,
    ToolEnd,
    ToolStart,
    TurnStart,
)
from tests.agent.caching.cached_world import (
    CONVERSATION,
    GROUNDED,
    LOOKUP,
    QUESTION,
    asked,
    cached_world,
    of_kind,
    twice,
)
from tests.support.agent_world import PASSAGE, Lookup
from tests.support.scripted_model import Call, Step, calls, text


def alike(final: FinalState) -> FinalState:
    """Without what the time and the cache make different."""
    assert final.request_context is not None
    plain = replace(final.request_context, timestamp=final.request_context.timestamp.min)
    messages = tuple(replace(m, request_context=None) for m in final.messages)
    assert len(final.tool_call_records) == final.tool_calls
    return replace(
        final,
        request_context=plain,
        messages=messages,
        usage=type(final.usage)(),
        duration_s=None,
        from_cache=False,
        tool_call_records=(),
    )


async def test_a_repeated_question_calls_no_model_and_no_retrieval_and_ends_alike() -> None:
    lookup = Lookup()
    world = cached_world(*CONVERSATION, tools=[lookup])
    first, second = await twice(world)
    assert (len(world.model.payloads), len(lookup.scopes)) == (2, 1)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert alike(first) == alike(second)
    assert (second.message, second.cycles, second.tool_calls) == (GROUNDED, 2, 1)


async def test_a_hit_sends_no_tokens_but_its_tools_and_citations() -> None:
    world = cached_world(*CONVERSATION)
    await world.run(QUESTION)
    before = [event for event in world.events if not isinstance(event, Token)]
    second = (await world.run(QUESTION)).final_state
    assert [type(e) for e in world.events] == [TurnStart, ToolStart, ToolEnd, Citation]
    assert world.events[-1] == before[-1] == second.citations[0]
    (end,) = [e for e in world.events if isinstance(e, ToolEnd)]
    assert end.from_cache
    assert replace(end, from_cache=False, duration_s=0) == replace(of_kind(before, ToolEnd)[0], duration_s=0)


async def test_usage_tells_calls_from_hits() -> None:
    first, second = await twice(cached_world(*CONVERSATION))
    usage = first.usage
    assert (usage.input_tokens, usage.output_tokens, usage.model_calls) == (20, 2, 2)
    assert [(c.model, c.input_tokens, c.from_cache, c.failed) for c in usage.calls] == [
        ("scripted", 10, False, False)
    ] * 2
    assert all(call.duration_s > 0 for call in usage.calls)
    usage = second.usage
    assert (usage.input_tokens, usage.output_tokens, usage.model_calls) == (0, 0, 0)
    assert [(c.model, c.input_tokens, c.duration_s, c.from_cache) for c in usage.calls] == [
        ("scripted", 0, 0, True)
    ] * 2


async def test_the_fill_of_the_context_is_told_in_tokens_also_on_a_hit() -> None:
    world = cached_world(*CONVERSATION)
    for final in await twice(world):
        (start,) = of_kind(world.events, TurnStart)
        assert start.request_context.fill.tokens_used is None
        assert final.request_context is not None
        assert final.request_context.fill.tokens_used == 10
        assert final.messages[-1].request_context == final.request_context


async def test_a_cancelled_call_is_accounted_for() -> None:
    world = cached_world(Step(["Good "], hold_after=asyncio.Event()))
    execution = world.agent.start(world.turn(asked()))
    running = asyncio.create_task(execution.run())
    await world.model.held.wait()
    running.cancel()
    await asyncio.wait([running])
    usage = execution.interrupted(ExitReason.CANCELLED, ExitCause.CANCELLED_BY_CALLER).final_state.usage
    assert [(call.failed, call.from_cache, call.duration_s > 0) for call in usage.calls] == [(True, False, True)]


async def test_a_retried_call_is_two_calls_of_which_one_failed() -> None:
    world = cached_world(Step(["Good "], error=ConnectionError("cut")), text("Good day."))
    usage = (await world.run(QUESTION)).final_state.usage
    assert [call.failed for call in usage.calls] == [True, False]
    assert usage.model_calls == 2


async def test_the_same_retrieval_twice_in_one_message_runs_once_and_counts_twice() -> None:
    lookup = Lookup()
    world = cached_world(calls(LOOKUP, LOOKUP), text(GROUNDED), tools=[lookup])
    final = (await world.run(QUESTION)).final_state
    assert (final.tool_calls, len(lookup.scopes)) == (2, 1)
    assert [end.from_cache for end in of_kind(world.events, ToolEnd)] == [False, True]
    assert final.message == GROUNDED


@pytest.mark.parametrize("other", ['{"query": "fees"}', '{"query": "law", "limit": 4}'])
async def test_other_arguments_are_another_retrieval(other: str) -> None:
    world = cached_world(calls(LOOKUP, Call("lookup", other)), text(GROUNDED))
    await world.run(QUESTION)
    assert [end.from_cache for end in of_kind(world.events, ToolEnd)] == [False, False]


async def test_arguments_that_mean_the_same_are_the_same_retrieval() -> None:
    world = cached_world(calls(LOOKUP, Call("lookup", '{"limit": 5, "query": "law"}')), text(GROUNDED))
    await world.run(QUESTION)
    assert [end.from_cache for end in of_kind(world.events, ToolEnd)] == [False, True]


async def test_ten_identical_turns_at_once_make_one_model_call_of_each_kind() -> None:
    hold, lookup = asyncio.Event(), Lookup()
    world = cached_world(replace(CONVERSATION[0], hold_after=hold), CONVERSATION[1], tools=[lookup])
    seen: list[list[Event]] = [[] for _ in range(10)]
    executions = [world.agent.start(replace(world.turn(asked(), f"turn-{i}"), emit=seen[i].append)) for i in range(10)]
    turns = [asyncio.create_task(execution.run()) for execution in executions]
    await world.model.held.wait()
    hold.set()
    finals = [outcome.final_state for outcome in await asyncio.gather(*turns)]
    assert (len(world.model.payloads), len(lookup.scopes)) == (2, 1)
    assert [final.message for final in finals] == [GROUNDED] * 10
    assert sum(final.usage.model_calls for final in finals) == 2
    assert [bool(of_kind(events, Token)) for events in seen].count(True) == 1


async def test_a_question_with_ids_that_a_provider_counts_anew_keeps_its_calls_apart() -> None:
    """A reply from the cache holds "call-1"; the model, asked anew in the next cycle, gives the same id."""
    first, second = Call("lookup", '{"query": "law"}', "call-1"), Call("lookup", '{"query": "fees"}', "call-1")
    lookup = Lookup(RuntimeError("for the moment"), [PASSAGE])
    world = cached_world(calls(first), text("Good day."), calls(second), text(GROUNDED), tools=[lookup])
    await world.run(QUESTION)
    final = (await world.run(QUESTION)).final_state
    ids = [event.call_id for event in of_kind(world.events, ToolStart)]
    assert len(ids) == len(set(ids)) == final.tool_calls == 2


async def test_what_becomes_of_a_reply_in_its_turn_does_not_change_what_is_kept() -> None:
    world = cached_world(*CONVERSATION)
    await world.run(QUESTION)
    world.model.payloads[1][-2].tool_calls[0]["args"]["query"] = "changed"  # type: ignore[attr-defined]
    final = (await world.run(QUESTION)).final_state
    assert (final.from_cache, final.message) == (True, GROUNDED)


async def test_a_turn_whose_end_could_not_be_stored_did_not_end_with_the_cached_answer() -> None:
    world = cached_world(text("Good day."))
    await world.run(QUESTION)
    execution = world.agent.start(world.turn(asked(), turn_id="turn-2"))
    assert (await execution.run()).final_state.from_cache
    assert not execution.interrupted(ExitReason.INTERNAL_ERROR).final_state.from_cache


async def test_the_time_of_a_turn_is_told() -> None:
    final = (await cached_world(text("Good day.")).run(QUESTION)).final_state
    assert final.duration_s is not None
    assert final.duration_s >= final.usage.calls[0].duration_s > 0
