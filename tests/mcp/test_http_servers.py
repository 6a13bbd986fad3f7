"""Tests of servers over HTTP that speak the newest version of the protocol."""

import pytest

from proviso_service.mcp.model import ServerState, ToolServerFailed
from tests.support.http_servers import free_port, http_config, modern_server
from tests.support.mcp_world import Watch, listed_by, running


async def test_calls_carry_the_headers_and_new_tools_are_listed_when_the_server_says_so() -> None:
    watch, port = Watch(), free_port()
    config = http_config("modern", port, {"x-key": "secret"})
    async with modern_server(port), running(config, watch=watch) as servers:
        assert (await servers.call("modern", "add", {"a": 2, "b": 3})).structured == {"result": 5}
        assert (await servers.call("modern", "header", {})).structured == {"result": "secret"}
        await servers.call("modern", "grow", {})
        await watch.until(lambda health: health.tools == 5)
        assert "modern__add_again" in [tool.shown_name for tool in listed_by(servers)]

    assert "secret" not in repr(config)


async def test_five_megabytes_are_cut_and_more_than_sixteen_are_an_error_of_the_call() -> None:
    watch, port = Watch(), free_port()
    async with modern_server(port), running(http_config("modern", port), watch=watch) as servers:
        output = await servers.call("modern", "much", {"mega": 5})
        with pytest.raises(ToolServerFailed, match="before it had answered"):
            await servers.call("modern", "much", {"mega": 17})
        await watch.until(lambda health: health.state is ServerState.READY and health.starts == 2)
        assert (await servers.call("modern", "add", {"a": 2, "b": 3})).structured == {"result": 5}

    assert len(output.text) == 50_000
    assert output.truncated
    assert "sent a message that is too long" in [health.reason for health in watch.seen]


async def test_a_server_that_cannot_be_reached_is_said_and_found_when_it_comes() -> None:
    watch, port = Watch(), free_port()
    async with running(http_config("modern", port), watch=watch) as servers:
        assert servers.health()[0].state is not ServerState.READY
        assert watch.seen[1].reason == f"cannot be reached at http://127.0.0.1:{port}"
        async with modern_server(port):
            await watch.until(lambda health: health.state is ServerState.READY)
            assert (await servers.call("modern", "add", {"a": 1, "b": 1})).structured == {"result": 2}
