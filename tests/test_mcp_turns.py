"""Turns whose model calls tools of MCP servers, in the whole service: chosen, called, lost in the middle, approved."""

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import pytest

from proviso_client.v1 import catalog_pb2, chat_pb2, context_pb2, sessions_pb2, turns_pb2
from proviso_client.v1.errors_pb2 import FailureCause
from proviso_service.mcp.listing import shown_name
from proviso_service.mcp.model import ServerState
from tests.support.agent_servers import MUTE, CatalogView, odd_server, with_servers
from tests.support.http_servers import everything_server, free_port
from tests.support.mcp_packages import everything_server as everything_script
from tests.support.mcp_packages import time_server
from tests.support.running import RunningService, chat_request, final_of, running_service, text_of
from tests.support.scripted_model import Call, Step, calls, text

ALWAYS, MANUAL, AGENT = (
    context_pb2.INCLUDE_MODE_ALWAYS,
    context_pb2.INCLUDE_MODE_MANUAL,
    context_pb2.INCLUDE_MODE_AGENT,
)
ONCE = turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE
FOR_SESSION = turns_pb2.TOOL_CALL_DECISION_APPROVE_FOR_SESSION
SUM, ECHO, LONG = "get-sum", "echo", "trigger-long-running-operation"
WHICH_TIME = "What is the current time in the timezone of Tokyo?"
NOW_CALL = Call("time__get_current_time", '{"timezone": "Asia/Tokyo"}')
LONG_CALL = Call(f"everything__{LONG}", '{"duration": 60, "steps": 1}')
SAID = text("You are welcome.")
SORRY = text("I could not look at that.")
WAIT_S = 60


@asynccontextmanager
async def service(folder: Path, models_dir: Path, *script: Step, **servers: Any) -> AsyncIterator[RunningService]:
    """With an agent of these servers, all of which are ready but those that never say a word."""
    agent = with_servers(folder / "agent", servers)
    async with running_service(folder / "data", models_dir, *script, agent_dir=agent) as running:
        for name, fields in servers.items():
            if fields.get("args") != list(MUTE):
                await CatalogView(running.channel).until_state(name, ServerState.READY)
        yield running


def over_http(port: int, **settings: Any) -> dict[str, Any]:
    return {"url": f"http://127.0.0.1:{port}/mcp", **settings}


def tool(server: str, name: str) -> context_pb2.ContextItemRef:
    return context_pb2.ContextItemRef(type=context_pb2.CONTEXT_ITEM_TYPE_TOOL, name=name, server_name=server)


async def add(running: RunningService, session_id: str, ref: context_pb2.ContextItemRef) -> None:
    request = sessions_pb2.AddContextItemRequest(session_id=session_id, item=ref)
    await running.sessions.AddContextItem(request)


def given_tools(context: context_pb2.RequestContext) -> dict[str, context_pb2.RequestContextItem]:
    """Tools of MCP servers that the model was given, by `server:name`."""
    others = [item for item in context.items if item.server_name not in ("", "proviso")]
    return {f"{item.server_name}:{item.name}": item for item in others if not item.note}


def ends(events: list[chat_pb2.AgentEvent]) -> list[chat_pb2.ToolEnd]:
    """Each has a start, whose server its model's name for the tool begins with."""
    starts = {event.tool_start.call_id: event.tool_start for event in events if event.HasField("tool_start")}
    found = [event.tool_end for event in events if event.HasField("tool_end")]
    assert [starts[end.call_id].server_name for end in found] == [end.tool.split("__")[0] for end in found]
    assert len(starts) == len(found)
    return found


def completed(events: list[chat_pb2.AgentEvent]) -> chat_pb2.FinalState:
    final = final_of(events)
    assert (final.exit_reason, final.context_problem) == (turns_pb2.EXIT_REASON_COMPLETED, 0)
    return final


class Asked:
    """A turn whose events are read as far as is wanted."""

    def __init__(self, events: AsyncIterable[chat_pb2.AgentEvent]) -> None:
        self._events_to_come = events
        self.events: list[chat_pb2.AgentEvent] = []

    @classmethod
    def now(cls, running: RunningService, message: str, **fields: Any) -> Self:
        return cls(running.chat.Chat(chat_request(message, **fields)))

    @classmethod
    def after(cls, running: RunningService, event: chat_pb2.AgentEvent) -> Self:
        """The turn of the event, from there on."""
        request = chat_pb2.ResumeChatRequest(turn_id=event.turn_id, after_sequence=event.sequence)
        return cls(running.chat.ResumeChat(request))

    async def until(self, *kinds: str) -> chat_pb2.AgentEvent:
        """The next event of one of these kinds."""
        async with asyncio.timeout(WAIT_S):
            async for event in self._events_to_come:
                self.events.append(event)
                if event.WhichOneof("event") in kinds:
                    return event
        raise AssertionError(f"no {kinds}")

    async def rest(self) -> list[chat_pb2.AgentEvent]:
        await self.until("final_state")
        return self.events


async def test_a_turn_calls_tools_of_servers_over_both_transports_and_says_how_each_came_in(
    tmp_path: Path, models_dir: Path
) -> None:
    port = free_port()
    add_up = Call(f"everything__{SUM}", '{"a": 2, "b": 3}')
    servers = {
        "time": {"command": str(time_server()), "include": "agent"},
        "everything": over_http(port, include="manual", tools={ECHO: {"include": "always"}}),
    }
    script = [calls(NOW_CALL, add_up), SAID, SORRY]
    async with (
        everything_server(everything_script(), port),
        service(tmp_path, models_dir, *script, **servers) as running,
    ):
        view = CatalogView(running.channel)
        await running.sessions.CreateSession(sessions_pb2.CreateSessionRequest(session_id="s"))
        await add(running, "s", tool("everything", SUM))

        asked = Asked.now(running, WHICH_TIME, session_id="s")  # of no matter
        await asked.until("tool_start")
        listed = await view.servers()
        events = await asked.rest()

        with_servers(tmp_path / "agent", {"time": servers["time"]})
        await view.reload()
        session = (await running.sessions.GetSession(sessions_pb2.GetSessionRequest(session_id="s"))).session
        later = completed(await running.ask(WHICH_TIME, session_id="s", options={"disable_cache": True}))

    final = completed(events)
    assert final.message == text_of(events) == SAID.tokens[0]
    now, total = ends(events)
    assert (now.error, total.error) == ("", "")
    assert "Asia/Tokyo" in now.output
    assert "The sum of 2 and 3 is 5." in total.output
    assert [(call.server_name, call.tool) for call in final.tool_call_records] == [
        ("time", "get_current_time"),
        ("everything", SUM),
    ]

    given = given_tools(final.request_context)
    assert given.keys() - {"time:convert_time"} == {"time:get_current_time", f"everything:{SUM}", f"everything:{ECHO}"}
    assert given["time:get_current_time"].include_mode == AGENT
    assert 0.41 <= given["time:get_current_time"].similarity_score <= 1
    assert given[f"everything:{SUM}"].include_mode == MANUAL
    assert given[f"everything:{ECHO}"].include_mode == ALWAYS
    assert not given[f"everything:{SUM}"].HasField("similarity_score")
    assert {name for name, item in given.items() if item.cited} == {"time:get_current_time", f"everything:{SUM}"}
    assert not [omitted for omitted in final.request_context.omitted if omitted.item.server_name == "everything"]

    assert listed.keys() == {"proviso", "time", "everything"}
    assert {server.state for server in listed.values()} == {catalog_pb2.TOOL_SERVER_STATE_READY}

    gone = {(item.item.name, item.missing) for item in session.items if item.item.server_name == "everything"}
    assert gone == {(SUM, True), (ECHO, True)}
    assert given_tools(later.request_context).keys() == {name for name in given if name.startswith("time:")}
    missing = [item for item in later.request_context.items if item.server_name == "everything"]
    assert {(item.missing, item.note) for item in missing} == {(True, "the catalog does not have it")}


async def test_a_server_killed_in_the_middle_of_a_call_over_http_is_a_tool_error_and_the_turn_goes_on(
    tmp_path: Path, models_dir: Path
) -> None:
    port = free_port()
    async with (
        everything_server(everything_script(), port) as process,
        service(tmp_path, models_dir, calls(LONG_CALL), SORRY, everything=over_http(port)) as running,
    ):
        asked = Asked.now(running, "Take your time.", session_id="s")
        await asked.until("tool_start")
        process.kill()
        events = await asked.rest()
        failed = await CatalogView(running.channel).until_state("everything", ServerState.FAILED)
    final = completed(events)
    [end] = ends(events)
    assert end.error.startswith("The server 'everything' ")  # read-only, so it was asked again
    assert final.message == SORRY.tokens[0]
    assert failed.reason


@pytest.mark.parametrize(("name", "carried_out"), [("die once", 1), ("die once reading", 2), ("die once the same", 2)])
async def test_a_call_is_made_again_only_where_its_server_says_that_this_does_no_harm(
    tmp_path: Path, models_dir: Path, name: str, carried_out: int
) -> None:
    mark = tmp_path / "mark"
    call = Call(shown_name("odd", name), json.dumps({"mark": str(mark)}))
    async with service(tmp_path, models_dir, calls(call), SORRY, odd=odd_server()) as running:
        [end] = ends(await running.ask("Do it.", session_id="s"))
    assert len(mark.read_text()) == carried_out
    assert bool(end.error) is (carried_out == 1)


async def test_a_call_that_finds_its_server_away_is_made_when_it_is_back(tmp_path: Path, models_dir: Path) -> None:
    script = [calls(Call("odd__die")), SORRY, calls(Call("odd__pid")), SORRY]
    async with service(tmp_path, models_dir, *script, odd=odd_server()) as running:
        [died] = ends(await running.ask("Go.", session_id="s"))
        [asked] = ends(await running.ask("Again.", session_id="s"))
    assert died.error == "The server 'odd' was ended by signal 9 before it had answered."
    assert (asked.error, int(json.loads(asked.output)["text"]) > 0) == ("", True)


async def test_odd_servers_give_tool_errors_or_cut_results_and_never_a_failed_turn(
    tmp_path: Path, models_dir: Path
) -> None:
    tree = Call("odd__tree", '{"root": {"label": "a", "next": {"label": "b"}}}')
    script = [
        *(calls(Call("doomed__die")), SORRY),
        *(calls(Call("slow__sleep")), SORRY),
        *(calls(Call("odd__much", '{"mega": 5}')), SAID),
        *(calls(Call("odd__tree", '{"root": {}}')), calls(tree), SAID),
        *(calls(Call("odd__fail"), Call("odd__refuse"), Call("odd__nonsense")), SORRY),
    ]
    servers = {"doomed": odd_server(), "slow": odd_server(timeout_s=0.3), "odd": odd_server()}
    async with service(tmp_path, models_dir, *script, **servers) as running:
        turns = [await running.ask(f"What is there, in {number}?", session_id=f"s{number}") for number in range(5)]
        again = await CatalogView(running.channel).until_state("doomed", ServerState.READY, starts=2)
    for events in turns:
        completed(events)
    (died,), (slow,), (much,), (grown,), odd = map(ends, turns)
    assert died.error == "The server 'doomed' was ended by signal 9 before it had answered."
    assert slow.error == "The server 'slow' did not answer within 0.3 seconds."
    causes = [FailureCause.Name(end.failure_cause).removeprefix("FAILURE_CAUSE_") for end in (died, slow, much, odd[1])]
    assert causes == ["PROVIDER_AWAY", "TIMED_OUT", "UNSPECIFIED", "FAILED"]
    assert (much.error, much.truncated) == ("", True)
    assert 1_000 < len(much.output) <= 2_500
    assert len(much.output_json) < 60_000
    assert json.loads(json.loads(grown.output)["text"]) == json.loads(tree.args)
    assert [end.error for end in odd] == [
        "The tool 'fail' of 'odd' failed: no such clause",
        "The server 'odd' did not carry out the call: the date is not a date.",
        "The server 'odd' did not carry out the call: its answer is not in the protocol's form.",
    ]
    given = given_tools(final_of(turns[2]).request_context)
    assert {"odd:tree", "odd:either"} <= given.keys()
    assert not {"odd:elsewhere", "odd:a list", "odd:huge"} & given.keys()
    assert again.starts == 2


async def test_a_tool_that_needs_approval_is_called_once_it_is_given(tmp_path: Path, models_dir: Path) -> None:
    echo = calls(Call("odd__echo", '{"text": "hello"}'))
    marked = odd_server(tools={"echo": {"approval": "required"}})
    async with service(tmp_path, models_dir, echo, SAID, odd=marked) as running:
        asked = Asked.now(running, "Say hello.", session_id="s")
        wanted = await asked.until("approval_required")
        await decide(running, wanted)
        events = await asked.rest()
    approval = wanted.approval_required
    assert (approval.server_name, approval.tool, json.loads(approval.input_json)) == (
        "odd",
        "odd__echo",
        {"text": "hello"},
    )
    completed(events)
    [end] = ends(events)
    assert (end.error, json.loads(json.loads(end.output)["text"])) == ("", {"text": "hello"})


async def test_an_approval_for_the_session_ends_when_the_tool_or_its_server_becomes_another_one(
    tmp_path: Path, models_dir: Path
) -> None:
    echo, grow = calls(Call("odd__echo", '{"text": "hello"}')), calls(Call("odd__grow", "{}"))
    script = [echo, SAID, echo, SAID, grow, SAID, echo, SAID, echo, SAID]
    marked = odd_server(tools={"echo": {"approval": "required"}})
    async with service(tmp_path, models_dir, *script, odd=marked) as running:
        view = CatalogView(running.channel)

        async def is_asked(message: str) -> bool:
            """Whether a turn of the session asks about its call; if so it is approved for the session."""
            asked = Asked.now(running, message, session_id="s", options={"disable_cache": True})
            event = await asked.until("approval_required", "tool_end")
            if is_question := event.HasField("approval_required"):
                await decide(running, event, FOR_SESSION)
            events = await asked.rest()
            completed(events)
            assert [end.error for end in ends(events)] == [""]
            return is_question

        async def approved() -> list[str]:
            session = await running.sessions.GetSession(sessions_pb2.GetSessionRequest(session_id="s"))
            return [tool.name for tool in session.session.approved_tools]

        assert await is_asked("Say hello.")
        assert not await is_asked("Say hello again.")
        assert await approved() == ["echo"]

        before = (await view.servers())["odd"].tool_count
        assert not await is_asked("Grow.")  # the server describes the tool in other words from then on
        await view.until("odd", lambda server: server.tool_count > before)
        assert await approved() == []
        assert await is_asked("Say hello once more.")
        assert await approved() == ["echo"]

        with_servers(tmp_path / "agent", {"odd": marked | {"env": {"ELSEWHERE": "1"}}})
        await view.reload()
        await view.until_state("odd", ServerState.READY)
        assert await approved() == []
        assert await is_asked("And again.")


async def decide(
    running: RunningService, asked: chat_pb2.AgentEvent, decision: turns_pb2.ToolCallDecision = ONCE
) -> None:
    call_id = asked.approval_required.call_id
    request = chat_pb2.DecideToolCallRequest(turn_id=asked.turn_id, call_id=call_id, decision=decision)
    await running.chat.DecideToolCall(request)


async def test_a_tool_needs_approval_too_while_its_server_has_not_listed_it_after_a_restart(
    tmp_path: Path, models_dir: Path
) -> None:
    echo, required = calls(Call("odd__echo", '{"text": "hello"}')), {"approval": "required"}
    async with service(tmp_path, models_dir, echo, odd=odd_server(**required)) as running:
        first = await Asked.now(running, "Say hello.", session_id="s").until("approval_required")
    async with service(tmp_path, models_dir, echo, SORRY, odd=odd_server(*MUTE, **required)) as running:
        resumed = Asked.after(running, first)
        await decide(running, first)
        second = await resumed.until("approval_required")
        await decide(running, second)
        events = await resumed.rest()
    assert second.approval_required.call_id != first.approval_required.call_id
    failed = [event.tool_end.error for event in events if event.HasField("tool_end")]
    assert failed == ["The tool 'echo' is not available: its server 'odd' does not list it."] * 2
    assert events[-1].final_state.exit_reason == turns_pb2.EXIT_REASON_COMPLETED


async def test_a_turn_keeps_its_context_while_the_catalog_and_its_session_change(
    tmp_path: Path, models_dir: Path
) -> None:
    echo, changed = Call("odd__echo", '{"text": "hello"}'), asyncio.Event()
    script = [calls(echo), Step(calls=[echo], hold=changed), SAID]
    servers = {"odd": odd_server(tools={"pid": {"include": "manual"}})}
    async with service(tmp_path, models_dir, *script, **servers) as running:
        asked = Asked.now(running, "Say hello twice.", session_id="s")
        await asked.until("tool_end")
        await add(running, "s", tool("odd", "pid"))
        with_servers(tmp_path / "agent", {})
        await CatalogView(running.channel).reload()
        changed.set()
        events = await asked.rest()
        session = (await running.sessions.GetSession(sessions_pb2.GetSessionRequest(session_id="s"))).session
        turn = sessions_pb2.RebuildRequestRequest(turn_id=events[0].turn_id)
        rebuilt = await running.sessions.RebuildRequest(turn)
    final = completed(events)
    assert [end.error for end in ends(events)] == ["", "There is no server 'odd'."]
    begun = given_tools(events[0].turn_start.request_context)
    assert given_tools(final.request_context).keys() == begun.keys()
    assert "odd:echo" in begun
    assert "odd:pid" not in begun
    assert ("pid", MANUAL, True) in {(item.item.name, item.include_mode, item.missing) for item in session.items}
    assert rebuilt.matches
    assert {(d.item.name, d.change) for d in rebuilt.differences} == {
        (item.name, sessions_pb2.ITEM_CHANGE_MISSING) for item in begun.values()
    }
