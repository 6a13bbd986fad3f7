"""Tests of a server's states, whatever transport its session uses."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from proviso_service.mcp.listing import MAX_TOOLS, read_listing
from proviso_service.mcp.model import (
    ConnectionFailed,
    ListedTool,
    McpServerConfig,
    ServerState,
    SessionEvent,
    StdioTransport,
    ToolOutput,
)
from proviso_service.mcp.servers import McpServers, RestartPolicy
from proviso_service.retrying import Backoff
from tests.support.mcp_world import Watch

CONFIG = McpServerConfig(name="played", transport=StdioTransport(command="played"))
OBJECT: dict[str, Any] = {"type": "object"}


class PlayedConnection:
    """A connection that ends when a test says so."""

    def __init__(self, end: str) -> None:
        self.end = end
        self.news_queue: asyncio.Queue[SessionEvent] = asyncio.Queue()

    async def list_tools(self) -> Sequence[ListedTool]:
        return [ListedTool("one", "", OBJECT)]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolOutput:
        return ToolOutput(tool)

    async def next_event(self) -> SessionEvent:
        return await self.news_queue.get()


@pytest.mark.parametrize(("failures", "pause_s"), [(1, 1.0), (2, 2.0), (3, 4.0), (7, 60.0), (10_000, 60.0)])
def test_pauses_double_up_to_the_longest(failures: int, pause_s: float) -> None:
    assert RestartPolicy().backoff.pause_s(failures) == pause_s


@dataclass(frozen=True)
class Counting(Backoff):
    """A backoff that does not pause, and records the numbers of failures in a row that it was given."""

    first_s: float = 0.0
    longest_s: float = 0.0
    told: list[int] = field(default_factory=list)

    def pause_s(self, failures: int) -> float:
        self.told.append(failures)
        return 0.0


@pytest.mark.parametrize(("stable_s", "failures"), [(0.0, [1, 1, 1]), (3_600.0, [1, 2, 3])], ids=["long", "short"])
async def test_failures_are_counted_anew_after_a_session_that_lasted(stable_s: float, failures: list[int]) -> None:
    @asynccontextmanager
    async def connect(_config: McpServerConfig) -> AsyncIterator[PlayedConnection]:
        connection = PlayedConnection("went away")
        connection.news_queue.put_nowait(SessionEvent.ENDED)
        yield connection

    watch, backoff = Watch(), Counting()
    servers = McpServers(connect, restarts=RestartPolicy(backoff, stable_s), on_change=watch)
    servers.apply([CONFIG])
    await watch.until(lambda health: health.starts == 4)
    await servers.stop()
    assert backoff.told[:3] == failures


async def test_a_session_that_ends_is_opened_again_and_its_tools_stay_known_meanwhile() -> None:
    opened: list[PlayedConnection] = []

    @asynccontextmanager
    async def connect(_config: McpServerConfig) -> AsyncIterator[PlayedConnection]:
        if len(opened) == 1:
            opened.append(PlayedConnection(""))
            raise ConnectionFailed("cannot be reached")
        opened.append(PlayedConnection("went away"))
        yield opened[-1]

    watch = Watch()
    servers = McpServers(connect, restarts=RestartPolicy(Backoff(0.001, 0.002)), on_change=watch)
    servers.apply([CONFIG])
    await servers.wait_started()
    opened[0].news_queue.put_nowait(SessionEvent.ENDED)
    await watch.until(lambda health: health.state is ServerState.READY and health.starts == 3)
    await servers.stop()

    assert [(h.state.value, h.reason, h.tools) for h in watch.seen] == [
        ("starting", "", 0),
        ("ready", "", 1),
        ("failed", "went away", 1),
        ("starting", "", 1),
        ("failed", "cannot be reached", 1),
        ("starting", "", 1),
        ("ready", "", 1),
    ]


async def test_a_fault_of_our_own_is_a_failed_server_and_not_the_end_of_the_others() -> None:
    @asynccontextmanager
    async def connect(config: McpServerConfig) -> AsyncIterator[PlayedConnection]:
        if config.name == "faulty":
            raise KeyError("detail-4711")
        yield PlayedConnection("")

    servers = McpServers(connect)
    servers.apply([replace(CONFIG, name="faulty"), CONFIG])
    await servers.wait_started()
    first, second = servers.health()
    await servers.stop()

    assert (first.state, first.reason) == (ServerState.FAILED, "failed for a reason that is in the log")
    assert second.state is ServerState.READY


def test_two_servers_of_one_name_are_refused() -> None:
    def connect(_config: McpServerConfig) -> Any:
        raise AssertionError("nothing is started")

    with pytest.raises(ValueError, match="same name"):
        McpServers(connect).apply([CONFIG, CONFIG])


def test_a_listing_is_bounded_and_each_name_given_once() -> None:
    many = [ListedTool(f"t{number}", "", OBJECT) for number in range(MAX_TOOLS + 300)]
    listing = read_listing("s", [ListedTool("t0", "First.", OBJECT), *many, ListedTool("", "", OBJECT)])

    assert len(listing.tools) == MAX_TOOLS
    assert listing.tools[0].description == "First."
    assert listing.refused[0].reason == "Another tool of the server has its name."
    assert len(listing.refused) == MAX_TOOLS
