"""Turns that waited for a person over a restart, where servers of tools or the catalog are not what they were."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.agent.rebuilding import ItemChange
from proviso_service.context.catalog.catalog import AgentDefinition, Catalog
from proviso_service.context.catalog.items import Approval, McpServer, ToolPolicy
from proviso_service.context.model import ItemRef, ItemType, MatterContext
from proviso_service.mcp.model import McpServerConfig, ServerTool, StdioTransport, ToolOutput
from proviso_service.tools.base import Tool
from proviso_service.tools.external import McpTool
from proviso_service.turns import Decision, ExitCause, ExitReason, ToolEnd, TurnOutcome, TurnRequest
from tests.support.agent_world import (
    CALLER,
    FAST_TURNS,
    MATTER_ID,
    AgentWorld,
    Lookup,
    agent_world,
    items_of,
)
from tests.support.catalogs import an_item
from tests.support.request_world import request_world
from tests.support.scripted_model import Call, ScriptedChatModel, Step, calls, text

SCHEMA = {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]}
TIME = ServerTool("time", "get_time", "time__get_time", "Tells the time.", SCHEMA, SCHEMA)
CALL = Call("time__get_time", '{"zone": "CET"}')
NOON = text("It is noon in Central Europe.")
SORRY = text("I could not look that up.")
ONCE = dict.fromkeys(("get_time", "time__get_time"), Decision.APPROVE_ONCE)
"""By the server's name, which marks the tool, and by that which persons are told."""
RULE = an_item(ItemRef(ItemType.RULE, "Quoting"), content="Quote exactly.")
STYLE = an_item(ItemRef(ItemType.REFERENCE, "House style"), content="We write “the Tenant”.\nNever “lessee”.")
REQUEST = TurnRequest("What time is it?", MatterContext(MATTER_ID))


@dataclass
class TimeServer:
    """A ToolCaller that answers every call."""

    given: list[Mapping[str, Any]] = field(default_factory=list)

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        self.given.append(arguments)
        return ToolOutput("noon in Central Europe")


@dataclass
class Finder:
    """A ToolFinder. The tool of the time server, if any, is there when it is looked for the second time."""

    time: McpTool | None
    times: int = 0

    def find(self, ref: ItemRef) -> Tool | None:
        if ref.server_name != "time":
            return Lookup()
        self.times += 1
        return self.time if self.times > 1 else None


async def suspended(*script: Step) -> AgentWorld:
    """A turn that has been asked about its call."""
    world = agent_world(*script, tools=[Lookup(), McpTool(TIME, TimeServer())], decisions=ONCE)
    await world.run(REQUEST.message)
    return world


async def resumed(
    before: AgentWorld, *script: Step, time: McpTool | None = None, approval: Approval = Approval.REQUIRED
) -> tuple[AgentWorld, TurnOutcome]:
    """The turn in the next life of the service, where the time server has not listed its tools when it is taken up; its
    tool `time` is there when it is called, if at all."""
    world = agent_world(*script, finder=Finder(time))
    world.persons.decisions = ONCE
    server = McpServer(
        McpServerConfig("time", StdioTransport("time-server")), ToolPolicy(approval=approval), "definition"
    )
    agent = AgentDefinition("Test", "", mcp_servers=(server,))
    world.agent.dependencies.catalog.exchange(Catalog(agent, items_of([Lookup()]), ("time",)))
    state = before.persons.states[0]
    execution = await world.agent.resume(world.turn(REQUEST), state)
    return world, await execution.run()


def errors(world: AgentWorld) -> list[str]:
    return [event.error for event in world.events if isinstance(event, ToolEnd)]


async def test_a_tool_whose_server_comes_back_before_the_call_is_called() -> None:
    before, server = await suspended(calls(CALL), NOON), TimeServer()
    world, outcome = await resumed(before, NOON, time=McpTool(TIME, server))
    assert (server.given, errors(world)) == ([{"zone": "CET"}], [""])
    assert outcome.final_state.exit_reason is ExitReason.COMPLETED
    assert world.model.tools_seen == before.model.tools_seen[1:]


async def test_a_tool_whose_server_does_not_come_back_is_a_tool_error_and_the_turn_goes_on() -> None:
    world, outcome = await resumed(await suspended(calls(CALL), NOON), SORRY)
    (error,) = errors(world)
    assert error == "The tool 'get_time' is not available: its server 'time' does not list it."
    assert (outcome.final_state.exit_reason, outcome.final_state.message) == (ExitReason.COMPLETED, SORRY.tokens[0])


async def test_arguments_that_do_not_fit_the_tool_as_it_is_now_are_a_tool_error_and_not_sent() -> None:
    server = TimeServer()
    narrowed = ServerTool("time", "get_time", "time__get_time", "", {**SCHEMA, "required": ["city"]}, SCHEMA)
    world, outcome = await resumed(await suspended(calls(CALL), NOON), SORRY, time=McpTool(narrowed, server))
    (error,) = errors(world)
    assert "'city' is a required property" in error
    assert server.given == []
    assert outcome.final_state.exit_reason is ExitReason.COMPLETED


@pytest.mark.parametrize(("approval", "asked"), [(Approval.REQUIRED, 2), (Approval.NONE, 1)])
async def test_later_calls_of_a_tool_that_is_not_listed_yet_are_asked_about_where_it_is_marked(
    approval: Approval, asked: int
) -> None:
    before, server = await suspended(calls(CALL), NOON), TimeServer()
    world, _ = await resumed(before, calls(CALL), NOON, time=McpTool(TIME, server), approval=approval)
    assert len(world.persons.asked) == asked
    assert len(server.given) == 2


async def test_a_changed_catalog_changes_nothing_for_a_turn_that_waited_and_its_request_can_be_rebuilt(
    tmp_path: Path,
) -> None:
    decisions = {"lookup": Decision.DENY}
    async with request_world(tmp_path, [RULE, STYLE], decisions=decisions) as world:
        turn_id = "turn-1"
        await world.turns.begin(CALLER, turn_id, REQUEST, "", "test", 60)
        world.agent.model.script[0] = calls(Call("lookup", '{"query": "law"}'))
        whole = await world.agent.run(REQUEST.message)
        changed = [an_item(RULE.ref, content="Quote less."), an_item(STYLE.ref, content="We write “the lessee”.")]
        again = agent_world(text("It says “the Tenant” [House style]."), items=changed)
        again.persons.decisions = decisions
        state = world.agent.persons.states[0]
        execution = await again.agent.resume(again.turn(REQUEST, turn_id=turn_id), state)
        outcome = await execution.run()
        assert again.model.payloads[0] == world.agent.model.payloads[1]
        assert again.model.tools_seen[0] == world.agent.model.tools_seen[1]
        begun, ended = whole.final_state.request_context, outcome.final_state.request_context
        assert begun is not None
        assert ended is not None
        assert ended.payload_sha256 == begun.payload_sha256
        assert [item.ref for item in ended.items if item.cited] == [STYLE.ref]

        await world.turns.finish(CALLER, turn_id, "", 9, outcome, "test")
        rebuilt = await world.rebuilt(*changed, *items_of([Lookup()]), turn_id=turn_id)
        assert rebuilt.matches
        assert {difference.ref: difference.change for difference in rebuilt.differences} == {
            RULE.ref: ItemChange.CHANGED,
            STYLE.ref: ItemChange.CHANGED,
        }


async def test_a_turn_goes_on_with_its_model_also_where_another_one_is_the_default_by_now() -> None:
    before = agent_world(calls(Call("lookup", '{"query": "law"}')), SORRY, decisions={"lookup": Decision.DENY})
    await before.run(REQUEST.message)
    again, other = agent_world(SORRY), ScriptedChatModel(script=[])
    again.persons.decisions = before.persons.decisions
    models = ChatModels(NamedChatModel("other", other), NamedChatModel("scripted", again.model))
    again.agent.dependencies = replace(again.agent.dependencies, models=models)
    state = before.persons.states[0]
    execution = await again.agent.resume(again.turn(REQUEST), state)
    outcome = await execution.run()
    assert [call.model for call in outcome.final_state.usage.calls] == ["scripted", "scripted"]
    assert outcome.final_state.message == SORRY.tokens[0]


async def test_a_limit_that_is_lower_by_now_lets_no_more_calls_through() -> None:
    lookup = Call("lookup", '{"query": "law"}')
    tools: list[Tool] = [Lookup(), McpTool(TIME, TimeServer())]
    before = agent_world(calls(lookup, lookup), calls(*[CALL] * 3), SORRY, tools=tools, decisions=ONCE)
    await before.run(REQUEST.message)
    again = agent_world(
        text("It says “governed by the laws of Ohio” [1]."),
        tools=tools,
        turns=FAST_TURNS.model_copy(update={"max_tool_calls": 1}),
    )
    again.persons.decisions = ONCE
    state = before.persons.states[0]
    execution = await again.agent.resume(again.turn(REQUEST), state)
    final = (await execution.run()).final_state
    assert (final.exit_reason, final.tool_calls) == (ExitReason.MAX_TOOL_CALLS_REACHED, 2)
    assert errors(again) == []


async def test_a_turn_that_is_ended_while_it_waits_after_a_restart_can_be_rebuilt(tmp_path: Path) -> None:
    async with request_world(tmp_path, [RULE, STYLE], decisions={"lookup": Decision.DENY}) as world:
        await world.turns.begin(CALLER, "turn-1", REQUEST, "", "test", 60)
        world.agent.model.script[0] = calls(Call("lookup", '{"query": "law"}'))
        await world.agent.run(REQUEST.message)
        again = agent_world()
        state = world.agent.persons.states[0]
        execution = await again.agent.resume(again.turn(REQUEST), state)
        outcome = execution.interrupted(ExitReason.CANCELLED, ExitCause.CANCELLED_BY_CALLER)
        await world.turns.finish(CALLER, "turn-1", "", 9, outcome, "test")
        assert (await world.rebuilt(turn_id="turn-1")).matches
