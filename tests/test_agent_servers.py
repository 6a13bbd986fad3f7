"""The MCP servers of an agent's folder in the whole service: listed, lost and found, joined to sessions, stopped."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from proviso_client.v1 import catalog_pb2 as pb
from proviso_client.v1 import context_pb2, sessions_pb2
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.api.standard_services import Readiness
from proviso_service.embedded import ModelNotPrepared
from proviso_service.mcp.model import ServerState
from proviso_service.settings import Settings
from proviso_service.tools.registry import OWN_TOOL_NAMES
from proviso_service.wiring import App
from proviso_service.wiring_resources import StartupError
from tests.support.agent_servers import MUTE, CatalogView, odd_server, processes, with_servers
from tests.support.mcp_packages import time_server
from tests.support.processes import ended
from tests.support.running import RunningService, running_service
from tests.support.scripted_model import ScriptedChatModel

ALWAYS, MANUAL, AGENT = (
    context_pb2.INCLUDE_MODE_ALWAYS,
    context_pb2.INCLUDE_MODE_MANUAL,
    context_pb2.INCLUDE_MODE_AGENT,
)
NOW = ("time", "get_current_time")


@pytest.fixture(scope="module")
def time_program() -> str:
    return str(time_server())


async def session_tools(service: RunningService, session_id: str) -> list[tuple[str, str]]:
    """Tools of MCP servers in a session, by server and name."""
    found = await service.sessions.GetSession(sessions_pb2.GetSessionRequest(session_id=session_id))
    refs = [item.item for item in found.session.items]
    return [(ref.server_name, ref.name) for ref in refs if ref.server_name not in ("", "proviso")]


async def new_session(service: RunningService) -> str:
    made = await service.sessions.CreateSession(sessions_pb2.CreateSessionRequest())
    return made.session.session_id


async def test_tools_of_servers_are_listed_with_modes_approvals_and_where_they_come_from(
    tmp_path: Path,
    models_dir: Path,
    time_program: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("TIME_TEST_TOKEN", "sesame-4711")
    time = {
        "command": time_program,
        "env": {"TOKEN": "x-${TIME_TEST_TOKEN}"},
        "include": "agent",
        "approval": "required",
        "tools": {"get_current_time": {"include": "always", "approval": "none"}},
    }
    own = {"approval": "required", "tools": {"isaacus_classify": {"include": "manual", "approval": "none"}}}
    defined = {"time": time, "odd": odd_server(), "off": odd_server(enabled=False)}
    folder = with_servers(tmp_path / "agent", defined, proviso=own)
    async with running_service(tmp_path / "data", models_dir, agent_dir=folder) as service:
        view = CatalogView(service.channel)
        await view.until_state("time", ServerState.READY)
        await view.until_state("odd", ServerState.READY)
        servers, tools = await view.servers(), await view.tools()
        shown = await view.content("time", "convert_time")
        in_session = await session_tools(service, await new_session(service))

        (process,) = processes("mcp-server-time")
        before = service.app.catalog.current
        os.kill(process, signal.SIGKILL)
        await view.until_state("time", ServerState.READY, starts=2)
        assert service.app.catalog.current is before
        left = processes("mcp-server-time") | processes("odd_mcp_server")
    await ended(left)

    def told(server: str, name: str) -> tuple[int, int, int]:
        item = tools[server, name]
        return item.include_mode, item.include_mode_source, item.approval

    none, required = pb.TOOL_APPROVAL_NONE, pb.TOOL_APPROVAL_REQUIRED
    assert told(*NOW) == (ALWAYS, pb.INCLUDE_MODE_SOURCE_ITEM, none)
    assert told("time", "convert_time") == (AGENT, pb.INCLUDE_MODE_SOURCE_SERVER, required)
    assert told("odd", "echo") == (ALWAYS, pb.INCLUDE_MODE_SOURCE_DEFAULT, none)
    assert told("proviso", "isaacus_classify") == (MANUAL, pb.INCLUDE_MODE_SOURCE_ITEM, none)
    assert told("proviso", "isaacus_iql") == (ALWAYS, pb.INCLUDE_MODE_SOURCE_DEFAULT, required)
    assert shown["name"] == "time__convert_time"
    assert set(shown["parameters"]["properties"]) == {"source_timezone", "time", "target_timezone"}
    assert NOW in in_session
    assert ("time", "convert_time") not in in_session

    assert list(servers) == ["proviso", "odd", "off", "time"]
    itself = servers["proviso"]
    assert (itself.state, itself.tool_count) == (pb.TOOL_SERVER_STATE_READY, len(OWN_TOOL_NAMES))
    assert (servers["time"].tool_count, servers["time"].include_mode, servers["time"].starts) == (2, AGENT, 1)
    assert servers["off"].state == pb.TOOL_SERVER_STATE_DISABLED
    assert "elsewhere" in {refused.name for refused in servers["odd"].refused}
    assert all(refused.reason for refused in servers["odd"].refused)
    assert not [item for item in tools.values() if item.item.server_name == "off"]
    everything = f"{servers} {tools} {caplog.text}"
    assert "sesame" not in everything


async def test_always_items_of_a_server_that_lists_late_join_a_session_once_at_its_next_turn(
    tmp_path: Path, models_dir: Path, time_program: str
) -> None:
    servers = {"time": odd_server(*MUTE), "never": odd_server(*MUTE)}
    folder = with_servers(tmp_path / "agent", servers)
    async with running_service(tmp_path / "data", models_dir, agent_dir=folder) as service:
        view = CatalogView(service.channel)
        assert await view.states() == {"never": ServerState.STARTING, "time": ServerState.STARTING}
        early = await new_session(service)
        await service.ask("Hello", session_id=early)
        assert await session_tools(service, early) == []

        with_servers(folder, servers | {"time": {"command": time_program}})
        await view.reload()
        await view.until_state("time", ServerState.READY)
        assert await session_tools(service, early) == []
        both = [NOW, ("time", "convert_time")]
        for _ in range(2):
            await service.ask("Hello", session_id=early)
            assert sorted(await session_tools(service, early)) == sorted(both)
        assert sorted(await session_tools(service, await new_session(service))) == sorted(both)
        assert (await view.states())["never"] is ServerState.STARTING


async def test_a_start_that_fails_leaves_no_server_running(
    tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: Readiness) -> None:
        while True:
            started.update(processes("odd_mcp_server"))
            if started:
                raise ModelNotPrepared(tmp_path, "is absent")
            await asyncio.sleep(0.02)

    started: set[int] = set()
    folder = with_servers(tmp_path / "agent", {"mute": odd_server(*MUTE)})
    model = NamedChatModel("scripted", ScriptedChatModel(script=[]))
    monkeypatch.setattr(Readiness, "set_ready", fails)
    settings = Settings(data_dir=tmp_path / "data", models_dir=models_dir, server={"port": 0}, agent_dir=folder)
    tasks = asyncio.all_tasks()
    with pytest.raises(StartupError):
        await App.start(settings, ChatModels(model))
    assert len(started) == 1
    await ended(started)
    assert asyncio.all_tasks() == tasks


def test_nothing_of_the_protocol_is_imported_before_a_server_is_there() -> None:
    """It takes seconds."""
    code = "import sys, proviso_service.wiring; print([name for name in ('mcp', 'jsonschema') if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"
