"""What is never kept: replies that were not accepted, turns that fail, results that are not whole."""

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import pytest

from proviso_service.turns import ExitReason, ToolEnd, TurnOptions
from tests.agent.caching.cached_world import GROUNDED, LOOKUP, QUESTION, cached_world, of_kind, twice
from tests.support.agent_world import PASSAGE, Found, Lookup
from tests.support.memory_caches import memory_caches
from tests.support.scripted_model import Call, Step, calls, text


async def test_with_the_cache_disabled_a_turn_neither_reads_nor_writes() -> None:
    off = TurnOptions(disable_cache=True)
    caches = memory_caches()
    world = cached_world(text("Hello, one."), text("Hello, two."), text("Hello, three."), caches=caches)
    answers = [(await world.run(QUESTION, options=options)).final_state for options in (off, TurnOptions(), off)]
    assert [(a.message, a.from_cache) for a in answers] == [
        ("Hello, one.", False),
        ("Hello, two.", False),
        ("Hello, three.", False),
    ]
    assert (caches.replies.hits, caches.replies.misses) == (0, 1)


REFUSED = httpx.HTTPStatusError("no", request=httpx.Request("POST", "http://m/"), response=httpx.Response(400))


@pytest.mark.parametrize(
    ("rejected", "answer"),
    [
        (text("The cap is 5,000."), "Good day."),
        (calls(Call("no_such_tool", call_id="a")), "Good day."),
        (calls(Call("lookup", "{}", "a")), "Good day."),
        (calls(Call("lookup", "query=law", "a")), "Good day."),
        (calls(replace(LOOKUP, call_id="a"), Call("lookup", "{}", "b")), GROUNDED),
    ],
    ids=["ungrounded", "unknown tool", "bad arguments", "not JSON", "one bad of two"],
)
async def test_a_reply_that_was_not_accepted_is_asked_for_again(rejected: Step, answer: str) -> None:
    """And the accepted one after it is not."""
    world = cached_world(rejected, text(answer), rejected)
    first, second = await twice(world)
    assert first.message == second.message == answer
    assert [call.from_cache for call in second.usage.calls] == [False, True]


@pytest.mark.parametrize("broken", [Step(), Step(["Good "], error=ConnectionError("cut"))], ids=["empty", "cut"])
async def test_what_came_in_place_of_a_broken_reply_is_kept(broken: Step) -> None:
    first, second = await twice(cached_world(broken, text("Good day.")))
    assert (first.from_cache, second.from_cache) == (False, True)
    assert first.message == second.message == "Good day."


@pytest.mark.parametrize(
    "ending",
    [[Step(), Step()], [text("The cap is 5,000.")] * 2, [Step(error=REFUSED)]],
    ids=["empty twice", "ungrounded twice", "refused"],
)
async def test_a_turn_that_fails_leaves_nothing_behind(ending: list[Step]) -> None:
    world = cached_world(*ending, text("Good day."))
    assert (await world.run(QUESTION)).final_state.exit_reason is not ExitReason.COMPLETED
    final = (await world.run(QUESTION)).final_state
    assert (final.message, final.from_cache) == ("Good day.", False)


async def test_a_turn_that_is_cancelled_in_the_stream_leaves_nothing_behind() -> None:
    world = cached_world(Step(["Good "], hold_after=asyncio.Event()), text("Good day."))
    running = asyncio.create_task(world.run(QUESTION))
    await world.model.held.wait()
    running.cancel()
    await asyncio.wait([running])
    final = (await world.run(QUESTION)).final_state
    assert (final.message, final.from_cache) == ("Good day.", False)


async def test_a_retrieval_that_finds_nothing_is_made_again() -> None:
    lookup = Lookup([], [PASSAGE])
    world = cached_world(calls(LOOKUP), calls(LOOKUP), text(GROUNDED), tools=[lookup])
    assert (await world.run(QUESTION)).final_state.exit_reason is ExitReason.COMPLETED
    assert [end.from_cache for end in of_kind(world.events, ToolEnd)] == [False, False]


class PartialLookup(Lookup):
    """One that could not look everywhere."""

    async def run(self, scope: Any, args: Any) -> Any:
        found = await super().run(scope, args)
        return PartlyFound(found.passages)


class PartlyFound(Found):
    @property
    def partial(self) -> bool:
        return True


class Listing(Lookup):
    is_retrieval = False


@pytest.mark.parametrize(
    "tool",
    [PartialLookup(), Listing(), Lookup(RuntimeError("no"))],
    ids=["partial", "no retrieval", "failed"],
)
async def test_these_results_are_never_kept(tool: Lookup) -> None:
    world = cached_world(calls(LOOKUP), calls(LOOKUP), text("Good day."), tools=[tool])
    await world.run(QUESTION)
    assert [end.from_cache for end in of_kind(world.events, ToolEnd)] == [False, False]
    assert len(tool.scopes) == 2
