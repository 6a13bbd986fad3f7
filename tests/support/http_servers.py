"""Servers of tools over HTTP, each a process of its own on a free port of this machine."""

import asyncio
import os
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from proviso_service.mcp.model import HttpTransport, McpServerConfig

MODERN = Path(__file__).with_name("modern_mcp_server.py")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@asynccontextmanager
async def modern_server(port: int) -> AsyncIterator[Process]:
    async with _serving([sys.executable, str(MODERN), str(port)], port) as process:
        yield process


@asynccontextmanager
async def everything_server(script: Path, port: int) -> AsyncIterator[Process]:
    async with _serving(["node", str(script), "streamableHttp"], port, {"PORT": str(port)}) as process:
        yield process


def http_config(name: str, port: int, headers: Mapping[str, str] | None = None, **settings: Any) -> McpServerConfig:
    secrets = {name: SecretStr(value) for name, value in (headers or {}).items()}
    transport = HttpTransport(f"http://127.0.0.1:{port}/mcp", secrets)
    return McpServerConfig(name=name, transport=transport, **settings)


@asynccontextmanager
async def _serving(command: list[str], port: int, more: Mapping[str, str] | None = None) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **(more or {})}, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
    )
    try:
        async with asyncio.timeout(30):
            while not await _listens(port):
                assert process.returncode is None
                await asyncio.sleep(0.02)
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return False
    writer.close()
    await writer.wait_closed()
    return True
