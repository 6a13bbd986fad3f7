"""All servers of tools that an agent has."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from proviso_service.mcp.config import McpServerConfig
from proviso_service.mcp.listing import Listing
from proviso_service.mcp.model import ServerHealth, ToolOutput, ToolServerFailed
from proviso_service.mcp.ports import Connect
from proviso_service.mcp.server import Backoff, OnChange, ToolServer

_STOP_S = 10.0
"""Longer than a session takes to end."""


def _ignore(_health: ServerHealth) -> None: ...


@dataclass(frozen=True, slots=True)
class _Running:
    server: ToolServer
    task: asyncio.Task[None]


class McpServers:
    """Each server in a task of its own, from the `apply` that brings it to the one that takes it away, or `stop`.
    Nothing here waits for a server but `call`, `settled` and `stop`."""

    def __init__(self, connect: Connect, *, backoff: Backoff | None = None, on_change: OnChange = _ignore) -> None:
        self._connect = connect
        self._backoff = backoff or Backoff()
        self._on_change = on_change
        self._running: Mapping[str, _Running] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._places: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def apply(self, configs: Sequence[McpServerConfig]) -> None:
        """Makes these the servers, in their order. In the background, new ones begin to open, those that are gone end,
        and changed ones begin anew once they have ended; the others keep their sessions."""
        names = [config.name for config in configs]
        if len(set(names)) < len(names):
            raise ValueError("two servers have the same name")
        before = self._running
        self._running = {config.name: self._kept(config) or self._begin(config) for config in configs}
        for name, running in before.items():
            if self._running.get(name) is not running:
                self._end(running)

    async def stop(self) -> None:
        """Ends every session; no process or task is left when this returns."""
        self.apply(())
        while self._ending:
            await asyncio.wait(self._ending)

    async def settled(self) -> None:
        """Waits until each server has started, or failed to for the first time; within their time limits."""
        await asyncio.gather(*(running.server.settled.wait() for running in self._running.values()))

    def health(self) -> tuple[ServerHealth, ...]:
        """In the order of the configuration."""
        return tuple(running.server.health for running in self._running.values())

    def listings(self) -> Mapping[str, Listing | None]:
        """What each server has listed last, None where it has not yet. The tools of a server that fails stay: it is
        being started again, and their calls say so meanwhile."""
        return {name: running.server.listing for name, running in self._running.items()}

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Calls a tool by its server's name for it; ToolServerFailed, in words."""
        owner = self._running.get(server)
        if owner is None:
            raise ToolServerFailed(f"There is no server {server!r}.")
        return await owner.server.call(tool, arguments)

    def _kept(self, config: McpServerConfig) -> _Running | None:
        running = self._running.get(config.name)
        return running if running and running.server.config == config else None

    def _begin(self, config: McpServerConfig) -> _Running:
        server = ToolServer(config, self._connect, self._backoff, self._on_change)
        place = self._places.setdefault(config.name, asyncio.Lock())
        return _Running(server, asyncio.create_task(_run(server, place), name=f"mcp-{config.name}"))

    def _end(self, running: _Running) -> None:
        ending = asyncio.create_task(_ended(running.task))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


async def _run(server: ToolServer, place: asyncio.Lock) -> None:
    """One server of a name at a time: the one before may hold what this one needs."""
    async with place:
        await server.run()


async def _ended(task: asyncio.Task[None]) -> None:
    """A cancellation may coincide with one that a session's own end gives out, and be taken for that."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_STOP_S)
