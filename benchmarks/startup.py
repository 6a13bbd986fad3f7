"""Starts `proviso serve` as a user does, and measures the time from the process's start to SERVING and the memory that
it then holds."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from resource import RLIMIT_NOFILE, RUSAGE_CHILDREN, getrusage, prlimit
from statistics import median
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from benchmarks.charts import bars
from benchmarks.document_load import DocumentLoad
from benchmarks.processes import Child, running
from benchmarks.report import MB, Figures, Place, say, table
from benchmarks.servers.lifetime import free_port

START_TIMEOUT_S = 60.0
IDLE_S = 2.0
_POLL_S = 0.01

_AGREEMENT = b"# Supply Agreement\n\n" + b"The Supplier shall deliver the Goods within 30 days of each order.\n\n" * 40


async def measure(place: Place) -> Figures:
    """A row for each kind of data folder, and one for the command that only tells what there is."""
    starts = 1 if place.quick else 5
    empty = [place.folder / f"empty-{number}" for number in range(starts)]
    used = place.folder / "used"
    say("start: empty data folders")
    rows = [_figures("serve, empty data folder", [await _start(place, folder) for folder in empty])]
    async with serving(place.folder / "used.log", used, place.models_dir) as (_, channel):
        await DocumentLoad(channel).ingest("Agreements", [(f"{n}.md", _AGREEMENT) for n in range(5)])
    say("start: a used data folder")
    rows.append(_figures("serve, used data folder", [await _start(place, used) for _ in range(starts)]))
    rows.append(_figures("--help", [await asyncio.to_thread(_help) for _ in range(starts)]))
    return rows


def _figures(what: str, starts: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """The times are medians; `least_cpu_s` is the CPU time of the cheapest start: what it would take on an idle core.
    The memory is that of the start that took most."""
    return {
        "what": what,
        "starts": len(starts),
        "ready_s": median(start["ready_s"] for start in starts),
        "cpu_s": median(start["cpu_s"] for start in starts),
        "least_cpu_s": min(start["cpu_s"] for start in starts),
        "serving_mb": max(start.get("serving_mb", 0.0) for start in starts),
        "idle_mb": max(start.get("idle_mb", 0.0) for start in starts),
    }


async def _start(place: Place, data_dir: Path) -> dict[str, float]:
    """Starts the service once. The memory is that at SERVING and IDLE_S seconds later. Raises ProcessFailed."""
    begun = time.perf_counter()
    async with serving(place.folder / "start.log", data_dir, place.models_dir) as (server, _):
        start = {"ready_s": time.perf_counter() - begun, "cpu_s": server.cpu_s}
        start["serving_mb"] = server.resident_bytes / MB
        await asyncio.sleep(IDLE_S)
        return start | {"idle_mb": server.resident_bytes / MB}


def _help() -> dict[str, float]:
    begun = time.perf_counter()
    cpu_s = cpu_of_process("-m", "proviso_service.cli", "--help")
    return {"ready_s": time.perf_counter() - begun, "cpu_s": cpu_s}


def cpu_of_process(*arguments: str) -> float:
    """Runs Python to its end. Returns its CPU seconds. Nothing else that this process has started may end meanwhile."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run((sys.executable, *arguments), capture_output=True, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tables(rows: Figures) -> str:
    """The rows as a Markdown table."""
    return table(
        ("proviso", "starts", "median s", "CPU s", "least CPU s", "memory when SERVING MB", f"{IDLE_S:.0f} s later MB"),
        [
            (
                *(r["what"], str(r["starts"]), f"{r['ready_s']:.2f}", f"{r['cpu_s']:.2f}", f"{r['least_cpu_s']:.2f}"),
                *(f"{r[name]:.0f}" if r[name] else "" for name in ("serving_mb", "idle_mb")),
            )
            for r in rows
        ],
    )


def charts(rows: Figures) -> dict[str, str]:
    """The drawings, by the names of their files."""
    return {"start": bars("CPU time of a start", "s", {r["what"]: r["cpu_s"] for r in rows})}


@asynccontextmanager
async def serving(
    log: Path,
    data_dir: Path,
    models_dir: Path,
    open_files: int = 0,
    flags: Sequence[str] = (),
    cores: Collection[int] = (),
) -> AsyncIterator[tuple[Child, grpc.aio.Channel]]:
    """Yields the running server, started with these flags too, and a channel to it. `open_files` is the server's hard
    limit of open files; 0 leaves the caller's. `cores` are those that it may use; all where none is named. Raises
    ProcessFailed."""
    port = free_port()
    usual = ("--port", str(port), "--data-dir", str(data_dir), "--models-dir", str(models_dir), "--llm", "local")
    async with running(log, "proviso_service.cli", "serve", *usual, *flags) as server:
        # Before it has opened or started anything: these hold for it and for all that it starts.
        if cores:
            os.sched_setaffinity(server.process.pid, cores)
        if open_files:
            prlimit(server.process.pid, RLIMIT_NOFILE, (open_files, open_files))
        await until_serving(server, port)
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield server, channel
        server.process.terminate()
        await server.process.wait()


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
