"""Behavioural contract, section 5: state and turns."""

import asyncio
from typing import get_type_hints

import pytest

from proviso_client.v1 import chat_pb2
from proviso_service.agent.state import AgentState
from proviso_service.turns import ExitReason, TurnConfig
from tests.support.agent_world import agent_world
from tests.support.contract_world import GROUNDED, LIST, SEARCH, SIX_STEPS, ContractWorld, Mode, held_for_ever
from tests.support.scripted_model import Step, calls, text

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_5_1_the_state_is_messages_turns_tool_calls_and_exit_reason() -> None:
    assert list(get_type_hints(AgentState)) == ["messages", "turns", "tool_calls", "exit_reason"]


async def test_5_2_the_graph_goes_between_the_model_and_the_tools() -> None:
    # As it is built: the compiled one begins at its first node, which its drawing cannot.
    graph = agent_world().agent.graph.builder.compile().get_graph()
    assert set(graph.nodes) == {"__start__", "llm", "tools", "__end__"}
    ways = {(edge.source, edge.target) for edge in graph.edges}
    assert ("__start__", "llm") in ways
    assert {target for source, target in ways if source == "tools"} == {"llm", "__end__"}


async def test_5_3_a_seventh_model_call_is_not_made(world: ContractWorld, mode: Mode) -> None:
    assert TurnConfig().max_turns == 6
    turn = await world.ask(*SIX_STEPS, mode=mode)
    assert (turn.reason, turn.final.cycles, turn.final.usage.model_calls) == (ExitReason.MAX_TURNS_REACHED, 6, 6)


async def test_5_4_a_fourth_tool_call_is_not_made(world: ContractWorld, mode: Mode) -> None:
    assert TurnConfig().max_tool_calls == 3
    turn = await world.ask(calls(LIST, SEARCH), calls(LIST, LIST), text(GROUNDED), mode=mode)
    assert turn.reason is ExitReason.MAX_TOOL_CALLS_REACHED
    assert turn.final.tool_calls == len(turn.of_kind("tool_start")) == 3


async def test_5_5_every_step_is_a_model_call_or_runs_tools(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(LIST, SEARCH), Step(), calls(SEARCH), text(GROUNDED), mode=mode)
    assert (turn.final.cycles, turn.final.usage.model_calls, turn.final.tool_calls) == (4, 4, 3)


async def test_5_6_the_loop_goes_on_with_tool_calls_and_ends_with_text(world: ContractWorld, mode: Mode) -> None:
    for rounds in range(4):
        turn = await world.ask(*[calls(SEARCH)] * rounds, text(GROUNDED if rounds else "Which one?"), mode=mode)
        assert (turn.reason, turn.final.tool_calls, turn.final.cycles) == (ExitReason.COMPLETED, rounds, rounds + 1)


async def test_5_7_a_turn_ends_in_one_exit_reason_whoever_asks(world: ContractWorld, mode: Mode) -> None:
    turn = await world.ask(calls(SEARCH), text(GROUNDED), mode=mode)
    assert turn.kinds.count("final_state") == 1
    kept = await world.other.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=turn.turn_id))
    assert kept.final_state == turn.final


async def test_5_8_nothing_of_an_end_is_seen_before_it(world: ContractWorld) -> None:
    world.play(held_for_ever())
    running = world.service.chat.Chat(world.request())
    started = await anext(aiter(running))
    state = await world.other.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=started.turn_id))
    assert state.state == chat_pb2.TURN_STATE_RUNNING
    assert not state.HasField("final_state")
    cancel = chat_pb2.CancelTurnRequest(turn_id=started.turn_id)
    await asyncio.gather(*[world.service.chat.CancelTurn(cancel) for _ in range(3)])
    assert [e.WhichOneof("event") async for e in running] == ["final_state"]
