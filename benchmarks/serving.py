"""Starts `proviso serve` as a user does, with its default settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from resource import RLIMIT_NOFILE, prlimit

import grpc

from benchmarks.processes import Child, running
from benchmarks.startup import free_port, until_serving


@asynccontextmanager
async def serving(
    log: Path, data_dir: Path, models_dir: Path, open_files: int = 0
) -> AsyncIterator[tuple[Child, grpc.aio.Channel]]:
    """Yields the running server and a channel to it. `open_files` is the server's hard limit of open files; 0 leaves
    the caller's. Raises ProcessFailed."""
    port = free_port()
    flags = ("--port", str(port), "--data-dir", str(data_dir), "--models-dir", str(models_dir), "--llm", "local")
    async with running(log, "proviso_service.cli", "serve", *flags) as server:
        if open_files:
            # Before it has opened anything: the limit holds for it and for every process that it starts.
            prlimit(server.process.pid, RLIMIT_NOFILE, (open_files, open_files))
        await until_serving(server, port)
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield server, channel
        server.process.terminate()
        await server.process.wait()
