"""Log lines of a call and of a turn carry the ids of their trace."""

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import structlog
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from proviso_client.v1 import chat_pb2, context_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_service.settings import TelemetrySettings
from proviso_service.telemetry.logging import configure_logging
from proviso_service.telemetry.spans import Spans
from proviso_service.telemetry.tracing import tracer_provider
from proviso_service.tools.base import ToolScope
from proviso_service.turns import TracedProgram
from tests.api.serving import conversations, refusal, served
from tests.support.agent_world import MATTER_ID, Found, Lookup, LookupArgs, agent_world
from tests.support.scripted_model import Call, calls, text


class TalkingLookup(Lookup):
    """A tool that logs by structlog and by the standard library, from a thread, from a task, and after its own task has
    ended."""

    async def run(self, scope: ToolScope, args: LookupArgs) -> Found:
        structlog.get_logger("talking").info("by structlog")
        logging.getLogger("talking").info("by %s", "logging")
        await asyncio.to_thread(logging.getLogger("talking").info, "in a thread")
        task = asyncio.create_task(asyncio.to_thread(logging.getLogger("talking").info, "in a task"))
        done = asyncio.Event()
        task.add_done_callback(lambda _: logging.getLogger("talking").info("in a callback"))
        task.add_done_callback(lambda _: done.set())
        await done.wait()
        return await super().run(scope, args)


@pytest.fixture
def log() -> io.StringIO:
    """The log of the process."""
    stream = io.StringIO()
    configure_logging(TelemetrySettings(log_format="json"), stream)
    return stream


def lines(stream: io.StringIO, logger: str) -> dict[str, dict[str, Any]]:
    """The log lines by their events."""
    parsed = (json.loads(line) for line in stream.getvalue().splitlines())
    return {line["event"]: line for line in parsed if line["logger"] == logger}


@asynccontextmanager
async def asked(folder: Path, *, traced: bool) -> AsyncIterator[tuple[str, dict[str, ReadableSpan]]]:
    """Runs a turn whose tool logs; returns its id and the spans by their names."""
    exporter = InMemorySpanExporter()
    provider = tracer_provider(TelemetrySettings(), SimpleSpanProcessor(exporter)) if traced else None
    world = agent_world(
        calls(Call("lookup", '{"query": "law"}')), text("“the laws of Ohio” [1]."), tools=[TalkingLookup()]
    )
    tracer = provider.get_tracer("test") if provider else None
    world.agent.dependencies = replace(world.agent.dependencies, spans=Spans(tracer))
    program = TracedProgram(world.agent, tracer) if tracer else world.agent
    async with conversations(folder, program) as domain, served(domain, tracer_provider=provider) as server:
        matter = context_pb2.MatterContext(matter_id=MATTER_ID)
        request = chat_pb2.ChatRequest(message="Which law?", matter_context=matter)
        call = ChatServiceStub(server.channel).Chat(request, metadata=(("x-request-id", "r1"),))
        first, *_ = [event async for event in call]
    yield first.turn_id, {span.name: span for span in exporter.get_finished_spans()}


def ids_of(span: ReadableSpan) -> dict[str, str]:
    assert span.context is not None
    return {"trace_id": format(span.context.trace_id, "032x"), "span_id": format(span.context.span_id, "016x")}


async def test_lines_of_a_turn_carry_the_ids_of_its_trace_wherever_they_come_from(
    tmp_path: Path, log: io.StringIO
) -> None:
    async with asked(tmp_path, traced=True) as (turn_id, spans):
        said = lines(log, "talking")
        assert list(said) == ["by structlog", "by logging", "in a thread", "in a task", "in a callback"]
        for line in said.values():
            assert line["turn_id"] == turn_id
            assert line["request_id"] == "r1"
            assert line["trace_id"] == ids_of(spans["execute_tool lookup"])["trace_id"]
        tool = spans["execute_tool lookup"]
        attempts = {line["span_id"] for line in said.values()}
        assert len(attempts) == 1
        assert attempts != {ids_of(tool)["span_id"]}  # that of the attempt inside


async def test_the_line_of_a_call_carries_its_span_and_its_turn(tmp_path: Path, log: io.StringIO) -> None:
    async with asked(tmp_path, traced=True) as (turn_id, spans):
        line = lines(log, "proviso.api")["call"]
        assert line["turn_id"] == turn_id
        assert {name: line[name] for name in ("trace_id", "span_id")} == ids_of(spans["proviso.v1.ChatService/Chat"])


async def test_without_traces_lines_carry_the_turn_alone(tmp_path: Path, log: io.StringIO) -> None:
    async with asked(tmp_path, traced=False) as (turn_id, spans):
        assert spans == {}
        for line in lines(log, "talking").values():
            assert line["turn_id"] == turn_id
            assert "trace_id" not in line
            assert "span_id" not in line


async def test_what_a_caller_calls_a_turn_is_not_logged(tmp_path: Path, log: io.StringIO) -> None:
    async with conversations(tmp_path) as domain, served(domain) as server:
        stub = ChatServiceStub(server.channel)
        for turn_id in ("turn\nlevel=error forged", "swordfish"):
            await refusal(stub.GetTurn(chat_pb2.GetTurnRequest(turn_id=turn_id)))
            await refusal(stub.CancelTurn(chat_pb2.CancelTurnRequest(turn_id=turn_id)))
    assert '"event": "call"' in log.getvalue()
    assert "forged" not in log.getvalue()
    assert "swordfish" not in log.getvalue()
