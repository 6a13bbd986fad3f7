"""Tool calls that persons decide on, as the agent sees them."""

import asyncio
import json
import traceback
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from proviso_service.agent import suspension
from proviso_service.agent.approvals import NOT_ASKED_AGAIN
from proviso_service.context.model import MatterContext
from proviso_service.images.image import Image
from proviso_service.turns import (
    ApprovalRequired,
    Decision,
    ExitCause,
    ExitReason,
    MessageRole,
    SuspensionUnreadable,
    Token,
    ToolEnd,
    ToolStart,
    TurnOptions,
    TurnOutcome,
    TurnRequest,
)
from tests.agent.decided_calls import CALL, DENIED, GROUNDED, SEND, SORRY, Send, outcomes
from tests.support.agent_world import (
    LOOKUP,
    MATTER_ID,
    AgentWorld,
    KnownImages,
    Lookup,
    agent_world,
)
from tests.support.scripted_model import Call, Step, calls, text

EXPIRED = "Nobody decided on this call in time."


def tool_messages(world: AgentWorld, payload: int) -> list[dict[str, Any]]:
    return [json.loads(str(m.content)) for m in world.model.payloads[payload] if isinstance(m, ToolMessage)]


async def test_a_tool_that_is_not_marked_is_called_without_asking() -> None:
    world = agent_world(calls(CALL), GROUNDED)
    outcome = await world.run("Which law?")
    assert not world.persons.asked
    assert [m.role for m in outcome.new_messages] == [MessageRole.USER, MessageRole.ASSISTANT]


@pytest.mark.parametrize("decision", [Decision.APPROVE_ONCE, Decision.APPROVE_FOR_SESSION])
async def test_an_approved_call_is_made(decision: Decision) -> None:
    world = agent_world(calls(CALL), GROUNDED, decisions={"lookup": decision})
    outcome = await world.run("Which law?")
    (asked,) = world.persons.asked
    assert (asked.tool, asked.ref, json.loads(asked.input_json)) == ("lookup", LOOKUP, {"query": "law"})
    assert outcomes(world) == [("lookup", "")]
    assert outcome.final_state.exit_reason is ExitReason.COMPLETED
    assert outcome.final_state.tool_calls == 1


@pytest.mark.parametrize(("decision", "error"), [(Decision.DENY, DENIED), (None, EXPIRED)], ids=["denied", "expired"])
async def test_a_refused_call_is_told_to_the_reader_and_to_the_model_and_does_not_count(
    decision: Decision | None, error: str
) -> None:
    tool = Lookup()
    world = agent_world(calls(CALL), SORRY, tools=[tool], decisions={"lookup": decision})
    outcome = await world.run("Which law?")
    assert not tool.args_seen
    assert [type(event) for event in world.events[1:3]] == [ToolStart, ToolEnd]
    assert outcomes(world) == [("lookup", error)]
    (told,) = tool_messages(world, 1)
    assert told["error"] == error
    assert "Go on without it" in told["hint"]
    assert (outcome.final_state.exit_reason, outcome.final_state.tool_calls) == (ExitReason.COMPLETED, 0)


def lookups(*queries: str) -> list[Step]:
    return [calls(Call("lookup", json.dumps({"query": query}))) for query in queries]


@pytest.mark.parametrize("decision", [Decision.DENY, None], ids=["denied", "expired"])
async def test_a_refused_call_is_not_asked_about_again_and_the_model_is_told(decision: Decision | None) -> None:
    world = agent_world(*lookups("law", "law"), SORRY, decisions={"lookup": decision})
    outcome = await world.run("Which law?")
    assert len(world.persons.asked) == 1
    assert outcomes(world)[1] == ("lookup", NOT_ASKED_AGAIN)
    assert tool_messages(world, 2)[-1]["error"] == NOT_ASKED_AGAIN
    assert [message.role for message in outcome.new_messages].count(MessageRole.APPROVAL) == 1
    assert outcome.new_messages[1].content.count("\n") == 0
    assert outcome.final_state.tool_calls == 0
    items = outcome.final_state.request_context.items if outcome.final_state.request_context else ()
    assert not any(item.cited for item in items)


async def test_a_tool_that_was_refused_twice_is_not_asked_about_with_other_arguments() -> None:
    world = agent_world(*lookups("law", "courts", "venue", "forum"), SORRY, decisions={"lookup": Decision.DENY})
    final = (await world.run("Which law?")).final_state
    assert [json.loads(call.input_json)["query"] for call in world.persons.asked] == ["law", "courts"]
    assert [record.error for record in final.tool_call_records] == [DENIED, DENIED, NOT_ASKED_AGAIN, NOT_ASKED_AGAIN]
    assert final.exit_reason is ExitReason.COMPLETED


async def test_a_refusal_of_one_tool_says_nothing_about_another() -> None:
    send = Send()
    world = agent_world(
        calls(SEND), calls(CALL), GROUNDED, tools=[Lookup(), send],
        decisions={"send": Decision.DENY, "lookup": Decision.APPROVE_ONCE},
    )  # fmt: skip
    await world.run("Which law?")
    assert [call.tool for call in world.persons.asked] == ["send", "lookup"]
    assert outcomes(world) == [("send", DENIED), ("lookup", "")]


async def test_a_refusal_is_known_after_a_restart() -> None:
    world = agent_world(
        calls(CALL), calls(SEND), SORRY, tools=[Lookup(), Send()],
        decisions={"lookup": Decision.DENY, "send": Decision.APPROVE_ONCE},
    )  # fmt: skip
    await world.run("Which law?")
    again, _ = await resumed(world, calls(CALL), SORRY, tools=[Lookup(), Send()])
    assert [call.tool for call in again.persons.asked] == ["send"]
    assert ("lookup", NOT_ASKED_AGAIN) in outcomes(again)


async def test_of_two_calls_only_the_marked_one_is_asked_about() -> None:
    send = Send()
    world = agent_world(calls(CALL, SEND), GROUNDED, tools=[Lookup(), send], decisions={"send": Decision.DENY})
    final = (await world.run("Which law?")).final_state
    assert [call.tool for call in world.persons.asked] == ["send"]
    assert sorted(outcomes(world)) == [("lookup", ""), ("send", DENIED)]
    assert not send.args_seen
    assert final.tool_calls == 1


async def test_only_calls_within_the_limit_are_asked_about() -> None:
    world = agent_world(calls(CALL, CALL), GROUNDED, decisions={"lookup": Decision.APPROVE_ONCE})
    final = (await world.run("Which law?", options=TurnOptions(max_tool_calls=1))).final_state
    assert len(world.persons.asked) == 1
    assert final.exit_reason is ExitReason.MAX_TOOL_CALLS_REACHED


async def test_calls_that_cannot_be_made_are_not_asked_about() -> None:
    world = agent_world(calls(Call("lookup", "{}")), calls(CALL), GROUNDED, decisions={"lookup": Decision.APPROVE_ONCE})
    await world.run("Which law?")
    assert [call.input_json for call in world.persons.asked] == ['{"query":"law"}']


async def test_an_approval_for_the_session_covers_the_rest_of_a_turn_without_one() -> None:
    world = agent_world(calls(CALL), calls(CALL), GROUNDED, decisions={"lookup": Decision.APPROVE_FOR_SESSION})
    await world.run("Which law?")
    assert len(world.persons.asked) == 1
    assert outcomes(world) == [("lookup", "")] * 2


async def test_an_approval_for_once_does_not_cover_the_next_call() -> None:
    world = agent_world(calls(CALL), calls(CALL), GROUNDED, decisions={"lookup": Decision.APPROVE_ONCE})
    await world.run("Which law?")
    assert len(world.persons.asked) == 2


async def test_decisions_are_kept_in_words_between_the_message_and_the_answer() -> None:
    decisions = {"lookup": Decision.APPROVE_ONCE, "send": None}
    world = agent_world(calls(CALL, SEND), GROUNDED, tools=[Lookup(), Send()], decisions=decisions)
    outcome = await world.run("Which law?", session_id="s")
    roles = [message.role for message in outcome.new_messages]
    assert roles == [MessageRole.USER, MessageRole.APPROVAL, MessageRole.ASSISTANT]
    assert outcome.new_messages[1].content == "Approved once: proviso:lookup\nNot decided in time: proviso:send"
    assert [message.role for message in outcome.final_state.messages] == [MessageRole.USER, MessageRole.ASSISTANT]


async def test_a_turn_that_is_ended_while_it_waits_keeps_what_was_decided_so_far() -> None:
    decisions = {"lookup": Decision.APPROVE_ONCE, "send": None}
    world = agent_world(calls(CALL, SEND), GROUNDED, tools=[Lookup(), Send()], decisions=decisions)
    world.persons.decided = asyncio.Event()
    execution = world.agent.start(world.turn(TurnRequest("Which law?", MatterContext(MATTER_ID))))
    running = asyncio.create_task(execution.run())
    await world.persons.busy.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    for _ in range(2):  # again, where the first outcome could not be stored
        outcome = execution.interrupted(ExitReason.CANCELLED, ExitCause.CANCELLED_BY_CALLER)
        kept = [(message.role, message.content) for message in outcome.new_messages]
        assert kept == [(MessageRole.USER, "Which law?"), (MessageRole.APPROVAL, "Approved once: proviso:lookup")]


async def test_a_turn_goes_on_from_its_state_to_the_same_answer() -> None:
    steps = (calls(CALL), calls(CALL, SEND), GROUNDED)
    decisions = {"send": Decision.APPROVE_ONCE}
    world = agent_world(*steps, tools=[Lookup(), Send()], decisions=decisions)
    whole = await world.run("Which law?")
    (state,) = world.persons.states
    before = list(world.events)

    again = agent_world(GROUNDED, tools=[Lookup(), Send()], decisions=decisions)
    request = TurnRequest("Which law?", matter_context=whole.matter_context)
    execution = await again.agent.resume(again.turn(request), state)
    resumed = await execution.run()

    asked_at = next(n for n, event in enumerate(before) if isinstance(event, ToolStart) and event.call_id == "call-2-0")
    assert [type(event) for event in again.events] == [type(event) for event in before[asked_at:]]
    assert again.model.payloads[0] == world.model.payloads[2]
    assert again.persons.asked == world.persons.asked
    assert not any(isinstance(event, ApprovalRequired) for event in again.events), "the engine emits these"
    ends = [outcome.final_state for outcome in (whole, resumed)]
    assert ends[0].message == ends[1].message
    assert ends[0].citations == ends[1].citations
    assert (ends[1].cycles, ends[1].tool_calls, ends[1].usage.model_calls) == (3, 3, 3)
    assert ends[1].request_context == ends[0].request_context
    assert resumed.update_matter_context == whole.update_matter_context


async def test_a_resumed_turn_asks_what_it_asked_before_whatever_the_catalog_says_by_now() -> None:
    world = agent_world(calls(CALL), SORRY, decisions={"lookup": Decision.APPROVE_ONCE})
    await world.run("Which law?")
    now = agent_world(SORRY)
    now.persons.decisions = {"lookup": Decision.DENY}
    request = TurnRequest("Which law?")
    execution = await now.agent.resume(now.turn(request), world.persons.states[0])
    await execution.run()
    assert outcomes(now) == [("lookup", DENIED)]


async def test_a_state_that_cannot_be_gone_on_from_is_refused() -> None:
    world = agent_world(calls(CALL), GROUNDED, decisions={"lookup": Decision.APPROVE_ONCE})
    await world.run("Which law?")
    plain = json.loads(world.persons.states[0])
    without_contents = plain | {"contents": {}}
    no_model = plain | {"memory": plain["memory"] | {"model": "one that is not set up any more"}}
    damages: list[Any] = [plain | {"version": 0}, plain | {"memory": {}}, plain | {"messages": 1}, {}, []]
    damages += [without_contents, no_model, plain | {"turns": "two"}]
    for damaged in damages:
        with pytest.raises(SuspensionUnreadable):
            await world.agent.resume(world.turn(TurnRequest("?"), turn_id="t"), json.dumps(damaged))


async def test_a_state_is_read_without_holding_up_others() -> None:
    world = agent_world(calls(CALL), GROUNDED, decisions={"lookup": Decision.APPROVE_ONCE})
    await world.run("Which law?")
    other = asyncio.create_task(asyncio.sleep(0, "was served meanwhile"))
    await world.agent.resume(world.turn(TurnRequest("?"), turn_id="t"), world.persons.states[0])
    assert other.done()


async def test_what_is_said_of_a_damaged_state_quotes_nothing_of_it() -> None:
    world = agent_world(calls(CALL), GROUNDED, decisions={"lookup": Decision.APPROVE_ONCE})
    await world.run("Which law?")
    plain = json.loads(world.persons.states[0])
    plain["memory"]["text"] = {"swordfish": "the settlement"}
    with pytest.raises(SuspensionUnreadable) as refused:
        suspension.read(json.dumps(plain))
    logged = "".join(traceback.format_exception(refused.value))
    assert "ValidationError" in logged
    assert "swordfish" not in logged


async def test_a_turn_that_is_ended_while_it_waits_after_a_restart_accounts_for_itself() -> None:
    world = agent_world(calls(CALL), GROUNDED, decisions={"lookup": Decision.APPROVE_ONCE})
    await world.run("Which law?")
    state = world.persons.states[0]
    request = TurnRequest("Which law?")
    execution = await world.agent.resume(world.turn(request), state)
    outcome = execution.interrupted(ExitReason.CANCELLED, ExitCause.CANCELLED_BY_CALLER)
    assert [message.content for message in outcome.new_messages] == ["Which law?", "Approved once: proviso:lookup"]
    assert outcome.final_state.usage.model_calls == 1


async def resumed(world: AgentWorld, *script: Step, **parts: Any) -> tuple[AgentWorld, TurnOutcome]:
    """What a turn that `world` was asked about comes to in the next life of the service."""
    again = agent_world(*script, decisions=world.persons.decisions, **parts)
    request = TurnRequest("Which law?", MatterContext(MATTER_ID))
    state = world.persons.states[-1]
    execution = await again.agent.resume(again.turn(request), state)
    return again, await execution.run()


async def test_what_the_model_was_told_of_a_wrong_call_is_known_after_a_restart() -> None:
    wrong = calls(Call("lookup", "{}"))
    world = agent_world(wrong, calls(CALL), SORRY, decisions={"lookup": Decision.APPROVE_ONCE})
    await world.run("Which law?")
    _, outcome = await resumed(world, wrong)
    assert outcome.final_state.exit_reason is ExitReason.INVALID_TOOL_CALL


async def test_images_of_the_message_are_sent_again_after_a_restart() -> None:
    image = Image("image/png", b"\x89PNG" * 1_000)
    world = agent_world(
        calls(CALL),
        SORRY,
        images=KnownImages({"https://example.com/a.png": image}),
        sees_images=True,
        decisions={"lookup": Decision.DENY},
    )
    await world.run("Which law?", image_urls=("https://example.com/a.png",))
    again, outcome = await resumed(world, text("It shows “a stamp” [Image 1]."), sees_images=True)
    assert again.model.payloads[0] == world.model.payloads[1]
    assert outcome.final_state.exit_reason is ExitReason.COMPLETED


async def test_a_retrieval_that_found_nothing_counts_after_a_restart() -> None:
    world = agent_world(calls(CALL), calls(SEND), SORRY, tools=[Lookup([]), Send()], decisions={"send": Decision.DENY})
    await world.run("Which law?")
    _, outcome = await resumed(world, text("The law of Ohio governs."), tools=[Lookup([]), Send()])
    assert outcome.final_state.exit_reason is ExitReason.LLM_GENERATION_FAILURE


async def test_the_texts_of_a_resumed_turn_have_names_of_their_own() -> None:
    world = agent_world(Step(["Let me look."], [CALL]), GROUNDED, decisions={"lookup": Decision.APPROVE_ONCE})
    await world.run("Which law?")
    again, _ = await resumed(world, GROUNDED)
    names = [{event.text_id for event in events if isinstance(event, Token)} for events in (world.events, again.events)]
    assert names == [{"text-1", "text-2"}, {"text-2"}]


async def test_sources_of_before_a_restart_are_cited_after_it() -> None:
    world = agent_world(calls(CALL), calls(SEND), SORRY, tools=[Lookup(), Send()], decisions={"send": Decision.DENY})
    await world.run("Which law?")
    _, outcome = await resumed(world, GROUNDED, tools=[Lookup([]), Send()])
    assert [citation.quote for citation in outcome.final_state.citations] == ["governed by the laws of Ohio"]
