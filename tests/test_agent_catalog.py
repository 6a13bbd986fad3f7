"""The catalog of an agent with MCP servers, as it is read anew and as the servers change."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from proviso_client.v1 import catalog_pb2 as pb
from proviso_client.v1 import context_pb2
from proviso_service.agent_catalog import AgentCatalog
from proviso_service.context.model import ItemRef, ItemType
from proviso_service.identity import Caller
from proviso_service.mcp.model import ServerState
from proviso_service.mcp.servers import RestartPolicy, open_session
from proviso_service.reading.model import ReadingLimits
from proviso_service.reading.reader import ProcessReader
from proviso_service.retrying import Backoff
from proviso_service.tools.base import ToolScope, UncheckedArgs
from tests.api.serving import conversations, refusal, served
from tests.support.agent_servers import CatalogView, odd_server, processes, with_servers
from tests.support.agent_world import Lookup
from tests.support.mcp_world import QUICK
from tests.support.processes import ended, folder_of

NEVER = RestartPolicy(Backoff(first_s=3_600, longest_s=3_600))
"""What has failed stays so."""


@dataclass(frozen=True)
class World:
    agent: AgentCatalog
    view: CatalogView

    async def call(self, server: str, tool: str) -> str:
        """What a server's tool says."""
        found = self.agent.toolbox.find(ItemRef(ItemType.TOOL, tool, server))
        assert found is not None
        result = await found.run(ToolScope(Caller("t", "u"), None), UncheckedArgs())
        return str(result.data()["text"])

    async def ready(self, *names: str) -> None:
        for name in names:
            await self.view.until_state(name, ServerState.READY)


@asynccontextmanager
async def world(tmp_path: Path, folder: Path, restarts: RestartPolicy = NEVER) -> AsyncIterator[World]:
    reader = ProcessReader(ReadingLimits(), processes=2)
    agent = AgentCatalog(folder, [Lookup()], reader, open_session, restarts)
    try:
        await agent.holder.reload()
        async with (
            conversations(tmp_path, catalog=agent.holder) as domain,
            served(replace(domain, tool_servers=agent.tool_servers)) as server,
        ):
            yield World(agent, CatalogView(server.channel))
    finally:
        await agent.stop()
        await reader.close()


async def test_a_reload_adds_changes_and_removes_servers_and_leaves_others_their_sessions(tmp_path: Path) -> None:
    kept, changed, removed = odd_server(), odd_server(), odd_server()
    folder = with_servers(tmp_path / "agent", {"kept": kept, "changed": changed, "removed": removed})
    async with world(tmp_path, folder) as w:
        await w.ready("kept", "changed", "removed")
        pids = {name: await w.call(name, "pid") for name in ("kept", "changed", "removed")}

        kept_other_modes = kept | {"include": "manual", "tools": {"echo": {"approval": "required"}}}
        with_servers(folder, {"kept": kept_other_modes, "changed": changed | {"timeout_s": 7}, "added": odd_server()})
        await w.view.reload()
        assert await w.view.states() == {
            "added": ServerState.STARTING,
            "changed": ServerState.STARTING,
            "kept": ServerState.READY,
        }
        assert [*w.agent.holder.current.new_session.pending_servers] == ["changed", "added"]
        await ended([int(pids["removed"]), int(pids["changed"])])
        await w.ready("added", "changed")
        assert await w.call("kept", "pid") == pids["kept"]
        assert await w.call("changed", "pid") != pids["changed"]
        assert [*w.agent.holder.current.new_session.pending_servers] == []
        tools = await w.view.tools()
        assert {server for server, _ in tools} == {"proviso", "kept", "changed", "added"}
        echo = tools["kept", "echo"]
        assert (echo.include_mode, echo.approval) == (context_pb2.INCLUDE_MODE_MANUAL, pb.TOOL_APPROVAL_REQUIRED)
        assert w.agent.toolbox.find(ItemRef(ItemType.TOOL, "echo", "removed")) is None
    assert processes("odd_mcp_server") == set()


async def test_a_faulty_folder_keeps_the_catalog_and_the_sessions_of_the_servers(tmp_path: Path) -> None:
    folder = with_servers(tmp_path / "agent", {"kept": odd_server()})
    async with world(tmp_path, folder) as w:
        await w.ready("kept")
        pid, before = await w.call("kept", "pid"), w.agent.holder.current
        with_servers(folder, {"kept": odd_server(timeout_s=-1), "added": odd_server()})
        refused = await refusal(w.view.stub.ReloadCatalog(pb.ReloadCatalogRequest()))
        assert refused.reason == "CATALOG_INVALID"
        assert refused.violations == {"agent.yaml:3 mcp_servers.kept.timeout_s": "must be more than 0"}
        assert w.agent.holder.current is before
        assert list(await w.view.servers()) == ["proviso", "kept"]
        assert await w.call("kept", "pid") == pid


async def test_a_killed_server_has_failed_keeps_its_tools_and_comes_back_when_it_is_defined_anew(
    tmp_path: Path,
) -> None:
    folder = with_servers(tmp_path / "agent", {"odd": odd_server()})
    async with world(tmp_path, folder) as w:
        await w.ready("odd")
        os.kill(int(await w.call("odd", "pid")), signal.SIGKILL)
        failed = await w.view.until_state("odd", ServerState.FAILED)
        assert failed.reason == "was ended by signal 9"
        assert failed.state_time.ToDatetime().year > 2000
        assert ("odd", "echo") in await w.view.tools()
        with_servers(folder, {"odd": odd_server(max_output_chars=1_000)})
        await w.view.reload()
        ready = await w.view.until_state("odd", ServerState.READY)
        assert (ready.reason, ready.starts) == ("", 1)


async def test_new_tools_are_in_the_catalog_when_the_server_says_so_and_a_turn_keeps_what_it_had(
    tmp_path: Path,
) -> None:
    folder = with_servers(tmp_path / "agent", {"odd": odd_server()})
    async with world(tmp_path, folder) as w:
        await w.ready("odd")
        tool_count = (await w.view.servers())["odd"].tool_count
        before = w.agent.holder.current
        new = ItemRef(ItemType.TOOL, "new", "odd")
        assert w.agent.toolbox.find(new) is None
        await w.call("odd", "grow")
        await w.view.until("odd", lambda server: server.tool_count == tool_count + 1)
        after = w.agent.holder.current
        assert (before.find(new), before.new_session == after.new_session) == (None, False)
        item = after.get(new)
        assert json.loads(item.content)["name"] == "odd__new"
        assert await w.call("odd", "new") == "{}"


async def test_a_server_that_starts_again_with_the_same_tools_changes_nothing(tmp_path: Path) -> None:
    folder = with_servers(tmp_path / "agent", {"odd": odd_server()})
    async with world(tmp_path, folder, QUICK) as w:
        await w.ready("odd")
        before, tool = w.agent.holder.current, w.agent.toolbox.find(ItemRef(ItemType.TOOL, "echo", "odd"))
        os.kill(int(await w.call("odd", "pid")), signal.SIGKILL)
        await w.view.until_state("odd", ServerState.READY, starts=2)
        assert w.agent.holder.current is before
        assert w.agent.toolbox.find(ItemRef(ItemType.TOOL, "echo", "odd")) is tool


async def test_calls_of_reload_at_once_start_one_process(tmp_path: Path) -> None:
    folder = with_servers(tmp_path / "agent", {})
    async with world(tmp_path, folder) as w:
        with_servers(folder, {"odd": odd_server()})
        await asyncio.gather(*(w.view.reload() for _ in range(10)))
        await w.ready("odd")
        assert len(processes("odd_mcp_server")) == 1


async def test_a_program_runs_in_the_folder_that_is_named_from_that_of_the_agent(tmp_path: Path) -> None:
    folder = with_servers(tmp_path / "agent", {"odd": odd_server(cwd="work")})
    (folder / "work").mkdir()
    async with world(tmp_path, folder) as w:
        await w.ready("odd")
        assert folder_of(int(await w.call("odd", "pid"))) == folder / "work"


async def test_a_reload_while_a_server_is_starting_leaves_it_to_that(tmp_path: Path) -> None:
    folder = with_servers(tmp_path / "agent", {"odd": odd_server()})
    async with world(tmp_path, folder) as w:
        await w.view.reload()
        ready = await w.view.until_state("odd", ServerState.READY)
        assert ready.starts == 1


async def test_settings_of_tools_that_a_server_does_not_list_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def said() -> list[str]:
        return [record.message for record in caplog.records if "settings_of_unknown_tools" in record.message]

    sound, mistyped = {"echo": {"approval": "required"}}, {"ehco": {"approval": "required"}}
    folder = with_servers(tmp_path / "agent", {"odd": odd_server(tools=sound), "other": odd_server(tools=mistyped)})
    async with world(tmp_path, folder) as w:
        await w.ready("odd", "other")
        [first] = said()
        assert "server='other'" in first
        assert "tools=['ehco']" in first
        with_servers(folder, {"odd": odd_server(tools=mistyped)})
        await w.view.reload()
        [_, second] = said()
        assert "server='odd'" in second
