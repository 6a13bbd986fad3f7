"""A Proviso server as a child process on this machine, for the demo, and the models that it needs."""

import asyncio
import os
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc.aio

from proviso_service.cli.connection import is_serving
from proviso_service.cli.output import CommandError, console
from proviso_service.cli.server_options import Server
from proviso_service.concurrency import with_timeout
from proviso_service.embedded import ModelSourceMissing, prepare_languages, prepare_minilm

START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 30.0


def prepare_models(models_dir: Path) -> None:
    """Prepares the embedded models in a folder, and says so on stderr. Raises CommandError."""
    out = console(stderr=True)
    try:
        with out.status("Preparing the embedded models"):
            folders = [prepare_minilm(models_dir), prepare_languages(models_dir)]
    except (ModelSourceMissing, OSError, ValueError, RuntimeError, ImportError) as error:
        raise CommandError(f"The embedded models could not be prepared in {models_dir}: {error}") from error
    for folder in filter(None, folders):
        out.print(f"Embedded models ready in {folder}")


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A running server, and the seconds that it took to start."""

    address: str
    start_s: float
    _process: asyncio.subprocess.Process

    async def stop(self) -> int:
        """Sends SIGTERM and waits for the end. Returns the exit code, which is negative for a signal."""
        if self._process.returncode is None:
            self._process.terminate()
        try:
            return await with_timeout(STOP_TIMEOUT_S, self._process.wait())
        except TimeoutError:
            self._process.kill()
            return await self._process.wait()


@asynccontextmanager
async def running_server(folder: Path, models_dir: Path) -> AsyncIterator[ServerProcess]:
    """Runs a server that keeps everything in `folder` and has no settings but its flags. Raises CommandError."""
    address, log = f"127.0.0.1:{_free_port()}", folder / "server.log"
    begin = time.monotonic()
    process = await _start(folder, models_dir, address, log)
    try:
        await _wait_until_serving(address, process, log)
        yield ServerProcess(address, time.monotonic() - begin, process)
    finally:
        await ServerProcess(address, 0.0, process).stop()


async def _start(folder: Path, models_dir: Path, address: str, log: Path) -> asyncio.subprocess.Process:
    """Starts the server in a session of its own, so that Ctrl-C reaches only the demo, which then stops the server."""
    settings = ("PROVISO_", "ISAACUS_")
    environment = {name: value for name, value in os.environ.items() if not name.upper().startswith(settings)}
    host, _, port = address.rpartition(":")
    flags = ["--host", host, "--port", port, "--llm", "local"]
    flags += ["--data-dir", str(folder / "data"), "--models-dir", str(models_dir)]
    with log.open("wb") as output:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "proviso_service.cli", "serve", *flags),
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


async def _wait_until_serving(address: str, process: asyncio.subprocess.Process, log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not await _answers(address):
        if process.returncode is not None:
            raise CommandError(f"The server ended with exit code {process.returncode}: {_last_line(log)}")
        if time.monotonic() > deadline:
            raise CommandError(f"The server was not serving after {START_TIMEOUT_S:.0f} s: {_last_line(log)}")
        await asyncio.sleep(0.1)


async def _answers(address: str) -> bool:
    try:
        return await is_serving(Server(address))
    except grpc.aio.AioRpcError:
        return False


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "it wrote nothing"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
