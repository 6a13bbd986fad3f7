"""Turns of the embedded chat model that run an IQL query."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from proviso_service.embedded import EmbeddedChatModel, MiniLmEmbedder
from tests.support.scripted_matter import LEASE, NDA, SERVICES, TOOLS, ScriptedMatter, document_id, run_turn, tool

IQL = "isaacus_iql"
WITH_IQL = [*TOOLS, tool(IQL, "query", "document_ids", "model")]
THIRTY_DAYS = "Either party may terminate this Agreement upon thirty (30) days written notice to the other party."


@pytest.fixture(scope="session")
def model(embedder: MiniLmEmbedder) -> EmbeddedChatModel:
    return EmbeddedChatModel(embedder=embedder)


def document(name: str, score: float, *texts: str, first_ref: int = 1) -> dict[str, Any]:
    matches = [
        {"ref": first_ref + n, "heading": "5. Term", "score": score, "text": text} for n, text in enumerate(texts)
    ]
    return {
        "document_id": document_id(name),
        "filename": name,
        "score": score,
        "match_count": len(texts),
        "matches": matches,
    }


def result(*documents: dict[str, Any], errors: Sequence[str] = (), total: int | None = None) -> str:
    count = sum(one["match_count"] for one in documents) if total is None else total
    return json.dumps(
        {
            "query": "as asked",
            "total_matches": count,
            "average_score": 0.8,
            "document_count": len(documents) + len(errors),
            "model": "m",
            "document_results": documents,
            "errors": [{"document_id": "x", "filename": name, "error": "no"} for name in errors],
            "truncated": False,
        }
    )


async def turn(model: EmbeddedChatModel, embedder: MiniLmEmbedder, question: str, reply: str, viewed: str = "") -> Any:
    matter = ScriptedMatter(embedder, replies={IQL: reply})
    return await run_turn(model, matter, question, viewed=viewed, tools=WITH_IQL)


async def test_the_answer_quotes_the_matches_and_shows_the_query(
    model: EmbeddedChatModel, embedder: MiniLmEmbedder
) -> None:
    ended = await turn(model, embedder, "Find termination clauses", result(document(NDA, 0.9, THIRTY_DAYS)))
    assert ended.calls == [(IQL, {"query": "{IS termination clause}"})]
    assert ended.answer == (
        f"1 passage satisfies the query `{{IS termination clause}}`:\n- {NDA} (5. Term): “{THIRTY_DAYS}” [1]"
    )


async def test_what_is_not_shown_is_counted(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    reply = result(document(NDA, 0.9, THIRTY_DAYS), errors=["slow.pdf"], total=5)
    ended = await turn(model, embedder, "Find clauses obligating the Customer", reply)
    assert "5 passages satisfy" in ended.answer
    assert '4 more passages not quoted here; say "show more" for the next.' in ended.answer
    assert ended.answer.endswith("Not analysed: slow.pdf (no).")


async def test_no_match_is_an_answer(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    reply = result(document(NDA, 0.1), document(LEASE, 0.1))
    ended = await turn(model, embedder, "Find unilateral clauses that limit liability", reply)
    query = '{IS unilateral clause} AND {IS clause that "limits liability"}'
    assert ended.answer == f"No passage satisfies the query `{query}` in the 2 documents."
    assert len(ended.calls) == 1


async def test_documents_are_compared_by_their_scores(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    reply = result(document(NDA, 0.9, THIRTY_DAYS), document(SERVICES, 0.3))
    ended = await turn(model, embedder, "Which is more about confidentiality?", reply, viewed=LEASE)
    assert ended.calls == [(IQL, {"query": "{IS confidentiality clause}"})]
    assert f"- {NDA}: 0.90 “{THIRTY_DAYS}” [1]\n- {SERVICES}: 0.30" in ended.answer
    assert ended.answer.endswith(f"By its score {NDA} is more about confidentiality.")


async def test_equal_scores_are_called_equal(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    reply = result(document(NDA, 0.2), document(SERVICES, 0.2))
    ended = await turn(model, embedder, "Which is more about confidentiality?", reply)
    assert ended.answer.endswith(f"By their scores {NDA} and {SERVICES} are equally about confidentiality.")


async def test_a_named_document_is_the_target(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    reply = result(document(NDA, 0.9, THIRTY_DAYS))
    ended = await turn(model, embedder, "Find termination clauses in the NDA", reply)
    assert ended.called == ["list_matter_documents", IQL]
    assert ended.calls[1][1] == {"query": "{IS termination clause}", "document_ids": [document_id(NDA)]}


async def test_a_search_for_clauses_stays_in_the_document_on_view(
    model: EmbeddedChatModel, embedder: MiniLmEmbedder
) -> None:
    reply = result(document(LEASE, 0.1))
    ended = await turn(model, embedder, "Find termination clauses", reply, viewed=LEASE)
    assert [args.get("document_ids") for _, args in ended.calls] == [[document_id(LEASE)]]
    assert ended.answer == (
        "I found no passage that satisfies the query `{IS termination clause}` "
        f"in {LEASE}, the document on view. Shall I look in the other documents?"
    )


async def test_an_error_of_the_tool_is_told(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    reply = json.dumps({"error": "No ready documents found in this matter"})
    ended = await turn(model, embedder, "Find termination clauses", reply)
    assert ended.answer == "I could not look that up: No ready documents found in this matter."


async def test_without_the_tool_the_question_is_searched(model: EmbeddedChatModel, embedder: MiniLmEmbedder) -> None:
    ended = await run_turn(model, ScriptedMatter(embedder), "Find termination clauses")
    assert ended.called[0] == "isaacus_search"


@pytest.mark.parametrize(
    "question", ["Is there an indemnity clause?", "What is the notice period?", "Find passages about insurance"]
)
async def test_other_questions_are_searched_as_before(
    model: EmbeddedChatModel, embedder: MiniLmEmbedder, question: str
) -> None:
    ended = await run_turn(model, ScriptedMatter(embedder), question, tools=WITH_IQL)
    assert IQL not in ended.called
    assert "isaacus_search" in ended.called
