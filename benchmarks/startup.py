"""Measures a start of `proviso serve`: the time from the process's start to SERVING, and the memory that it then
holds."""

import asyncio
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from benchmarks.processes import Child, running

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0
IDLE_S = 2.0
_POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class Start:
    """One start: seconds to SERVING by the clock and of CPU time, and the resident memory at SERVING and IDLE_S seconds
    later."""

    ready_s: float
    ready_cpu_s: float
    serving_bytes: int
    idle_bytes: int


async def measure_starts(logs: Path, data_dirs: Sequence[Path], models_dir: Path) -> list[Start]:
    """Starts the service once on each data folder, one after the other. Raises ProcessFailed."""
    return [await _start(logs / f"serve-{i}.log", data_dir, models_dir) for i, data_dir in enumerate(data_dirs)]


async def _start(log: Path, data_dir: Path, models_dir: Path) -> Start:
    port = free_port()
    flags = ("--port", str(port), "--data-dir", str(data_dir), "--models-dir", str(models_dir), "--llm", "local")
    begun = time.perf_counter()
    async with running(log, "proviso_service.cli", "serve", *flags) as server:
        await until_serving(server, port)
        ready_s, ready_cpu_s = time.perf_counter() - begun, server.cpu_s
        serving_bytes = server.resident_bytes
        await asyncio.sleep(IDLE_S)
        start = Start(ready_s, ready_cpu_s, serving_bytes, server.resident_bytes)
        server.process.terminate()
        await asyncio.wait_for(server.process.wait(), STOP_TIMEOUT_S)
    return start


async def until_serving(server: Child, port: int) -> None:
    """Returns when the service is SERVING. Raises ProcessFailed. It tries plain TCP connections first, because gRPC
    waits up to a second between its own attempts to connect."""
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            while not await _listens(port):
                if server.ended:
                    raise server.failure("it ended")
                await asyncio.sleep(_POLL_S)
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                await _serves(channel)
    except TimeoutError:
        raise server.failure(f"not serving after {START_TIMEOUT_S:.0f} s") from None


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


async def _serves(channel: grpc.aio.Channel) -> None:
    stub = health_pb2_grpc.HealthStub(channel)
    async for answer in stub.Watch(health_pb2.HealthCheckRequest()):  # type: ignore[attr-defined]
        if answer.status == health_pb2.HealthCheckResponse.SERVING:
            return


def free_port() -> int:
    """A port of the loopback interface on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
