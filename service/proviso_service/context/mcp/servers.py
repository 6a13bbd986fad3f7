"""All servers of tools that an agent has."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from proviso_service.context.mcp.config import McpServerConfig
from proviso_service.context.mcp.model import ServerHealth, ServerTool, ToolOutput, ToolServerFailed
from proviso_service.context.mcp.ports import Connect
from proviso_service.context.mcp.server import Backoff, OnChange, ToolServer

_STOP_S = 10.0
"""Longer than a session takes to end."""


def _ignore(_health: ServerHealth) -> None: ...


class McpServers:
    """Each server in a task of its own, from `start` to `stop`. Nothing here waits for a server but `call`,
    `settled` and `stop`."""

    def __init__(
        self,
        configs: Sequence[McpServerConfig],
        connect: Connect,
        *,
        backoff: Backoff | None = None,
        on_change: OnChange = _ignore,
    ) -> None:
        names = [config.name for config in configs]
        if len(set(names)) < len(names):
            raise ValueError("two servers have the same name")
        chosen = backoff or Backoff()
        self._servers = {config.name: ToolServer(config, connect, chosen, on_change) for config in configs}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begins to open every enabled server, in the background."""
        if self._tasks:
            raise RuntimeError("the servers have been started")
        self._tasks = [asyncio.create_task(server.run(), name=f"mcp-{name}") for name, server in self._servers.items()]

    async def stop(self) -> None:
        """Ends every session; no process or task is left when this returns."""
        left = set(self._tasks)
        while left:
            # A cancellation may coincide with one that a session's own end gives out, and be taken for that.
            for task in left:
                task.cancel()
            _, left = await asyncio.wait(left, timeout=_STOP_S)
        self._tasks = []

    async def settled(self) -> None:
        """Waits until each server has started, or failed to for the first time; within their time limits."""
        await asyncio.gather(*(server.settled.wait() for server in self._servers.values()))

    def health(self) -> tuple[ServerHealth, ...]:
        """In the order of the configuration."""
        return tuple(server.health for server in self._servers.values())

    def tools(self) -> tuple[ServerTool, ...]:
        """The tools that the servers have listed last, in the servers' order. Those of a server that fails stay: it is
        being started again, and their calls say so meanwhile."""
        return tuple(tool for server in self._servers.values() for tool in server.listing.tools)

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Calls a tool by its server's name for it; ToolServerFailed, in words."""
        owner = self._servers.get(server)
        if owner is None:
            raise ToolServerFailed(f"There is no server {server!r}.")
        return await owner.call(tool, arguments)
