"""Turns that may look into the documentation: when it is offered, what a turn without a matter comes to, and answers
that rest on it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from proviso_client.v1 import chat_pb2, matters_pb2, turns_pb2
from proviso_service.context.model import ItemRef, ItemType, MatterContext
from proviso_service.turns import NOT_ENOUGH_INFORMATION, ContextProblem, ExitReason, ToolEnd, TurnStart
from tests.support.agent_world import MATTER_ID, AgentWorld, Lookup, SomeDocumentation, agent_world
from tests.support.running import AGREEMENT, RunningService, final_of, running_service, text_of
from tests.support.scripted_model import Call, Step, calls, text

SENTINEL = "DOCUMENTATION_SEARCH_RESULT: EMPTY"
HANDBOOK = b"# Handbook\n\n## Holidays\n\nEveryone has thirty days of annual leave each year.\n"
ASKED = "How many days of annual leave does everyone have?"
RETRIEVE = calls(Call("retriever", '{"query": "annual leave"}'))
ANSWER = "As handbook.md says, “Everyone has thirty days of annual leave each year.” [1]"


class OwnLookup(Lookup):
    """Stands for the retriever among small tools."""

    name = "retriever"
    needs_matter = False


def world(*script: Step, tenants: tuple[str, ...] = ("local",)) -> AgentWorld:
    return agent_world(*script, tools=[Lookup(), OwnLookup()], documentation=SomeDocumentation(tenants))


def offered_in(events: list[Any]) -> set[ItemRef]:
    """The tools that the model was given, as the turn's request context lists them."""
    [started] = [event for event in events if isinstance(event, TurnStart)]
    items = started.request_context.items
    return {item.ref for item in items if item.ref.type is ItemType.TOOL and item.is_given}


@pytest.mark.parametrize(("tenants", "names"), [(("local",), ["lookup", "retriever"]), (("other",), ["lookup"])])
async def test_it_is_offered_where_the_tenant_has_documentation(tenants: tuple[str, ...], names: list[str]) -> None:
    asked = world(text("What do you mean?"), tenants=tenants)
    await asked.run(ASKED)
    assert asked.model.tools_seen == [names]
    assert offered_in(asked.events) == {ItemRef(ItemType.TOOL, name, "proviso") for name in names}


async def test_a_call_of_the_tool_where_it_is_not_offered_is_invalid() -> None:
    asked = world(RETRIEVE, text("I can't look that up."), tenants=())
    await asked.run(ASKED)
    [told] = [message for message in asked.model.payloads[1] if message.type == "tool"]
    assert told.text == '{"error": "There is no such tool. The tools are: lookup."}'


async def test_without_documentation_a_turn_without_a_matter_still_asks_for_one() -> None:
    asked = world(tenants=())
    final = (await asked.run(ASKED, matter_context=None)).final_state
    assert final.context_problem is ContextProblem.MATTER_REQUIRED
    assert not asked.model.payloads


async def test_with_documentation_it_goes_on_until_a_matter_tool_is_asked_for() -> None:
    asked = world(RETRIEVE, calls(Call("lookup", '{"query": "law"}')))
    final = (await asked.run(ASKED, matter_context=None)).final_state
    assert (final.exit_reason, final.context_problem) == (ExitReason.COMPLETED, ContextProblem.MATTER_REQUIRED)
    assert final.message.startswith("Which matter are you working with?")
    assert [event.tool for event in asked.events if isinstance(event, ToolEnd)] == ["retriever"]


async def test_a_matter_that_is_not_found_is_told_whatever_the_documentation_holds() -> None:
    asked = world()
    final = (await asked.run(ASKED, matter_context=MatterContext("documentation"))).final_state
    assert final.context_problem is ContextProblem.MATTER_NOT_FOUND


async def test_a_turn_with_a_matter_may_use_both() -> None:
    both = calls(Call("retriever", '{"query": "leave"}'), Call("lookup", '{"query": "law"}'))
    asked = world(both, text("It is governed “by the laws of Ohio” [1]."))
    final = (await asked.run(ASKED, matter_context=MatterContext(MATTER_ID))).final_state
    assert (final.exit_reason, final.tool_calls) == (ExitReason.COMPLETED, 2)
    assert [citation.matter_id for citation in final.citations] == [MATTER_ID]


@asynccontextmanager
async def documented_service(folder: Path, models_dir: Path, *script: Step) -> AsyncIterator[RunningService]:
    async with running_service(folder / "data", models_dir, *script) as service:
        await service.upload("documentation", "handbook.md", HANDBOOK)
        await service.wait_until_ready("documentation")
        yield service


def tool_ends(events: list[chat_pb2.AgentEvent]) -> list[chat_pb2.ToolEnd]:
    return [event.tool_end for event in events if event.WhichOneof("event") == "tool_end"]


async def test_an_answer_rests_on_the_numbered_reference(tmp_path: Path, models_dir: Path) -> None:
    async with documented_service(tmp_path, models_dir, RETRIEVE, text(ANSWER)) as service:
        events = await service.ask(ASKED)
    [ended] = tool_ends(events)
    assert ended.output.startswith("[1] handbook.md, Holidays:\n    ")
    final = final_of(events)
    assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    [citation] = final.citations
    assert (citation.number, citation.filename) == (1, "handbook.md")
    assert citation.matter_id == "documentation"
    assert [event.WhichOneof("event") for event in events[-3:]] == ["token", "citation", "final_state"]
    assert events[-2].citation == citation
    assert HANDBOOK.decode()[citation.start : citation.end] == citation.quote


async def test_an_answer_that_cites_nothing_is_discarded_and_refused(tmp_path: Path, models_dir: Path) -> None:
    made_up = text("Everyone has ninety days off.")
    async with documented_service(tmp_path, models_dir, RETRIEVE, made_up, made_up) as service:
        events = await service.ask(ASKED)
    assert final_of(events).exit_reason == turns_pb2.EXIT_REASON_LLM_GENERATION_FAILURE
    assert "ninety" not in text_of(events)


@pytest.mark.parametrize(
    "reply", [NOT_ENOUGH_INFORMATION, "Everyone has thirty days.", "I think it is “thirty days” [1]."]
)
async def test_the_model_reads_the_sentinel_and_an_ungrounded_answer_fails(
    tmp_path: Path, models_dir: Path, reply: str
) -> None:
    nothing = calls(Call("retriever", '{"query": "\\"parental allowance\\""}'))
    async with documented_service(tmp_path, models_dir, nothing, text(reply)) as service:
        events = await service.ask("What is the parental allowance?")
    [ended] = tool_ends(events)
    assert ended.output == SENTINEL
    final = final_of(events)
    assert final.exit_reason == turns_pb2.EXIT_REASON_LLM_GENERATION_FAILURE
    assert final.message == NOT_ENOUGH_INFORMATION
    assert (final.retryable, final.display_message) == (chat_pb2.RETRYABLE_YES, True)


async def test_a_second_retrieval_may_ground_the_answer_after_an_empty_one(tmp_path: Path, models_dir: Path) -> None:
    nothing = calls(Call("retriever", '{"query": "\\"parental allowance\\""}'))
    async with documented_service(tmp_path, models_dir, nothing, RETRIEVE, text(ANSWER)) as service:
        final = final_of(await service.ask(ASKED))
    assert (final.exit_reason, final.message) == (turns_pb2.EXIT_REASON_COMPLETED, ANSWER)


async def test_the_embedded_model_quotes_the_documentation_when_no_matter_is_selected(
    tmp_path: Path, models_dir: Path
) -> None:
    async with documented_service(tmp_path, models_dir) as service:
        final = final_of(await service.ask(ASKED))
        assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
        assert "“Everyone has thirty days of annual leave each year.” [1]" in final.message
        assert "handbook.md" in final.message
        assert [citation.filename for citation in final.citations] == ["handbook.md"]

        listing = final_of(await service.ask("Which documents are in this matter?"))
        assert listing.context_problem == chat_pb2.CONTEXT_PROBLEM_MATTER_REQUIRED

        matter_id = await service.create_matter(Services=AGREEMENT)
        in_matter = await service.ask("What is the governing law?", matter_id)
        assert {ended.tool for ended in tool_ends(in_matter)} == {"isaacus_search", "isaacus_extract"}


async def test_a_document_that_is_deleted_takes_the_tool_with_it(tmp_path: Path, models_dir: Path) -> None:
    async with documented_service(tmp_path, models_dir) as service:
        [document] = await service.wait_until_ready("documentation")
        await service.matters.DeleteDocument(
            matters_pb2.DeleteDocumentRequest(matter_id="documentation", document_id=document.document_id)
        )
        final = final_of(await service.ask(ASKED))
    assert final.context_problem == chat_pb2.CONTEXT_PROBLEM_MATTER_REQUIRED
