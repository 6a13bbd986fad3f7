"""One span for each turn, where traces are wanted."""

import asyncio
from contextlib import aclosing

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from proviso_service.context.model import MatterContext
from proviso_service.settings import TelemetrySettings
from proviso_service.telemetry.tracing import tracer_provider
from proviso_service.turns import (
    Decision,
    ExitCause,
    ExitReason,
    SuspensionUnreadable,
    TracedProgram,
    TurnExecution,
    TurnRequest,
)
from tests.support.agent_world import CALLER, MATTER_ID, AgentWorld, agent_world
from tests.support.scripted_model import Call, Step, calls, text
from tests.turns.scripted import running

CONFIDENTIAL = "the settlement is swordfish"


def traced(*script: Step) -> tuple[TurnExecution, InMemorySpanExporter]:
    world = agent_world(*script)
    program, exporter = traced_program(world)
    request = TurnRequest(CONFIDENTIAL, MatterContext(MATTER_ID))
    return program.start(world.turn(request)), exporter


def traced_program(world: AgentWorld) -> tuple[TracedProgram, InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = tracer_provider(TelemetrySettings(), SimpleSpanProcessor(exporter))
    assert provider is not None
    return TracedProgram(world.agent, provider.get_tracer("test")), exporter


def only_span(exporter: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exporter.get_finished_spans()
    assert CONFIDENTIAL not in span.to_json()
    return span


async def test_a_turn_is_one_span_with_its_exit_reason_and_usage() -> None:
    execution, exporter = traced(text("Good ", "day."))
    await execution.run()
    span = only_span(exporter)
    assert (span.name, dict(span.attributes or {})) == (
        "invoke_agent proviso",
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": "proviso",
            "gen_ai.agent.name": "proviso",
            "proviso.turn_id": "turn-1",
            "proviso.exit_reason": "completed",
            "proviso.cycles": 1,
            "proviso.tool_calls": 0,
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 2,
        },
    )
    assert span.status.status_code is StatusCode.UNSET


async def test_a_failed_model_marks_the_span_without_the_exceptions_text() -> None:
    execution, exporter = traced(Step(error=ValueError(CONFIDENTIAL)))
    await execution.run()
    assert only_span(exporter).status.status_code is StatusCode.ERROR


async def test_a_cancelled_turn_ends_its_span() -> None:
    execution, exporter = traced(Step(hold=asyncio.Event()))
    run = asyncio.create_task(execution.run())
    await asyncio.sleep(0)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert exporter.get_finished_spans() == ()
    execution.interrupted(ExitReason.CANCELLED, ExitCause.CANCELLED_BY_CALLER)
    execution.interrupted(ExitReason.INTERNAL_ERROR)  # its outcome could not be stored
    span = only_span(exporter)
    assert (
        dict(span.attributes or {}).items()
        >= {
            "error.type": "CancelledError",
            "proviso.exit_reason": "cancelled",
        }.items()
    )
    assert span.status.status_code is StatusCode.UNSET


async def test_the_span_of_a_turn_that_the_next_life_goes_on_with_ends_when_it_is_left() -> None:
    asking = calls(Call("lookup", '{"query": "law"}'))
    world = agent_world(asking, decisions={"lookup": Decision.DENY})
    program, exporter = traced_program(world)
    async with running(program) as turns:
        turn_id = await turns.start(CALLER, TurnRequest(CONFIDENTIAL, MatterContext(MATTER_ID)))
        async with aclosing(turns.read(CALLER, turn_id, 0)) as events:
            await anext(events)
            await anext(events)  # the call that it asks about
    (span,) = [span for span in exporter.get_finished_spans() if span.name == "invoke_agent proviso"]
    attributes = dict(span.attributes or {})
    assert (attributes["proviso.turn_id"], attributes["proviso.handed_over"]) == (turn_id, True)
    assert not attributes.keys() & {"error.type", "proviso.exit_reason"}
    assert span.status.status_code is StatusCode.UNSET


async def test_a_turn_that_cannot_be_taken_up_again_ends_its_span() -> None:
    world = agent_world(text("Hm."))
    program, exporter = traced_program(world)
    with pytest.raises(SuspensionUnreadable):
        await program.resume(world.turn(TurnRequest("?")), CONFIDENTIAL)
    attributes = only_span(exporter).attributes or {}
    assert (attributes["proviso.turn_id"], attributes["error.type"]) == ("turn-1", "SuspensionUnreadable")


async def test_a_turn_that_is_taken_up_again_has_a_span_of_its_own() -> None:
    asking = (calls(Call("lookup", '{"query": "law"}')), text("I could not look that up."))
    world = agent_world(*asking, decisions={"lookup": Decision.DENY})
    await world.run(CONFIDENTIAL)
    program, exporter = traced_program(agent_world(asking[1]))
    request = TurnRequest(CONFIDENTIAL, MatterContext(MATTER_ID))
    state = world.persons.states[0]
    execution = await program.resume(world.turn(request), state)
    await execution.run()
    attributes = only_span(exporter).attributes or {}
    assert (attributes["proviso.turn_id"], attributes["proviso.cycles"]) == ("turn-1", 2)
