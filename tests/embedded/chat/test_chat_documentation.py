"""Turns of the embedded chat model that look into the documentation."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from proviso_service.embedded import EmbeddedChatModel, MiniLmEmbedder
from proviso_service.embedded.chat.wording import said
from proviso_service.tool_results import FoundPassage, FoundPassages
from tests.support.scripted_matter import TOOLS, marker, tool

RETRIEVER = "retriever"
WITH_RETRIEVER = [*TOOLS, tool(RETRIEVER, "query", "max_results"), tool("isaacus_iql", "query")]
FOUND = FoundPassages(
    results=(
        FoundPassage(
            ref=1,
            filename="travel.md, Flights",
            text="Flights under six hours are booked in economy class.\n\nExceptions need the approval of a partner.",
        ),
        FoundPassage(
            ref=2,
            filename="handbook.md, page 4, Leave",
            text="Everyone has thirty days of annual leave each year.\nUnused leave lapses on 31 March.",
        ),
    )
)
UNUSED = "What happens to unused leave?"


@pytest.fixture(scope="session")
def model(embedder: MiniLmEmbedder) -> EmbeddedChatModel:
    return EmbeddedChatModel(embedder=embedder)


async def reply(model: EmbeddedChatModel, *messages: BaseMessage, tools: Sequence[Any] = WITH_RETRIEVER) -> AIMessage:
    answer: AIMessage = await model.bind_tools(tools).ainvoke(list(messages))
    return answer


async def answered(model: EmbeddedChatModel, question: str, result: str | FoundPassages) -> AIMessage:
    """What is said once the retriever has returned `result`: passages, or a text without any."""
    asked = HumanMessage(question)
    called = await reply(model, asked)
    [call] = called.tool_calls
    assert (call["name"], call["args"]) == (RETRIEVER, {"query": question})
    if isinstance(result, FoundPassages):
        returned = ToolMessage("[1] references", artifact=result.as_json(), tool_call_id=call["id"])
    else:
        returned = ToolMessage(result, tool_call_id=call["id"])
    return await reply(model, asked, called, returned)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (UNUSED, "handbook.md, page 4, Leave says: “Unused leave lapses on 31 March.” [2]"),
        ("Who approves exceptions?", "travel.md, Flights says: “Exceptions need the approval of a partner.” [1]"),
    ],
)
async def test_a_question_without_a_matter_is_answered_with_a_quote_its_number_and_file(
    model: EmbeddedChatModel, question: str, said: str
) -> None:
    answer = await answered(model, question, FOUND)
    assert (answer.text, answer.tool_calls) == (said, [])


@pytest.mark.parametrize("result", ["DOCUMENTATION_SEARCH_RESULT: EMPTY", "", "[1] no text"])
async def test_nothing_found_is_the_exact_refusal(model: EmbeddedChatModel, result: str) -> None:
    answer = await answered(model, UNUSED, result)
    assert (answer.text, answer.tool_calls) == (said("no_answer"), [])


async def test_what_does_not_answer_is_refused(model: EmbeddedChatModel) -> None:
    assert (await answered(model, "What is the dress code?", FOUND)).text == said("no_answer")


async def test_each_file_that_answers_is_quoted(model: EmbeddedChatModel) -> None:
    more = FoundPassage(ref=3, filename="leave.md", text="Unused leave may be taken until 30 June.")
    answer = await answered(model, UNUSED, FoundPassages(results=(*FOUND.results, more)))
    assert str(answer.content).startswith("The documents say:\n- ")
    assert {"[2]", "[3]"} <= set(str(answer.content).split())


async def test_a_failed_look_up_is_said(model: EmbeddedChatModel) -> None:
    answer = await answered(model, UNUSED, '{"error":"The search took too long"}')
    assert answer.text == "I could not look that up: The search took too long."


@pytest.mark.parametrize(
    "question",
    ["Which documents are in this matter?", "Find termination clauses", "How many documents mention insurance?"],
)
async def test_questions_about_a_matters_documents_are_not_for_it(model: EmbeddedChatModel, question: str) -> None:
    called = await reply(model, HumanMessage(question))
    assert RETRIEVER not in {call["name"] for call in called.tool_calls}
    assert called.tool_calls


async def test_with_a_matter_its_documents_are_looked_into(model: EmbeddedChatModel) -> None:
    [call] = (await reply(model, HumanMessage(marker() + UNUSED))).tool_calls
    assert call["name"] == "isaacus_search"


async def test_where_it_is_not_offered_nothing_changes(model: EmbeddedChatModel) -> None:
    [call] = (await reply(model, HumanMessage(UNUSED), tools=TOOLS)).tool_calls
    assert call["name"] == "isaacus_search"


@pytest.mark.parametrize("days", ["forty", "fourteen", "twenty-five"])
async def test_a_question_of_how_many_is_answered_whatever_the_number(model: EmbeddedChatModel, days: str) -> None:
    passage = FoundPassage(
        ref=1, filename="handbook.md, Leave", text=f"Everyone has {days} days of annual leave each year."
    )
    found = FoundPassages(results=(passage,))
    answer = await answered(model, "How many days of annual leave does everyone have each year?", found)
    assert answer.text == f"handbook.md, Leave says: “Everyone has {days} days of annual leave each year.” [1]"
