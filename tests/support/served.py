"""`proviso serve` as an operator starts it: a process of its own, with its log and a channel to it."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2

from tests.support.running import ServiceStubs

LIMIT_S = 60.0


class ServedService(ServiceStubs):
    """A running `proviso serve`. `log` grows with each line that it writes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.log: list[dict[str, Any]] = []
        self._written = asyncio.Condition()
        self._ended = False
        self._reading = asyncio.create_task(self._read_log())

    def lines(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.log if line["event"] == event]

    async def until_logged(self, event: str, times: int = 1) -> dict[str, Any]:
        """The line of an event once it was written so many times."""
        async with asyncio.timeout(LIMIT_S), self._written:
            await self._written.wait_for(lambda: len(self.lines(event)) >= times or self._ended)
        assert len(self.lines(event)) >= times, self.log
        return self.lines(event)[-1]

    async def until_health(self, serving: bool) -> None:
        """Returns when the health service says so."""
        wanted = health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        watch = self.channel.unary_stream(
            "/grpc.health.v1.Health/Watch",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )(health_pb2.HealthCheckRequest(service=""))
        async with asyncio.timeout(LIMIT_S):
            async for answer in watch:
                if answer.status == wanted:
                    watch.cancel()
                    return

    async def kill(self) -> None:
        """As `kill -9`, unless it has ended."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await self._reading

    async def stop(self) -> None:
        """Stops it in order, unless it has ended."""
        if self.process.returncode is None:
            self.process.terminate()
        async with asyncio.timeout(LIMIT_S):
            await self.process.wait()
            await self._reading

    async def _read_log(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            async with self._written:
                self.log.append(_record(line.decode()))
                self._written.notify_all()
        async with self._written:
            self._ended = True
            self._written.notify_all()


def command(*arguments: object) -> list[str]:
    """The command line of `proviso` with these arguments."""
    return [sys.executable, "-m", "proviso_service.cli", *map(str, arguments)]


def environment(**settings: str) -> dict[str, str]:
    """This process's environment with no settings of the service but these, named without their prefix. Commands run in
    `/`, where no proviso.toml lies."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PROVISO_")}
    own = {f"PROVISO_{name}": value for name, value in settings.items()}
    return inherited | {"PYTHONPATH": os.pathsep.join(sys.path)} | own


async def proviso(*arguments: object, **settings: str) -> tuple[int, str, str]:
    """Runs a command to its end. Returns its exit code, and what it wrote to standard output and standard error."""
    process = await asyncio.create_subprocess_exec(
        *command(*arguments),
        env=environment(**settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd="/",
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    return process.returncode or 0, out.decode(), err.decode()


@asynccontextmanager
async def served(
    data_dir: Path,
    models_dir: Path,
    *,
    within: Sequence[str] = (),
    flags: Sequence[str] = (),
    **settings: str,
) -> AsyncIterator[ServedService]:
    """Runs the service until the end of the block, where it is stopped in order unless it has ended. `within` is a
    command that runs it, and `flags` are more of its own."""
    process = await asyncio.create_subprocess_exec(
        *within,
        *command("serve", "--port", "0", "--data-dir", data_dir, "--models-dir", models_dir, *flags),
        env=environment(TELEMETRY__LOG_FORMAT="json", SERVER__DRAIN_S="0.5", **settings),
        stderr=asyncio.subprocess.PIPE,
        cwd="/",
        limit=1024 * 1024,
    )
    service = ServedService(process)
    try:
        address = (await service.until_logged("serving"))["address"]
        async with grpc.aio.insecure_channel(address) as channel:
            service.channel = channel
            yield service
        await service.stop()
    finally:
        await service.kill()


def _record(line: str) -> dict[str, Any]:
    """A line of the log; one that is not JSON, such as those of a traceback, is an event of its own."""
    try:
        return dict(json.loads(line))
    except ValueError:
        return {"event": line.rstrip()}
