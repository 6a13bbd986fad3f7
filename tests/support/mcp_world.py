"""Servers of tools for tests: how the odd one is started, and how to wait for what becomes of any."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from proviso_service.mcp.connecting import connect
from proviso_service.mcp.model import McpServerConfig, ServerHealth, ServerTool, StdioTransport
from proviso_service.mcp.servers import McpServers, RestartPolicy
from proviso_service.retrying import Backoff

ODD = Path(__file__).with_name("odd_mcp_server.py")
QUICK = RestartPolicy(Backoff(first_s=0.01, longest_s=0.05))


def odd(name: str = "odd", *arguments: str, **settings: Any) -> McpServerConfig:
    transport = StdioTransport(sys.executable, (str(ODD), *arguments), {"WORD": SecretStr("hunter22")})
    return McpServerConfig(name=name, transport=transport, **settings)


class Watch:
    """Remembers what it is told of servers, and lets tests wait for it."""

    def __init__(self) -> None:
        self.seen: list[ServerHealth] = []
        self._told = asyncio.Event()

    def __call__(self, health: ServerHealth) -> None:
        self.seen.append(health)
        self._told.set()

    async def until(self, wanted: Callable[[ServerHealth], bool]) -> ServerHealth:
        """The first that is wanted, of those seen and those to come."""
        looked_at = 0
        async with asyncio.timeout(30):
            while True:
                for health in self.seen[looked_at:]:
                    if wanted(health):
                        return health
                looked_at = len(self.seen)
                self._told.clear()
                await self._told.wait()


@asynccontextmanager
async def running(*configs: McpServerConfig, watch: Watch | None = None) -> AsyncIterator[McpServers]:
    """The servers, started and settled."""
    servers = McpServers(connect, restarts=QUICK, on_change=watch or Watch())
    servers.apply(configs)
    try:
        await servers.wait_started()
        yield servers
    finally:
        await servers.stop()


def listed_by(servers: McpServers) -> tuple[ServerTool, ...]:
    """The tools that the servers have listed last, in the servers' order."""
    return tuple(tool for listing in servers.listings().values() if listing for tool in listing.tools)
