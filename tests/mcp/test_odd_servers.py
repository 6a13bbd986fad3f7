"""A fault of a server makes one call or one tool fail, and nothing else."""

import asyncio
import os

import pytest

from proviso_service.mcp.connecting import connect
from proviso_service.mcp.model import ServerState, StdioTransport, ToolServerFailed
from proviso_service.mcp.servers import McpServers
from proviso_service.mcp.stdio import stdio_streams
from tests.support.mcp_world import Watch, listed_by, odd, running
from tests.support.processes import children_of, ended


async def test_odd_schemas_are_mended_or_refused_with_a_reason_and_the_others_offered() -> None:
    async with running(odd()) as servers:
        health = servers.health()[0]
        offered = {tool.name: tool for tool in listed_by(servers)}

    assert health.state is ServerState.READY
    reasons = {refused.name: refused.reason for refused in health.refused}
    assert set(reasons) == {"elsewhere", "a list", "huge", "no schema", "wrong"}
    assert "not a place inside it" in reasons["elsewhere"]
    assert "object of named arguments" in reasons["a list"]
    assert "longer than" in reasons["huge"]
    assert "not a JSON schema" in reasons["wrong"]
    assert offered["nothing said"].shown_schema == {"type": "object", "properties": {}}
    assert offered["nothing said"].shown_name.startswith("odd__nothing_said_")
    assert "$ref" not in str(offered["tree"].shown_schema)
    assert len(offered) + len(reasons) == 23
    assert {name for name, tool in offered.items() if tool.is_repeatable} == {"die once reading", "die once the same"}


async def test_a_server_that_dies_in_the_middle_of_a_call_fails_that_call_and_is_started_again() -> None:
    watch = Watch()
    async with running(odd(), watch=watch) as servers:
        first = (await servers.call("odd", "pid", {})).text
        with pytest.raises(ToolServerFailed, match="'odd' was ended by signal 9 before it had answered"):
            await servers.call("odd", "die", {})
        again = await watch.until(lambda h: h.state is ServerState.READY and h.starts == 2)
        second = (await servers.call("odd", "pid", {})).text

    assert first != second
    assert again.tools == 18
    failed = next(health for health in watch.seen if health.state is ServerState.FAILED)
    assert failed.reason == "was ended by signal 9"


async def test_the_calls_that_wait_beside_the_one_that_kills_the_server_fail_too() -> None:
    async with running(odd()) as servers:
        calls = (servers.call("odd", name, {}) for name in ("die", "echo", "echo"))
        results = await asyncio.gather(*calls, return_exceptions=True)

    assert [type(result) for result in results] == [ToolServerFailed] * 3


async def test_a_slow_call_ends_at_its_limit_and_the_session_goes_on() -> None:
    async with running(odd(timeout_s=0.3)) as servers:
        with pytest.raises(ToolServerFailed, match=r"did not answer within 0.3 seconds") as caught:
            await servers.call("odd", "sleep", {})
        starts = servers.health()[0].starts

    assert starts == 1
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None  # a timeout there would have the call made again


async def test_a_server_that_does_not_start_in_time_delays_nobody_and_says_so() -> None:
    watch = Watch()
    mute = odd("mute", os.devnull, start_timeout_s=0.3)
    async with running(mute, odd("other"), watch=watch) as servers:
        mute_health, other = servers.health()
        with pytest.raises(ToolServerFailed, match="'mute' is not available"):
            await servers.call("mute", "echo", {})

    assert other.state is ServerState.READY
    assert mute_health.state is not ServerState.READY
    failed = next(health for health in watch.seen if health.name == "mute" and health.reason)
    assert failed.reason == "did not start within 0.3 seconds"


async def test_five_megabytes_are_cut_to_the_limit_and_sixteen_end_the_session() -> None:
    watch = Watch()
    async with running(odd(max_output_chars=1_000), watch=watch) as servers:
        output = await servers.call("odd", "much", {"mega": 5})
        with pytest.raises(ToolServerFailed, match="sent a message that is too long"):
            await servers.call("odd", "much", {"mega": 17})
        await watch.until(lambda h: h.state is ServerState.READY and h.starts == 2)

    assert output.text == "x" * 1_000
    assert output.truncated


async def test_what_is_no_text_is_said_in_words() -> None:
    async with running(odd()) as servers:
        output = await servers.call("odd", "pictures", {})

    assert output.text == (
        "Two pages.\n\n[An image of type image/png, 3 KB: it cannot be shown.]\n\n"
        "[A sound of type audio/wav, 3 bytes: it cannot be shown.]\n\n[A link to plan: file:///plan.pdf]\n\n"
        "[From memo://1]\nthe memo\n\n[A file memo://2 of type application/zip, 3 bytes: it cannot be shown.]"
    )


async def test_a_typed_answer_is_given_once() -> None:
    async with running(odd()) as servers:
        output = await servers.call("odd", "typed", {})

    assert output.structured == {"count": 2}
    assert output.text == ""


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("refuse", "'odd' did not carry out the call: the date is not a date."),
        ("nonsense", "'odd' did not carry out the call: its answer is not in the protocol's form."),
    ],
)
async def test_a_call_that_the_server_refuses_is_told_in_words(tool: str, said: str) -> None:
    async with running(odd()) as servers:
        with pytest.raises(ToolServerFailed) as caught:
            await servers.call("odd", tool, {})
        output = await servers.call("odd", "echo", {"text": "still here"})

    assert str(caught.value).endswith(said)
    assert output.text == '{"text": "still here"}'


async def test_a_tool_that_says_that_it_failed_is_an_answer_of_the_server() -> None:
    async with running(odd()) as servers:
        output = await servers.call("odd", "fail", {})

    assert (output.is_error, output.text) == (True, "no such clause")


async def test_a_server_that_asks_for_a_model_is_refused_and_answers_all_the_same() -> None:
    async with running(odd()) as servers:
        assert (await servers.call("odd", "ask", {})).text == "{}"


async def test_new_tools_are_listed_when_the_server_says_so() -> None:
    watch = Watch()
    async with running(odd(), watch=watch) as servers:
        await servers.call("odd", "grow", {})
        await watch.until(lambda health: health.tools == 19)
        names = [tool.shown_name for tool in listed_by(servers)]

    assert "odd__new" in names


async def test_no_process_is_left_when_the_servers_stop_even_in_the_middle_of_a_call() -> None:
    before = children_of(os.getpid())
    tasks = asyncio.all_tasks()
    async with running(odd("one"), odd("two")) as servers:
        started = children_of(os.getpid()) - before
        call = asyncio.create_task(servers.call("one", "sleep", {}))
        await asyncio.wait([call], timeout=0.05)

    assert len(started) == 2
    await ended(started)
    with pytest.raises(ToolServerFailed):
        await call
    assert asyncio.all_tasks() == tasks


async def test_starting_waits_for_nobody_and_stopping_ends_what_is_still_starting() -> None:
    servers = McpServers(connect)
    servers.apply([odd("mute", os.devnull)])
    assert servers.health()[0].state is ServerState.STARTING
    assert listed_by(servers) == ()
    await servers.stop()


async def test_a_process_is_killed_where_the_wait_for_its_end_is_cancelled() -> None:
    """As by the limit of a start that passes while the service stops."""
    deaf, started = odd("deaf", os.devnull), asyncio.Event()

    async def session() -> None:
        assert isinstance(deaf.transport, StdioTransport)
        async with stdio_streams(deaf, deaf.transport, 1_000, lambda _: None):
            started.set()
            await asyncio.Event().wait()

    running_before = children_of(os.getpid())
    task = asyncio.create_task(session())
    await started.wait()
    process = children_of(os.getpid()) - running_before
    for _ in range(2):
        task.cancel()
        await asyncio.wait([task], timeout=0)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(process) == 1
    await ended(process)


async def test_a_server_switched_off_is_never_started() -> None:
    before = children_of(os.getpid())
    async with running(odd(enabled=False)) as servers:
        assert servers.health()[0].state is ServerState.DISABLED
        assert children_of(os.getpid()) == before
        with pytest.raises(ToolServerFailed, match="is switched off"):
            await servers.call("odd", "echo", {})


async def test_what_a_process_says_as_it_dies_goes_to_the_log_without_its_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with running(odd()) as servers:
        with pytest.raises(ToolServerFailed):
            await servers.call("odd", "die", {})

    lines = [record.getMessage() for record in caplog.records if "mcp_server_stderr" in record.getMessage()]
    assert len(lines) == 1
    assert "the password is ***" in lines[0]
