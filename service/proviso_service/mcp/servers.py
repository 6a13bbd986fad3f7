"""The MCP servers of an agent: each is started, asked for its tools, called, and restarted when it fails."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from weakref import WeakValueDictionary

import structlog

from proviso_service.concurrency import with_timeout
from proviso_service.errors import FailureCause
from proviso_service.mcp.listing import ToolListing, read_listing
from proviso_service.mcp.model import (
    CallRefused,
    Connect,
    ConnectionFailed,
    McpServerConfig,
    ServerConnection,
    ServerHealth,
    ServerState,
    SessionEvent,
    ToolOutput,
    ToolServerFailed,
)
from proviso_service.retrying import Backoff

_log = structlog.get_logger(__name__)

OnChange = Callable[[ServerHealth], None]
"""Called in the event loop for each new state of a server and for each new list of its tools."""


_FAILURES_THAT_PASS = 2
"""After so many failures in a row a server is started again within two seconds."""

_BACK_S = 5.0
"""Seconds that a call waits for a server that is started again soon."""


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """When a failed server is restarted: after a pause of `backoff`, which grows with each failure in a row. A session
    that lasted `stable_s` seconds ends the row. `list_s` is the pause in seconds between two requests for the list of
    tools, when a server announces one change after another."""

    backoff: Backoff = Backoff(first_s=1.0, longest_s=60.0)
    stable_s: float = 60.0
    list_s: float = 0.5


class ToolServer:
    """One server and its session, which `run` opens and closes in the one task that runs it."""

    def __init__(self, config: McpServerConfig, connect: Connect, restarts: RestartPolicy, on_change: OnChange) -> None:
        self.config = config
        self.listing: ToolListing | None = None
        """The tools that the server listed last; None until it has listed them for the first time."""
        self.started = asyncio.Event()
        """Set once the first start has succeeded or failed."""
        self._connect = connect
        self._restarts = restarts
        self._on_change = on_change
        self._connection: ServerConnection | None = None
        self._starts = 0
        self._failures = 0
        self._is_open = asyncio.Event()
        state = ServerState.STARTING if config.enabled else ServerState.DISABLED
        self.health = self._health(state)

    async def run(self) -> None:
        """Keeps the server running, with restarts, until the task is cancelled."""
        if not self.config.enabled:
            self.started.set()
            return
        while True:
            start_s = asyncio.get_running_loop().time()
            reason = await self._session()
            lasted_s = asyncio.get_running_loop().time() - start_s
            self._failures = 1 if lasted_s >= self._restarts.stable_s else self._failures + 1
            self._set_state(ServerState.FAILED, reason)
            await asyncio.sleep(self._restarts.backoff.pause_s(self._failures))

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Makes one call, within the time limit. Calls may overlap. A call that finds the server between two sessions
        waits a little for the next one. Raises ToolServerFailed, which says whether the call may be made again."""
        if not self._is_open.is_set() and self._is_back_soon:
            with suppress(TimeoutError):
                await with_timeout(_BACK_S, self._is_open.wait())
        connection = self._connection
        if connection is None:
            away = f"The server {self.config.name!r} is not available: it {self._unavailability()}."
            raise ToolServerFailed(away, may_repeat=self._is_back_soon)
        may_repeat, cause = self._is_repeatable(tool), FailureCause.PROVIDER_AWAY
        # The failure is raised outside the handlers: one whose context is a TimeoutError would be retried.
        try:
            output = await with_timeout(self.config.timeout_s, connection.call(tool, arguments))
            return replace(output, text=self.config.masked(output.text)) if output.is_error else output
        except TimeoutError:
            failure, cause = f"did not answer within {self.config.timeout_s:g} seconds", FailureCause.TIMED_OUT
        except ConnectionFailed as error:
            failure = f"{error} before it had answered"
            may_repeat = may_repeat or not error.carried_out
            if self._connection is connection:  # its end has not been noticed yet
                self._is_open.clear()
        except CallRefused as error:
            failure, cause = f"did not carry out the call: {error}", FailureCause.FAILED
            may_repeat = False
        said = f"The server {self.config.name!r} {self.config.masked(failure)}."
        raise ToolServerFailed(said, cause, may_repeat=may_repeat)

    @property
    def _is_back_soon(self) -> bool:
        """Whether the server is starting, or will be started again within some seconds."""
        return self.config.enabled and self._failures <= _FAILURES_THAT_PASS

    def _is_repeatable(self, tool: str) -> bool:
        return any(one.is_repeatable for one in (self.listing or ToolListing()).tools if one.name == tool)

    async def _session(self) -> str:
        """Runs one session from start to end, and returns why it ended or could not start."""
        self._starts += 1
        self._set_state(ServerState.STARTING)
        # No AsyncExitStack here: broken sessions raise exceptions whose contexts form a circle, and it follows them for
        # ever.
        try:
            async with asyncio.timeout(self.config.start_timeout_s) as limit, self._connect(self.config) as connection:
                return await self._use(connection, limit)
        except TimeoutError:
            return f"did not start within {self.config.start_timeout_s:g} seconds"
        except ConnectionFailed as error:
            return str(error)
        except Exception as error:
            _log.exception("mcp_session_failed", server=self.config.name, exc_info=error)
            return "failed for a reason that is in the log"
        finally:
            self._connection = None
            self._is_open.clear()

    async def _use(self, connection: ServerConnection, limit: asyncio.Timeout) -> str:
        """Follows an open session to its end, and returns why it ended. A failure is returned and not raised, so that
        it does not pass through the context managers that hold the session open."""
        try:
            await self._list(connection)
            limit.reschedule(None)
            self._connection = connection
            self._is_open.set()
            self._set_state(ServerState.READY)
            return await self._follow_changes(connection)
        except ConnectionFailed as error:
            return str(error)

    async def _follow_changes(self, connection: ServerConnection) -> str:
        while await connection.next_event() is SessionEvent.TOOLS_CHANGED:
            try:
                await with_timeout(self.config.timeout_s, self._list(connection))
            except TimeoutError:
                return "did not list its tools in time"
            self._set_state(ServerState.READY)
            await asyncio.sleep(self._restarts.list_s)  # announcements meanwhile count as one change
        return connection.end

    async def _list(self, connection: ServerConnection) -> None:
        """Reads the list of tools. An equal list does not replace the listing object: others compare it by identity to
        see whether anything has changed."""
        listed = await connection.list_tools()
        listing = await asyncio.to_thread(read_listing, self.config.name, listed)
        if listing != self.listing:
            self.listing = listing

    def _set_state(self, state: ServerState, reason: str = "") -> None:
        self.health = self._health(state, self.config.masked(reason))
        if state is not ServerState.STARTING:
            self.started.set()
        log = _log.warning if state is ServerState.FAILED else _log.info
        health = self.health
        log("mcp_server", server=health.name, state=state.value, reason=health.reason, tools=health.tools)
        self._on_change(health)

    def _health(self, state: ServerState, reason: str = "") -> ServerHealth:
        listing = self.listing or ToolListing()
        return ServerHealth(
            self.config.name,
            state,
            datetime.now(UTC),
            reason,
            self._starts,
            len(listing.tools),
            listing.refused,
        )

    def _unavailability(self) -> str:
        return {ServerState.STARTING: "is starting", ServerState.DISABLED: "is switched off"}.get(
            self.health.state, self.health.reason or "has ended"
        )


_STOP_S = 10.0
"""Seconds after which a session that is still ending is cancelled once more; one usually ends sooner."""


def _ignore(_health: ServerHealth) -> None: ...


@dataclass(frozen=True, slots=True)
class _Running:
    server: ToolServer
    task: asyncio.Task[None]


class McpServers:
    """The servers, each of which runs in a task of its own from the `apply` that adds it to the `apply` or `stop` that
    removes it. Only `call`, `wait_started` and `stop` wait for a server."""

    def __init__(
        self, connect: Connect, *, restarts: RestartPolicy | None = None, on_change: OnChange = _ignore
    ) -> None:
        self._connect = connect
        self._restarts = restarts or RestartPolicy()
        self._on_change = on_change
        self._running: Mapping[str, _Running] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def apply(self, configs: Sequence[McpServerConfig]) -> None:
        """Makes these the servers, in this order. In the background new servers start, removed ones end, and changed
        ones restart once they have ended; the others keep their sessions. Raises ValueError when two have one name."""
        names = [config.name for config in configs]
        if len(set(names)) < len(names):
            raise ValueError("two servers have the same name")
        before = self._running
        self._running = {config.name: self._unchanged(config) or self._start(config) for config in configs}
        for name, running in before.items():
            if self._running.get(name) is not running:
                self._end(running)

    async def stop(self) -> None:
        """Ends every session. No process or task is left when this returns."""
        self.apply(())
        while self._ending:
            await asyncio.wait(self._ending)

    async def wait_started(self) -> None:
        """Waits until the first start of each server has succeeded or failed."""
        await asyncio.gather(*(running.server.started.wait() for running in self._running.values()))

    def health(self) -> tuple[ServerHealth, ...]:
        """The health of each server, in the order of the configuration."""
        return tuple(running.server.health for running in self._running.values())

    def listings(self) -> Mapping[str, ToolListing | None]:
        """The tools that each server listed last, None where it has not listed any yet. The tools of a failed server
        stay: it is being restarted, and until then calls of them say so."""
        return {name: running.server.listing for name, running in self._running.items()}

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Calls a tool by its server's own name for it. Raises ToolServerFailed, whose message is a sentence."""
        owner = self._running.get(server)
        if owner is None:
            raise ToolServerFailed(f"There is no server {server!r}.")
        return await owner.server.call(tool, arguments)

    def _unchanged(self, config: McpServerConfig) -> _Running | None:
        running = self._running.get(config.name)
        return running if running and running.server.config == config else None

    def _start(self, config: McpServerConfig) -> _Running:
        server = ToolServer(config, self._connect, self._restarts, self._on_change)
        lock = self._locks.setdefault(config.name, asyncio.Lock())
        return _Running(server, asyncio.create_task(_run_alone(server, lock), name=f"mcp-{config.name}"))

    def _end(self, running: _Running) -> None:
        ending = asyncio.create_task(_cancel(running.task))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


async def _run_alone(server: ToolServer, lock: asyncio.Lock) -> None:
    """Runs the server once an earlier one of the same name has ended, which may hold a port or file that it needs."""
    async with lock:
        await server.run()


async def _cancel(task: asyncio.Task[None]) -> None:
    """Cancels the task until it has ended: a cancellation can be lost when it coincides with one that the end of a
    session causes inside the task."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_STOP_S)


@asynccontextmanager
async def open_session(config: McpServerConfig) -> AsyncIterator[ServerConnection]:
    """A session over the server's transport: what McpServers is given as `connect`. The protocol's package, which takes
    seconds to import, is imported in a thread when the first session is opened."""
    connect = await asyncio.to_thread(_import_connect)
    async with connect(config) as connection:
        yield connection


def _import_connect() -> Connect:
    from proviso_service.mcp.connecting import connect

    return connect
