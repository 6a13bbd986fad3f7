"""Questions for types of clauses: which they are, and what the embedded chat model makes of them."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from proviso_service.embedded import EmbeddedChatModel, MiniLmEmbedder
from proviso_service.embedded.chat.clause_queries import asks_for_types
from tests.support.chat_utterances import HELD_OUT, TUNED
from tests.support.scripted_matter import LEASE, NDA, TOOLS, ScriptedMatter, Turn, document_id, run_turn, tool

CLASSIFY = "isaacus_classify"
WITH_CLASSIFY = [*TOOLS, tool("isaacus_iql", "query", "document_ids"), tool(CLASSIFY, "clause_types", "document_ids")]
QUESTION = "What types of clauses are here?"
THIRTY_DAYS = "Either party may terminate this Agreement upon thirty (30) days written notice to the other party."
LAW = "This Agreement shall be governed by the laws of the State of Delaware."


@pytest.fixture(scope="session")
def model(embedder: MiniLmEmbedder) -> EmbeddedChatModel:
    return EmbeddedChatModel(embedder=embedder)


def of_type(name: str, clauses: int, *texts: str, documents: int = 1, first_ref: int = 1) -> dict[str, Any]:
    passages = [
        {"ref": first_ref + n, "filename": NDA, "heading": "4. Term", "confidence": 0.9, "text": text}
        for n, text in enumerate(texts)
    ]
    return {"clause_type": name, "clauses": clauses, "documents": documents, "passages": passages}


def result(*found: dict[str, Any], absent: Sequence[str] = (), searched: int = 15, errors: Sequence[str] = ()) -> str:
    return json.dumps(
        {
            "total_found": sum(one["clauses"] for one in found),
            "types_searched": searched,
            "types_found": len(found),
            "clause_types": found,
            "not_found": absent,
            "document_errors": [{"document_id": "x", "filename": name, "error": "no"} for name in errors],
            "truncated": False,
        }
    )


async def turn(model: EmbeddedChatModel, embedder: MiniLmEmbedder, question: str, reply: str, viewed: str = "") -> Turn:
    matter = ScriptedMatter(embedder, replies={CLASSIFY: reply})
    return await run_turn(model, matter, question, viewed=viewed, tools=WITH_CLASSIFY)


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "What kinds of provisions does this agreement contain?",
        "Which clause types are there?",
        "what clauses are in this contract",
        "Which clauses does the contract have?",
        "List the types of clauses in the documents.",
        "Please classify the clauses in this document.",
        "Give me an overview of the clauses",
        "Can you tell me which kinds of clauses there are?",
    ],
)
def test_which_types_there_are_can_be_asked_in_many_ways(question: str) -> None:
    assert asks_for_types(question)


@pytest.mark.parametrize(
    "question",
    [
        "What types of clauses limit liability?",
        "Find all clauses",
        "Find termination clauses",
        "What clauses oblige the Customer?",
        "Which clauses mention insurance?",
        "What does clause 5 say?",
        "What types of insurance are required?",
        "Which contracts have an insurance clause?",
        "Show me the clauses of section 4",
        "",
    ],
)
def test_narrower_questions_are_for_other_tools(question: str) -> None:
    assert not asks_for_types(question)


def test_questions_that_are_searched_stay_so() -> None:
    assert [question for question, _ in TUNED + HELD_OUT if asks_for_types(question)] == []


async def test_the_answer_groups_quotes_by_type(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    reply = result(
        of_type("Termination", 3, THIRTY_DAYS, documents=2),
        of_type("Governing Law", 1, LAW, first_ref=2),
        of_type("Notice", 1),
        absent=["Insurance", "Warranty"],
        errors=["slow.pdf"],
    )
    ended = await turn(model, embedder, QUESTION, reply)
    assert ended.calls == [(CLASSIFY, {})]
    assert ended.answer == (
        "I found clauses of 3 of the 15 types that I looked for:\n"
        f"- Termination (3 clauses in 2 documents): {NDA} (4. Term): “{THIRTY_DAYS}” [1]\n"
        f"- Governing Law (1 clause): {NDA} (4. Term): “{LAW}” [2]\n"
        "- Notice (1 clause)\n\n"
        "Not found: Insurance, Warranty and 10 more.\n\n"
        "Not analysed: slow.pdf (no)."
    )


async def test_no_clause_is_an_answer(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    ended = await turn(model, embedder, QUESTION, result(absent=["Insurance"]))
    assert ended.answer == "I found no clause of the 15 types that I looked for."


async def test_a_named_document_is_the_target(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    reply = result(of_type("Termination", 1, THIRTY_DAYS))
    ended = await turn(model, embedder, "What types of clauses are in the NDA?", reply)
    assert ended.calls[1:] == [(CLASSIFY, {"document_ids": [document_id(NDA)]})]


async def test_the_types_are_those_of_the_document_on_view(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    found = await turn(model, embedder, QUESTION, result(of_type("Notice", 1)), viewed=LEASE)
    assert [args for _, args in found.calls] == [{"document_ids": [document_id(LEASE)]}]
    nothing = await turn(model, embedder, QUESTION, result(), viewed=LEASE)
    assert [args for _, args in nothing.calls] == [{"document_ids": [document_id(LEASE)]}]
    assert nothing.answer == (
        f"I found no clause of the 15 types that I looked for in {LEASE}, the document on view. "
        "Shall I look in the other documents?"
    )


async def test_an_error_of_the_tool_is_told(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    reply = json.dumps({"error": "No ready documents found in this matter"})
    ended = await turn(model, embedder, QUESTION, reply)
    assert ended.answer == "I could not look that up: No ready documents found in this matter."


async def test_without_the_tool_the_question_is_searched(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    ended = await run_turn(model, ScriptedMatter(embedder), QUESTION)
    assert set(ended.called) == {"isaacus_search"}
