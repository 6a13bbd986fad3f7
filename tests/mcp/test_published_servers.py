"""Tests with published servers of tools, over standard input and output and over HTTP."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from proviso_service.mcp.model import McpServerConfig, ServerState, StdioTransport, ToolServerFailed
from tests.support.http_servers import everything_server, free_port, http_config
from tests.support.mcp_world import Watch, listed_by, running
from tests.support.processes import children_of, ended


def _time(program: Path) -> McpServerConfig:
    return McpServerConfig(name="time", transport=StdioTransport(command=str(program)))


def _everything(script: Path, **settings: Any) -> McpServerConfig:
    transport = StdioTransport(command="node", args=(str(script), "stdio"))
    return McpServerConfig(name="everything", transport=transport, **settings)


async def test_the_time_server_of_pypi_tells_the_time(time_program: Path) -> None:
    async with running(_time(time_program)) as servers:
        assert [tool.shown_name for tool in listed_by(servers)] == ["time__get_current_time", "time__convert_time"]
        output = await servers.call(
            "time", "convert_time", {"source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        )
        wrong = await servers.call("time", "get_current_time", {"timezone": "Nowhere/Town"})

    assert "21:00:00+09:00" in f"{output.structured}{output.text}"
    assert wrong.is_error


async def test_calls_use_one_process(time_program: Path) -> None:
    before = children_of(os.getpid())
    async with running(_time(time_program)) as servers:
        started = children_of(os.getpid()) - before
        await asyncio.gather(*(servers.call("time", "get_current_time", {"timezone": "Etc/UTC"}) for _ in range(20)))
        assert children_of(os.getpid()) - before == started
    await ended(started)


async def test_the_everything_server_of_npm_answers(everything_script: Path) -> None:
    async with running(_everything(everything_script)) as servers:
        echoed = await servers.call("everything", "echo", {"message": "hello"})
        picture = await servers.call("everything", "get-tiny-image", {})
        typed = await servers.call("everything", "get-structured-content", {"location": "Chicago"})
        environment = await servers.call("everything", "get-env", {})

    assert echoed.text == "Echo: hello"
    assert "[An image of type image/png, 4 KB: it cannot be shown.]" in picture.text
    assert typed.structured is not None
    assert set(typed.structured) == {"temperature", "conditions", "humidity"}
    assert "PYTEST_CURRENT_TEST" not in environment.text  # it sees no more of ours than it needs


async def test_a_published_server_killed_in_the_middle_of_a_call_fails_the_call_and_comes_back(
    everything_script: Path,
) -> None:
    watch = Watch()
    before = children_of(os.getpid())
    async with running(_everything(everything_script), watch=watch) as servers:
        (process,) = children_of(os.getpid()) - before
        call = asyncio.create_task(
            servers.call("everything", "trigger-long-running-operation", {"duration": 60, "steps": 1})
        )
        await servers.call("everything", "echo", {"message": "the other one is under way"})
        os.kill(process, signal.SIGKILL)
        with pytest.raises(ToolServerFailed, match="was ended by signal 9 before it had answered"):
            await call
        await watch.until(lambda health: health.state is ServerState.READY and health.starts == 2)
        again = await servers.call("everything", "echo", {"message": "back"})

    assert again.text == "Echo: back"


async def test_a_slow_published_server_is_given_up_at_the_limit(everything_script: Path) -> None:
    async with running(_everything(everything_script, timeout_s=2.0)) as servers:
        with pytest.raises(ToolServerFailed, match=r"did not answer within 2 seconds"):
            await servers.call("everything", "trigger-long-running-operation", {"duration": 60, "steps": 1})
        assert (await servers.call("everything", "echo", {"message": "on"})).text == "Echo: on"


async def test_the_everything_server_over_http_killed_in_a_call_and_started_again(everything_script: Path) -> None:
    watch, port = Watch(), free_port()
    config = http_config("everything", port)
    async with everything_server(everything_script, port) as process, running(config, watch=watch) as servers:
        assert (await servers.call("everything", "get-sum", {"a": 2, "b": 3})).text == "The sum of 2 and 3 is 5."
        call = asyncio.create_task(
            servers.call("everything", "trigger-long-running-operation", {"duration": 60, "steps": 1})
        )
        await servers.call("everything", "echo", {"message": "the other one is under way"})
        process.kill()
        with pytest.raises(ToolServerFailed, match="before it had answered"):
            await call
        failed = await watch.until(lambda health: health.state is ServerState.FAILED)
        async with everything_server(everything_script, port):
            await watch.until(lambda health: health.state is ServerState.READY and health.starts > 1)
            assert (await servers.call("everything", "echo", {"message": "back"})).text == "Echo: back"

    assert failed.reason
