"""Wherever in its work a turn is cancelled, it leaves no text that stands and no task."""

import asyncio
import contextlib
from collections.abc import Sequence

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.tools.base import SourcePassage
from proviso_service.turns import NOT_ENOUGH_INFORMATION, Event, TextDiscarded, Token
from tests.support.agent_world import PASSAGE, Lookup, agent_world
from tests.support.memory_caches import memory_caches
from tests.support.scripted_model import Call, Step, text

VALID = Call("lookup", '{"query": "law"}')
INVALID = Call("no_such_tool")
ENDING = [text("Good day.")] * 40


def rate_limit() -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError("no", request=httpx.Request("POST", "http://m/"), response=httpx.Response(429))


replies = st.sampled_from(
    [
        (),
        ("It says “governed by the laws ", "of Ohio” [1]."),
        ("The cap is 5,000.",),
        (NOT_ENOUGH_INFORMATION, "\n"),
    ]
)
requested = st.lists(st.sampled_from([VALID, VALID, INVALID]), max_size=5)
# Made anew for every example: an exception keeps the tracebacks of all its raisings.
errors = st.none() | st.none() | st.builds(rate_limit) | st.builds(ConnectionError) | st.builds(ValueError)
scripts = st.lists(st.builds(Step, replies, requested, errors), max_size=14)
outcomes = st.lists(
    st.sampled_from([[PASSAGE], []]) | st.builds(TimeoutError) | st.builds(RuntimeError), min_size=1, max_size=6
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


@settings(max_examples=60, deadline=None)
@given(scripts, outcomes, st.integers(0, 120))
def test_a_turn_that_is_cancelled_anywhere_leaves_no_text_and_no_task(
    script: list[Step], results: list[Sequence[SourcePassage] | Exception], after: int
) -> None:
    asyncio.run(_cancel_after(script, results, after))


async def _cancel_after(script: list[Step], results: list[Sequence[SourcePassage] | Exception], after: int) -> None:
    """At any step of the event loop, and with caches, which the turn leaves in order."""
    caches = memory_caches()
    world = agent_world(*script, *ENDING, tools=[Lookup(*results)], caches=caches)
    turn = asyncio.create_task(world.run("Which law?"))
    for _ in range(after):
        await asyncio.sleep(0)
    turn.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await turn
    if turn.cancelled():
        assert standing(world.events) == ""
    assert (caches.replies.in_progress, caches.results.in_progress) == (0, 0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
