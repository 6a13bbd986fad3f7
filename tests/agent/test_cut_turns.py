"""Turns of the agent that were cut by the end of their process, and go on from their last checkpoint."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from proviso_service.agent.tools_node import OUTCOME_UNKNOWN
from proviso_service.context.model import MatterContext
from proviso_service.mcp.model import ServerTool, ToolOutput
from proviso_service.tools.external import McpTool
from proviso_service.turns import (
    Event,
    ExitReason,
    TextDiscarded,
    Token,
    ToolEnd,
    ToolStart,
    TurnOutcome,
    TurnRequest,
    TurnStart,
)
from tests.support.agent_world import MATTER_ID, AgentWorld, Lookup, agent_world
from tests.support.scripted_model import Call, Step, calls, text

REQUEST = TurnRequest("Which law governs it?", MatterContext(MATTER_ID))
LOOKUP = Call("lookup", '{"query": "law"}')
NOTE = Call("notes__note", "{}")
ANSWER = text("It says “governed by the laws of Ohio” [1].")
SORRY = text("I could not tell.")


@dataclass
class Notes:
    """A ToolCaller that writes down its calls, and answers while it is `there`."""

    made: list[str] = field(default_factory=list)
    there: bool = True

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        self.made.append(tool)
        if not self.there:
            await asyncio.Event().wait()
        return ToolOutput("noted")


def note(caller: Notes, *, is_repeatable: bool = False) -> McpTool:
    schema = {"type": "object"}
    return McpTool(ServerTool("notes", "note", "notes__note", "Notes it.", schema, schema, is_repeatable), caller)


async def gone_on(world: AgentWorld, state: str, *, was_cut: bool = True) -> TurnOutcome:
    execution = await world.agent.resume(world.turn(REQUEST, was_cut=was_cut), state)
    return await execution.run()


def kinds(events: list[Event]) -> list[type]:
    return [type(event) for event in events if not isinstance(event, Token)]


async def test_a_turn_without_tools_has_no_checkpoint() -> None:
    world = agent_world(SORRY)
    await world.run(REQUEST.message)
    assert world.checkpoints == []


async def test_a_turn_that_begins_anew_voids_what_its_readers_may_have_and_writes_under_another_id() -> None:
    world = agent_world(SORRY)
    execution = world.agent.start(world.turn(REQUEST, was_cut=True))
    outcome = await execution.run()
    assert outcome.final_state.exit_reason is ExitReason.COMPLETED
    assert isinstance(world.events[0], TurnStart)
    voided = [event.text_id for event in world.events if isinstance(event, TextDiscarded)]
    assert voided == ["text-1", "text-2", "text-3"], "one for each attempt that a model call may have had"
    assert {event.text_id for event in world.events if isinstance(event, Token)} == {"text-4"}


async def test_a_turn_that_is_cut_twice_in_one_model_call_voids_the_texts_of_both_processes() -> None:
    second = agent_world(SORRY)
    await second.agent.start(second.turn(REQUEST, was_cut=True)).run()
    (state, events), third = second.checkpoints[0], agent_world(SORRY)
    assert kinds(list(events)) == [TurnStart, *[TextDiscarded] * 3]
    outcome = await gone_on(third, state)
    assert outcome.final_state.exit_reason is ExitReason.COMPLETED
    voided = [event.text_id for event in third.events if isinstance(event, TextDiscarded)]
    assert voided == ["text-4", "text-5", "text-6"]
    assert {event.text_id for event in third.events if isinstance(event, Token)} == {"text-7"}


async def test_calls_are_stored_before_they_are_made_and_after_they_have_ended() -> None:
    world = agent_world(calls(LOOKUP), ANSWER)
    await world.run(REQUEST.message)
    assert [kinds(list(events)) for _, events in world.checkpoints] == [
        [TurnStart, ToolStart],
        [TurnStart, ToolStart, ToolEnd],
    ]


async def test_an_own_tool_that_was_under_way_runs_again_without_a_second_start() -> None:
    before = agent_world(calls(LOOKUP), ANSWER)
    whole = await before.run(REQUEST.message)
    lookup = Lookup()
    world = agent_world(ANSWER, tools=[lookup])
    outcome = await gone_on(world, before.checkpoints[0][0])
    assert len(lookup.args_seen) == 1
    assert ToolStart not in kinds(world.events)
    assert outcome.final_state.message == whole.final_state.message
    assert outcome.final_state.tool_calls == 1
    assert [record.error for record in outcome.final_state.tool_call_records] == [""]
    assert world.model.payloads[0] == before.model.payloads[1]


async def test_tools_that_have_ended_are_not_run_again() -> None:
    before = agent_world(calls(LOOKUP), ANSWER)
    whole = await before.run(REQUEST.message)
    lookup = Lookup()
    world = agent_world(ANSWER, tools=[lookup])
    outcome = await gone_on(world, before.checkpoints[1][0])
    assert lookup.args_seen == []
    assert outcome.final_state.message == whole.final_state.message
    assert world.model.payloads[0] == before.model.payloads[1]


@pytest.mark.parametrize("is_repeatable", [True, False])
async def test_a_call_of_another_server_is_made_again_only_where_that_does_no_harm(is_repeatable: bool) -> None:
    before = agent_world(calls(NOTE), SORRY, tools=[note(Notes(), is_repeatable=is_repeatable)])
    await before.run(REQUEST.message)
    notes = Notes()
    world = agent_world(SORRY, tools=[note(notes, is_repeatable=is_repeatable)])
    outcome = await gone_on(world, before.checkpoints[0][0])
    (end,) = [event for event in world.events if isinstance(event, ToolEnd)]
    (record,) = outcome.final_state.tool_call_records
    assert (notes.made, end.error) == ((["note"], "") if is_repeatable else ([], OUTCOME_UNKNOWN))
    assert record.error == end.error
    told = str(world.model.payloads[0][-1].content)
    assert (OUTCOME_UNKNOWN in told) is not is_repeatable


async def test_the_result_of_a_call_that_may_not_be_repeated_is_stored_while_others_still_run() -> None:
    slow, quick = Notes(there=False), Notes()
    schema = {"type": "object"}
    other = McpTool(ServerTool("slow", "wait", "slow__wait", "Waits.", schema, schema), slow)
    before = agent_world(calls(Call("slow__wait", "{}"), NOTE), SORRY, tools=[other, note(quick)])
    running = asyncio.create_task(before.run(REQUEST.message))
    await before.until_stored(2)
    running.cancel()
    await asyncio.wait([running])
    again = Notes()
    world = agent_world(SORRY, tools=[other, note(again)])
    outcome = await gone_on(world, before.checkpoints[1][0])
    assert (slow.made, again.made) == (["wait"], [])
    assert [record.error for record in outcome.final_state.tool_call_records] == [OUTCOME_UNKNOWN, ""]


async def test_a_reply_that_was_refused_is_not_asked_for_again() -> None:
    invented = text("The fee is USD 99,999 [1].")
    before = agent_world(calls(LOOKUP), invented, ANSWER)
    whole = await before.run(REQUEST.message)
    world = agent_world(ANSWER)
    outcome = await gone_on(world, before.checkpoints[-1][0])
    assert len(before.checkpoints) == 3
    assert world.model.payloads[0] == before.model.payloads[2]
    assert outcome.final_state.message == whole.final_state.message


async def test_the_tokens_that_were_paid_for_are_counted_over_the_cut() -> None:
    before = agent_world(calls(LOOKUP), ANSWER)
    whole = await before.run(REQUEST.message)
    outcome = await gone_on(agent_world(ANSWER), before.checkpoints[1][0])
    assert outcome.final_state.usage.input_tokens == whole.final_state.usage.input_tokens


async def test_a_script_that_is_cut_anywhere_ends_as_it_would_have() -> None:
    script: tuple[Step, ...] = (calls(LOOKUP), calls(LOOKUP, LOOKUP), ANSWER)
    before = agent_world(*script)
    whole = (await before.run(REQUEST.message)).final_state
    for state, events in before.checkpoints:
        replies = len({event.call_id for event in events if isinstance(event, ToolStart)})
        world = agent_world(*(script[1:] if replies == 1 else script[2:]))
        final = (await gone_on(world, state)).final_state
        assert (final.message, final.tool_calls, final.cycles) == (whole.message, whole.tool_calls, whole.cycles)
        assert [record.error for record in final.tool_call_records] == ["", "", ""]
