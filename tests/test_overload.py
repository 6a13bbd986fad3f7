"""More calls at once than the service can do: each ends in its result or is told when to come again."""

import asyncio
import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support.running import AGREEMENT
from tests.support.served import ServedService, environment, served

CALLS = 1_000
LIMIT_S = 20.0
"""Of what is promised in two seconds, and for health in half of one, on an idle machine."""

pytestmark = pytest.mark.timeout(300)


async def burst(service: ServedService, method: str, target: str, matter_id: str) -> dict[str, object]:
    """How the calls of another process ended."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.call_burst", method, target, str(CALLS), matter_id),
        env=environment(),
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await process.communicate()
    assert process.returncode == 0
    assert service.process.returncode is None
    return dict(json.loads(told))


async def longest_check_s(target: str, stop: asyncio.Event) -> float:
    """The longest time of a health check, of those that follow each other until `stop`."""
    longest_s = 0.0
    async with grpc.aio.insecure_channel(target, options=(("grpc.use_local_subchannel_pool", 1),)) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        while not stop.is_set():
            begun = time.monotonic()
            await stub.Check(health_pb2.HealthCheckRequest(), timeout=60)
            longest_s = max(longest_s, time.monotonic() - begun)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 0.02)
    return longest_s


async def test_a_thousand_chats_at_once_end_in_a_turn_or_in_the_time_to_come_again(
    tmp_path: Path, models_dir: Path
) -> None:
    async with served(tmp_path, models_dir) as service:
        target = service.lines("serving")[0]["address"]
        matter_id = await service.create_matter(agreement=AGREEMENT)
        stop = asyncio.Event()
        checking = asyncio.create_task(longest_check_s(target, stop))
        told = await burst(service, "Chat", target, matter_id)
        stop.set()
        longest_s = await checking
        ends = told["ends"]
        assert isinstance(ends, dict)
        print(f"counted {ends}, refused within {told['refused_after_s']} s, health within {longest_s:.2f} s")
        refused = ends.pop("RESOURCE_EXHAUSTED ErrorInfo QuotaFailure RetryInfo delay", 0)
        assert set(ends) == {"final_state"}
        assert ends["final_state"] + refused == CALLS
        assert float(str(told["refused_after_s"])) < LIMIT_S
        assert longest_s < LIMIT_S
        if refused:
            line = await service.until_logged("calls_refused")
            assert line["work"] == "turns"
        # Nothing of the burst is left: the next turn begins and ends.
        assert [e.WhichOneof("event") for e in await service.ask("What is the fee?", matter_id)][-1] == "final_state"


async def test_a_thousand_searches_at_once_end_in_results_or_in_the_time_to_come_again(
    tmp_path: Path, models_dir: Path
) -> None:
    async with served(tmp_path, models_dir) as service:
        target = service.lines("serving")[0]["address"]
        matter_id = await service.create_matter(agreement=AGREEMENT)
        stop = asyncio.Event()
        checking = asyncio.create_task(longest_check_s(target, stop))
        told = await burst(service, "Search", target, matter_id)
        stop.set()
        longest_s = await checking
        ends = told["ends"]
        assert isinstance(ends, dict)
        print(f"counted {ends}, refused within {told['refused_after_s']} s, health within {longest_s:.2f} s")
        refused = ends.pop("RESOURCE_EXHAUSTED ErrorInfo QuotaFailure RetryInfo delay", 0)
        assert set(ends) == {"found"}
        assert ends["found"] + refused == CALLS
        assert longest_s < LIMIT_S


async def test_connections_that_say_nothing_are_counted_closed_and_keep_the_door_open(
    tmp_path: Path, models_dir: Path
) -> None:
    """Of 256 files that the process may open, half are for connections. Silent ones are closed after the handshake's
    ten seconds, and those beyond the half at once."""
    few_files = ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh")
    async with served(tmp_path, models_dir, within=few_files) as service:
        host, _, port = service.lines("serving")[0]["address"].rpartition(":")
        opened = [await asyncio.open_connection(host, int(port)) for _ in range(400)]

        async def closed(reader: asyncio.StreamReader) -> None:
            with suppress(ConnectionError):
                await reader.read()  # until the service hangs up

        async with asyncio.timeout(120):
            await asyncio.gather(*(closed(reader) for reader, _ in opened))
        for _, writer in opened:
            writer.close()
        await service.create_matter()
