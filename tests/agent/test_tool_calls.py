"""What is kept of the tool calls of a turn, and of the turn itself."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from proviso_service.agent.tool_calls import MAX_INPUT_CHARS, called_tools, finished_records
from proviso_service.context.model import ItemRef, ItemType, MatterContext
from proviso_service.tools.base import ToolScope
from proviso_service.turns import CALL_UNFINISHED, ExitReason, MessageRole, ToolCallRecord, TurnRequest
from tests.support.agent_world import (
    LOOKUP,
    MATTER_ID,
    PASSAGE,
    Found,
    Lookup,
    LookupArgs,
    agent_world,
)
from tests.support.memory_caches import memory_caches
from tests.support.scripted_model import Call, Step, calls, text

ASK = Call("lookup", '{"query": "law"}')
GROUNDED = "It says “governed by the laws of Ohio” [1]."


class Stuck(Lookup):
    """Begins and does not end."""

    def __init__(self) -> None:
        super().__init__()
        self.running = asyncio.Event()

    async def run(self, scope: ToolScope, args: LookupArgs) -> Found:
        self.running.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")


async def test_each_call_is_recorded_with_its_time_and_what_came_of_it() -> None:
    world = agent_world(calls(ASK, Call("lookup", '{"query": "fees"}')), text(GROUNDED), tools=[Lookup([PASSAGE])])
    before = datetime.now(UTC)
    final = (await world.run("Which law?")).final_state
    first, second = final.tool_call_records
    assert (first.tool, first.server_name, first.error, first.decision) == ("lookup", "proviso", "", None)
    assert [record.input_json for record in (first, second)] == ['{"query":"law"}', '{"query":"fees"}']
    assert first.call_id != second.call_id
    assert before <= first.start_time <= second.start_time <= datetime.now(UTC)
    assert all(record.duration_s >= 0 and not record.from_cache for record in (first, second))


async def test_the_message_that_ended_the_turn_keeps_its_summary() -> None:
    world = agent_world(calls(ASK), text(GROUNDED))
    outcome = await world.run("Which law?")
    question, answer = outcome.new_messages
    assert question.turn is None
    assert answer.turn is not None
    assert (answer.turn.exit_reason, answer.turn.model) == (ExitReason.COMPLETED, "scripted")
    assert answer.turn.tool_calls == outcome.final_state.tool_call_records
    assert answer.turn.usage == outcome.final_state.usage
    assert answer.turn.duration_s == outcome.final_state.duration_s
    assert all(message.turn is None for message in outcome.final_state.messages)


async def test_the_error_message_of_a_failed_turn_keeps_the_summary() -> None:
    world = agent_world(calls(ASK), Step(error=ValueError("broken")))
    outcome = await world.run("Which law?")
    failure = outcome.new_messages[-1]
    assert failure.role is MessageRole.ERROR
    assert failure.turn is not None
    assert failure.turn.exit_reason is ExitReason.LLM_ERROR
    assert [record.tool for record in failure.turn.tool_calls] == ["lookup"]


async def test_a_failed_call_is_recorded_with_its_error() -> None:
    world = agent_world(calls(ASK), text("I found nothing."), tools=[Lookup(ValueError("secret detail"))])
    (record,) = (await world.run("Which law?")).final_state.tool_call_records
    assert record.error == "The tool failed. Answer without it, or try another one."


async def test_a_result_from_the_cache_is_recorded_as_such() -> None:
    world = agent_world(calls(ASK), text(GROUNDED), calls(ASK), text(GROUNDED), caches=memory_caches())
    await world.run("Which law?")
    (record,) = (await world.run("Which law, again?")).final_state.tool_call_records
    assert record.from_cache


async def test_calls_that_were_not_made_are_not_recorded() -> None:
    world = agent_world(calls(Call("no_such_tool"), *[ASK] * 4), text(GROUNDED))
    final = (await world.run("Which law?")).final_state
    assert len(final.tool_call_records) == final.tool_calls == 3


async def test_long_arguments_are_cut() -> None:
    world = agent_world(calls(Call("lookup", '{"query": "' + "x" * 9_000 + '"}')), text(GROUNDED))
    (record,) = (await world.run("Which law?")).final_state.tool_call_records
    assert len(record.input_json) == MAX_INPUT_CHARS
    assert record.input_json.startswith('{"query":"xxx')


@pytest.mark.parametrize(
    ("reason", "roles"),
    [
        (ExitReason.DEADLINE_EXCEEDED, [MessageRole.USER, MessageRole.ERROR]),
        (ExitReason.CANCELLED, [MessageRole.USER]),
    ],
)
async def test_a_turn_that_is_cut_short_has_the_call_that_was_running(
    reason: ExitReason, roles: list[MessageRole]
) -> None:
    stuck = Stuck()
    world = agent_world(calls(ASK), tools=[stuck])
    request = TurnRequest("Which law?", MatterContext(MATTER_ID))
    execution = world.agent.start(world.turn(request))
    running = asyncio.create_task(execution.run())
    await stuck.running.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    outcome = execution.interrupted(reason)
    (record,) = outcome.final_state.tool_call_records
    assert (record.tool, record.error) == ("lookup", CALL_UNFINISHED)
    assert record.duration_s > 0
    assert [message.role for message in outcome.new_messages] == roles
    summaries = [message.turn for message in outcome.new_messages if message.turn]
    assert [summary.tool_calls for summary in summaries] == [(record,)] * (len(roles) - 1)


async def test_tools_that_were_called_are_cited_in_the_request_context() -> None:
    called = (await agent_world(calls(ASK), text(GROUNDED)).run("Which law?")).final_state.request_context
    idle = (await agent_world(text("Hello.")).run("Hi")).final_state.request_context
    assert called is not None
    assert idle is not None
    assert [(item.ref, item.cited) for item in called.items] == [(LOOKUP, True)]
    assert [(item.ref, item.cited) for item in idle.items] == [(LOOKUP, False)]


def test_a_call_that_still_runs_has_taken_until_now() -> None:
    start = datetime.now(UTC) - timedelta(seconds=5)
    done = ToolCallRecord("a", "lookup", "proviso", "{}", start, 0.5)
    still = ToolCallRecord("b", "lookup", "proviso", "{}", start, 0.0, CALL_UNFINISHED)
    ended, open_ = finished_records([done, still])
    assert ended == done
    assert 5 <= open_.duration_s < 60


def test_a_call_that_nobody_approved_was_not_made() -> None:
    made, denied = (ToolCallRecord(i, "now", i, "{}", datetime.now(UTC), 0.0) for i in ("a", "b"))
    assert called_tools([made, denied], {"b"}) == {ItemRef(ItemType.TOOL, "now", "a")}
