"""Turns that classify, extract and read documents, over the whole service."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from proviso_client.v1 import chat_pb2, turns_pb2
from tests.support.running import RunningService, final_of, input_of, running_service
from tests.support.scripted_model import Call, calls, text
from tests.support.word_classifier import WordClassifier
from tests.support.word_extractor import WordExtractor

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVICES = """\
# Services Agreement

## 1. Indemnity

One party must indemnify or compensate another for losses or claims.

## 2. Ending

The notice period is sixty days.
"""
LEASE = "# Lease\n\n## 1. Rent\n\nThe Tenant pays the rent on the first day of each month.\n"
UNKNOWN = Call("get_document_text", json.dumps({"filename": "leese.md"}))
QUESTION = "What is the notice period?"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedded(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[RunningService]:
    """With the embedded chat model."""
    folder = tmp_path_factory.mktemp("data")
    async with running_service(folder, models_dir, classifier=WordClassifier()) as running:
        yield running


def ended(events: Sequence[chat_pb2.AgentEvent]) -> chat_pb2.ToolEnd:
    [one] = [event.tool_end for event in events if event.WhichOneof("event") == "tool_end"]
    return one


def called(events: Sequence[chat_pb2.AgentEvent]) -> list[tuple[str, dict[str, Any]]]:
    started = [event for event in events if event.WhichOneof("event") == "tool_start"]
    return [(event.tool_start.tool, input_of(event)) for event in started]


async def test_the_types_of_clauses_are_classified_grouped_and_cited(embedded: RunningService) -> None:
    matter_id = await embedded.create_matter(Services=SERVICES, Lease=LEASE)
    events = await embedded.ask("What types of clauses are here?", matter_id)
    assert called(events) == [("isaacus_classify", {})]
    whole = json.loads(ended(events).output_json)
    assert [(clause["clause_type"], clause["filename"]) for clause in whole["clauses"]] == [
        ("Indemnity", "Services.md")
    ]
    final = final_of(events)
    assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    assert final.message.startswith("I found clauses of 1 of the 15 types that I looked for:\n- Indemnity (1 clause): ")
    assert "Not found: Termination, " in final.message
    [citation] = final.citations
    assert SERVICES[citation.start : citation.end] == citation.quote
    assert "must indemnify" in citation.quote


async def test_a_matter_without_the_usual_clauses_is_an_answer(embedded: RunningService) -> None:
    final = final_of(await embedded.ask("Which clauses are there?", await embedded.create_matter(Lease=LEASE)))
    assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    assert final.message == "I found no clause of the 15 types that I looked for."


async def test_an_extracted_answer_is_a_source_to_cite(tmp_path: Path, models_dir: Path) -> None:
    asked = Call("isaacus_extract", json.dumps({"question": QUESTION}))
    script = (calls(asked), text("It is “The notice period is sixty days.” [1]"))
    async with running_service(tmp_path / "data", models_dir, *script, extractor=WordExtractor()) as service:
        matter_id = await service.create_matter(Services=SERVICES, Lease=LEASE)
        events = await service.ask(QUESTION, matter_id)
    whole = json.loads(ended(events).output_json)
    assert (whole["answer"], whole["found"]) == ("The notice period is sixty days.", True)
    final = final_of(events)
    assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    [citation] = final.citations
    assert (citation.quote, citation.filename, citation.heading) == (whole["answer"], "Services.md", "2. Ending")
    assert SERVICES[citation.start : citation.end] == citation.quote


async def test_a_question_that_nothing_answers_is_an_empty_retrieval(tmp_path: Path, models_dir: Path) -> None:
    asked = Call("isaacus_extract", json.dumps({"question": "Who insures the boat?"}))
    script = (calls(asked), text("Ann insures the boat."), text("Ann does."))
    async with running_service(tmp_path / "data", models_dir, *script, extractor=WordExtractor()) as service:
        events = await service.ask("Who insures the boat?", await service.create_matter(Lease=LEASE))
    assert json.loads(ended(events).output)["answer"] == "Not found in the documents"
    assert final_of(events).exit_reason == turns_pb2.EXIT_REASON_LLM_GENERATION_FAILURE


async def test_a_document_that_is_not_there_is_an_error_with_a_hint(tmp_path: Path, models_dir: Path) -> None:
    script = (calls(UNKNOWN), text("Do you mean Lease.md?"))
    async with running_service(tmp_path / "data", models_dir, *script) as service:
        events = await service.ask("Show me the leese", await service.create_matter(Lease=LEASE))
    assert json.loads(ended(events).output) == {
        "error": "No document 'leese.md'", "hint": "The documents are Lease.md.",
    }  # fmt: skip
    assert ended(events).error == "No document 'leese.md'"
