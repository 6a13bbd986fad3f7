"""A service that is stopped or killed while the Python client reads a turn: how the turn ended is told."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from proviso_client import AsyncClient, AsyncTurn, RetryPolicy
from proviso_client.steps import ApprovalRequired, FinalState, Token, TurnStart
from proviso_client.v1 import turns_pb2
from tests.support.client_kinds import Connect, connect_blocking, events_until
from tests.support.cutting_proxy import cutting_proxy
from tests.support.endless_process import endless_service
from tests.support.marked_tools import needing_approval
from tests.support.running import final_of, running_service
from tests.support.scripted_model import Call, calls, text
from tests.support.stage import stage

PATIENT = RetryPolicy(max_attempts=10_000, first_wait_s=0.05, longest_wait_s=0.1, give_up_after_s=600.0)
TOOL = "list_matter_documents"
KINDS = (AsyncClient, connect_blocking)


@pytest.mark.timeout(300)  # a process that imports everything, on a busy machine
async def test_a_turn_of_a_service_that_was_killed_goes_on_with_the_next_one(tmp_path: Path, models_dir: Path) -> None:
    async with cutting_proxy(0) as proxy:
        clients = [connect(proxy.target, retries=PATIENT) for connect in KINDS]
        async with endless_service(tmp_path, models_dir) as doomed:
            port = doomed.port
            proxy.service_port = port
            matter = await clients[0].matters.create("M")
            turns = [client.chat("Hi", matter_id=matter.matter_id) for client in clients]
            for turn in turns:
                await events_until(turn, TurnStart)
            readings = [asyncio.create_task(turn.result()) for turn in turns]
        async with running_service(tmp_path, models_dir, *[text("You are ", "welcome.")] * 2) as restarted:
            proxy.service_port = restarted.app.port
            await assert_completed(turns, readings)
        for client in clients:
            await client.close()


async def test_a_turn_of_a_service_that_stops_goes_on_with_the_next_one(tmp_path: Path, models_dir: Path) -> None:
    async with cutting_proxy(0) as proxy:
        clients = [connect(proxy.target, retries=PATIENT) for connect in KINDS]
        async with stage(tmp_path, models_dir, server={"drain_s": 0.1}) as stopping:
            proxy.service_port = stopping.port
            turns = [client.chat(f"What about {i}?", matter_id=stopping.matter_id) for i, client in enumerate(clients)]
            for i, turn in enumerate(turns):
                stopping.held(f"What about {i}?")
                await events_until(turn, Token)
            readings = [asyncio.create_task(turn.result()) for turn in turns]
        async with running_service(tmp_path, models_dir, *[text("You are ", "welcome.")] * 2) as restarted:
            proxy.service_port = restarted.app.port
            await assert_completed(turns, readings)
        for client in clients:
            await client.close()


async def assert_completed(turns: Sequence[AsyncTurn], readings: Sequence["asyncio.Task[FinalState]"]) -> None:
    for turn, reading in zip(turns, readings, strict=True):
        final = await reading
        assert (final.exit_reason, final.message) == (turns_pb2.EXIT_REASON_COMPLETED, "You are welcome.")
        assert turn.text == final.message
        assert not turn.events_missed


@pytest.mark.timeout(300)
async def test_a_turn_that_waits_for_a_decision_is_read_on_after_a_restart(
    connect: Connect, tmp_path: Path, models_dir: Path
) -> None:
    async with cutting_proxy(0) as proxy, connect(proxy.target, retries=PATIENT) as client:
        with needing_approval(TOOL):
            async with running_service(tmp_path, models_dir, calls(Call(TOOL))) as stopping:
                proxy.service_port = stopping.app.port
                matter = await client.matters.create("M")
                turn = client.chat("What is there?", matter_id=matter.matter_id)
                events = await events_until(turn, ApprovalRequired)
                reading = asyncio.create_task(events_until(turn))
            assert not reading.done()
            async with running_service(tmp_path, models_dir, text("You are welcome.")) as restarted:
                proxy.service_port = restarted.app.port
                await client.approve(turn.turn_id, events[-1].approval_required.call_id)
                events += await reading
    final = final_of(events)
    assert final == turn.final
    assert (final.exit_reason, final.message) == (turns_pb2.EXIT_REASON_COMPLETED, "You are welcome.")
    assert final.tool_call_records[0].decision == turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE
    assert not turn.events_missed
