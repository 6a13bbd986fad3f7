"""The servers of tools that an agent has: each is started, asked for its tools, called, and started again when it
fails."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from weakref import WeakValueDictionary

import structlog

from proviso_service.concurrency import with_timeout
from proviso_service.mcp.listing import Listing, read_listing
from proviso_service.mcp.model import (
    CallRefused,
    Connect,
    Connection,
    ConnectionFailed,
    McpServerConfig,
    News,
    ServerHealth,
    ServerState,
    ToolOutput,
    ToolServerFailed,
)
from proviso_service.retrying import Backoff

_log = structlog.get_logger(__name__)

OnChange = Callable[[ServerHealth], None]
"""Told, in the event loop, of each new state of a server and of each new list of its tools."""


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """When a server that has ended is started again: after a pause of `backoff`, which counts failures in a row from
    one again after a session that lasted `settled_s`. `list_s` is the pause between lists of tools that a server
    announces."""

    backoff: Backoff = Backoff(first_s=1.0, longest_s=60.0)
    settled_s: float = 60.0
    list_s: float = 0.5


class ToolServer:
    """Owns a server's session: `run` opens and closes it in the task that runs it, and nowhere else."""

    def __init__(self, config: McpServerConfig, connect: Connect, restarts: RestartPolicy, on_change: OnChange) -> None:
        self.config = config
        self.listing: Listing | None = None
        """As it was last; None until the server has listed its tools for the first time."""
        self.settled = asyncio.Event()
        """Set once the first start has come to something."""
        self._connect = connect
        self._restarts = restarts
        self._on_change = on_change
        self._connection: Connection | None = None
        self._starts = 0
        state = ServerState.STARTING if config.enabled else ServerState.DISABLED
        self.health = self._health(state)

    async def run(self) -> None:
        """Until cancelled."""
        if not self.config.enabled:
            self.settled.set()
            return
        failures = 0
        while True:
            begun = asyncio.get_running_loop().time()
            reason = await self._session()
            lasted_s = asyncio.get_running_loop().time() - begun
            failures = 1 if lasted_s >= self._restarts.settled_s else failures + 1
            self._become(ServerState.FAILED, reason)
            await asyncio.sleep(self._restarts.backoff.pause_s(failures))

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """One call, within the time limit; ToolServerFailed. Calls may overlap."""
        connection = self._connection
        if connection is None:
            raise ToolServerFailed(f"The server {self.config.name!r} is not available: it {self._absence()}.")
        # The failure is raised outside the handlers: one that carried a TimeoutError would be tried again.
        try:
            output = await with_timeout(self.config.timeout_s, connection.call(tool, arguments))
            return replace(output, text=self.config.masked(output.text)) if output.is_error else output
        except TimeoutError:
            failure = f"did not answer within {self.config.timeout_s:g} seconds"
        except ConnectionFailed as error:
            failure = f"{error} before it had answered"
        except CallRefused as error:
            failure = f"did not carry out the call: {error}"
        raise ToolServerFailed(f"The server {self.config.name!r} {self.config.masked(failure)}.")

    async def _session(self) -> str:
        """One session from start to end; why it ended, or never began."""
        self._starts += 1
        self._become(ServerState.STARTING)
        # Not with an AsyncExitStack: it never comes back from exceptions whose contexts go round in a circle, as those
        # of broken sessions do.
        try:
            async with asyncio.timeout(self.config.start_timeout_s) as limit, self._connect(self.config) as connection:
                return await self._within(connection, limit)
        except TimeoutError:
            return f"did not start within {self.config.start_timeout_s:g} seconds"
        except ConnectionFailed as error:
            return str(error)
        except Exception as error:
            _log.exception("mcp_session_failed", server=self.config.name, exc_info=error)
            return "failed for a reason that the log tells"
        finally:
            self._connection = None

    async def _within(self, connection: Connection, limit: asyncio.Timeout) -> str:
        """What goes on inside a session; a failure is returned, not raised through those who hold the session open."""
        try:
            await self._list(connection)
            limit.reschedule(None)
            self._connection = connection
            self._become(ServerState.READY)
            return await self._follow(connection)
        except ConnectionFailed as error:
            return str(error)

    async def _follow(self, connection: Connection) -> str:
        while await connection.news() is News.TOOLS_CHANGED:
            try:
                await with_timeout(self.config.timeout_s, self._list(connection))
            except TimeoutError:
                return "did not list its tools in time"
            self._become(ServerState.READY)
            await asyncio.sleep(self._restarts.list_s)  # what it announces meanwhile is one change
        return connection.end

    async def _list(self, connection: Connection) -> None:
        """The same list as before stays the object that it is: others know by that that nothing has changed."""
        listed = await connection.list_tools()
        listing = await asyncio.to_thread(read_listing, self.config.name, listed)
        if listing != self.listing:
            self.listing = listing

    def _become(self, state: ServerState, reason: str = "") -> None:
        self.health = self._health(state, self.config.masked(reason))
        if state is not ServerState.STARTING:
            self.settled.set()
        log = _log.warning if state is ServerState.FAILED else _log.info
        health = self.health
        log("mcp_server", server=health.name, state=state.value, reason=health.reason, tools=health.tools)
        self._on_change(health)

    def _health(self, state: ServerState, reason: str = "") -> ServerHealth:
        listing = self.listing or Listing()
        return ServerHealth(
            self.config.name,
            state,
            datetime.now(UTC),
            reason,
            self._starts,
            len(listing.tools),
            listing.refused,
        )

    def _absence(self) -> str:
        return {ServerState.STARTING: "is starting", ServerState.DISABLED: "is switched off"}.get(
            self.health.state, self.health.reason or "has ended"
        )


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

    def __init__(
        self, connect: Connect, *, restarts: RestartPolicy | None = None, on_change: OnChange = _ignore
    ) -> None:
        self._connect = connect
        self._restarts = restarts or RestartPolicy()
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
        server = ToolServer(config, self._connect, self._restarts, self._on_change)
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
