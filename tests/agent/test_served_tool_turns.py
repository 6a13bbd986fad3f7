"""Turns whose model calls the tools of a real server."""

import json

from langchain_core.messages import AIMessage, ToolCall

from proviso_service.agent.tool_calls import InvalidCall, read_calls
from proviso_service.mcp.connecting import connect
from proviso_service.mcp.model import ServerTool
from proviso_service.mcp.servers import McpServers
from proviso_service.tools.base import Tool
from proviso_service.tools.external import McpTool
from proviso_service.tools.registry import ToolRegistry
from proviso_service.turns import ExitReason, ToolEnd, ToolStart
from tests.support.agent_world import Lookup, agent_world
from tests.support.mcp_world import listed_by, odd, running
from tests.support.scripted_model import Call, calls, text


def _tools(servers: McpServers) -> list[Tool]:
    return [Lookup(), *(McpTool(tool, servers) for tool in listed_by(servers))]


async def test_what_a_servers_tool_says_grounds_an_answer_without_being_a_retrieval() -> None:
    async with running(odd()) as servers:
        call = Call("odd__echo", json.dumps({"text": "closed on Fridays"}))
        world = agent_world(calls(call), text("The registry is closed on Fridays."), tools=_tools(servers))
        outcome = await world.run("When is the registry closed?")

    assert outcome.final_state.exit_reason is ExitReason.COMPLETED
    assert outcome.final_state.message == "The registry is closed on Fridays."
    (start,) = [event for event in world.events if isinstance(event, ToolStart)]
    (end,) = [event for event in world.events if isinstance(event, ToolEnd)]
    assert (start.tool, start.server_name) == ("odd__echo", "odd")
    assert json.loads(start.input_json) == {"text": "closed on Fridays"}
    assert json.loads(end.output)["server"] == "odd"
    (record,) = outcome.final_state.tool_call_records
    assert (record.server_name, record.tool) == ("odd", "echo")


async def test_a_server_that_dies_in_a_call_is_a_tool_error_and_the_turn_goes_on() -> None:
    async with running(odd()) as servers:
        world = agent_world(
            calls(Call("odd__die")), calls(Call("lookup", '{"query": "law"}')), text("Ohio [1]."), tools=_tools(servers)
        )
        outcome = await world.run("Which law governs?")

    assert outcome.final_state.exit_reason is ExitReason.COMPLETED
    died, _found = [event for event in world.events if isinstance(event, ToolEnd)]
    assert died.error == "The server 'odd' was ended by signal 9 before it had answered."
    assert [event.tool for event in world.events if isinstance(event, ToolStart)] == ["odd__die", "lookup"]


async def test_arguments_off_the_servers_schema_are_told_to_the_model_and_not_sent() -> None:
    async with running(odd()) as servers:
        world = agent_world(
            calls(Call("odd__echo", '{"text": 7}')),
            calls(Call("odd__echo", '{"text": "seven"}')),
            text("Is there anything else?"),
            tools=_tools(servers),
        )
        outcome = await world.run("What does it say?")

    assert outcome.final_state.exit_reason is ExitReason.COMPLETED
    (start,) = [event for event in world.events if isinstance(event, ToolStart)]
    assert json.loads(start.input_json) == {"text": "seven"}


def test_what_is_said_of_an_unknown_tool_stays_short_among_very_many_tools() -> None:
    servers = McpServers(connect)
    tools = [
        McpTool(ServerTool("odd", f"t{number}", f"odd__t{number}", "", {"type": "object"}, {"type": "object"}), servers)
        for number in range(4_000)
    ]
    message = AIMessage("", tool_calls=[ToolCall(name="odd__no", args={}, id="1")])
    [call] = read_calls(message, ToolRegistry(tools))
    assert isinstance(call, InvalidCall)
    assert call.problem.startswith("There is no such tool. The tools are: odd__t0, odd__t1, ")
    assert len(call.problem) <= 1_000
