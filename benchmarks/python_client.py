"""`python -m benchmarks.python_client [--turns N]` measures what the Python client costs for each token, beside bare
stubs.

Each way of reading runs in a process of its own against the same bare server, one turn after the other, and the ways
take turns in going first. The CPU time is that of the reading process with all its threads; ratios compare ways of the
same kind (synchronous or asynchronous)."""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import grpc

from benchmarks.load import WORKLOADS, Workload
from benchmarks.processes import Child, ProcessFailed, running
from benchmarks.report import table
from proviso_client import AsyncClient, Client
from proviso_client.steps import Token
from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub

if TYPE_CHECKING:  # the async stub exists for type checkers only
    from proviso_client.v1.chat_pb2_grpc import ChatServiceAsyncStub

WORKLOAD = "flat-out"
ROUNDS = 5
WARM_UP_TURNS = 20
TIMEOUT_S = 120.0
BASELINES = {"blocking client": "blocking stub", "asyncio client": "asyncio stub"}


class WrongText(Exception):
    """A way of reading returned other text than the server sent."""


def blocking_stub(target: str, turns: int) -> float:
    with grpc.insecure_channel(target) as channel:
        stub = ChatServiceStub(channel)

        def read() -> str:
            return "".join(event.token.text for event in stub.Chat(_request()) if event.HasField("token"))

        return _measured(read, turns)


def blocking_client(target: str, turns: int) -> float:
    with Client(target) as client:

        def read() -> str:
            turn = client.chat("Go on.", options={"model": WORKLOAD})
            return "".join(step.text for step in turn if isinstance(step, Token))

        return _measured(read, turns)


def asyncio_stub(target: str, turns: int) -> float:
    async def measure() -> float:
        async with grpc.aio.insecure_channel(target) as channel:
            stub: ChatServiceAsyncStub = ChatServiceStub(channel)

            async def read() -> str:
                return "".join([event.token.text async for event in stub.Chat(_request()) if event.HasField("token")])

            return await _measured_async(read, turns)

    return asyncio.run(measure())


def asyncio_client(target: str, turns: int) -> float:
    async def measure() -> float:
        async with AsyncClient(target) as client:

            async def read() -> str:
                turn = client.chat("Go on.", options={"model": WORKLOAD})
                return "".join([step.text async for step in turn if isinstance(step, Token)])

            return await _measured_async(read, turns)

    return asyncio.run(measure())


WAYS: dict[str, Callable[[str, int], float]] = {
    "blocking stub": blocking_stub,
    "blocking client": blocking_client,
    "asyncio stub": asyncio_stub,
    "asyncio client": asyncio_client,
}
"""(target, turns) -> CPU seconds of the turns."""


def _request() -> pb.ChatRequest:
    return pb.ChatRequest(message="Go on.", options=pb.ChatOptions(model=WORKLOAD))


def _measured(read: Callable[[], str], turns: int) -> float:
    for _ in range(WARM_UP_TURNS):
        _check(read())
    before_s = time.process_time()
    for _ in range(turns):
        _check(read())
    return time.process_time() - before_s


async def _measured_async(read: Callable[[], Awaitable[str]], turns: int) -> float:
    for _ in range(WARM_UP_TURNS):
        _check(await read())
    before_s = time.process_time()
    for _ in range(turns):
        _check(await read())
    return time.process_time() - before_s


def _workload() -> Workload:
    return WORKLOADS[WORKLOAD]


def _check(text: str) -> None:
    if text != "".join(_workload().texts):
        raise WrongText


async def _compare(turns: int, folder: Path) -> str:
    """A table of microseconds per token, the median of all rounds."""
    async with running(folder / "server.log", "benchmarks.servers.bare") as server:
        port = json.loads(await server.line(TIMEOUT_S))["port"]
        figures: dict[str, list[float]] = {way: [] for way in WAYS}
        for number in range(ROUNDS):
            for way in WAYS if number % 2 == 0 else reversed(WAYS):
                cpu_s = await _run(folder, way, f"127.0.0.1:{port}", turns)
                figures[way].append(cpu_s / turns / _workload().tokens * 1e6)
    medians = {way: median(of) for way, of in figures.items()}
    rows = [
        (way, f"{medians[way]:.1f}", f"{medians[way] / medians[BASELINES.get(way, way)]:.2f}", _range(figures[way]))
        for way in WAYS
    ]
    return table(("way", "CPU us/token", "ratio", "lowest to highest"), rows)


def _range(values: list[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"


async def _run(folder: Path, way: str, target: str, turns: int) -> float:
    """The CPU seconds of one process. Raises ProcessFailed."""
    child: Child
    async with running(folder / "reader.log", __spec__.name, "--read", way, target, "--turns", str(turns)) as child:
        return float(await child.line(TIMEOUT_S))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=200, help="turns of 200 tokens each in a round [200]")
    parser.add_argument("--read", nargs=2, metavar=("WAY", "TARGET"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        way, target = options.read
        print(WAYS[way](target, options.turns), flush=True)
        return 0
    try:
        with tempfile.TemporaryDirectory(prefix="proviso-benchmark-") as folder:
            print(asyncio.run(_compare(options.turns, Path(folder))))
    except ProcessFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
