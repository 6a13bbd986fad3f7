"""The contract's questions, asked of the whole service with its embedded chat model."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.running import RunningService, final_of, input_of, running_service
from tests.support.scripted_model import Call, calls, text
from tests.support.word_classifier import WordClassifier

SERVICES = """\
# Services Agreement

## 1. Confidentiality

This confidentiality provision restricts the use or disclosure of confidential information.

## 2. Termination

This termination provision permits a party to terminate the contract in certain circumstances.
"""
LEASE = "# Lease\n\n## 1. Rent\n\nThe Tenant pays the rent on the first day of each month.\n"


@pytest.fixture
async def service(tmp_path: Path, models_dir: Path) -> AsyncIterator[RunningService]:
    async with running_service(tmp_path / "data", models_dir, classifier=WordClassifier()) as running:
        yield running


async def test_termination_clauses_are_found_cited_and_the_query_is_shown(service: RunningService) -> None:
    matter_id = await service.create_matter(Services=SERVICES, Lease=LEASE)
    events = await service.ask("Find termination clauses", matter_id)
    [started] = [event for event in events if event.WhichOneof("event") == "tool_start"]
    assert (started.tool_start.tool, input_of(started)) == ("isaacus_iql", {"query": "{IS termination clause}"})
    [ended] = [event.tool_end for event in events if event.WhichOneof("event") == "tool_end"]
    whole = json.loads(ended.output_json)
    assert [one["match_count"] for one in whole["document_results"]] == [1, 0]
    final = final_of(events)
    assert "`{IS termination clause}`" in final.message
    [citation] = final.citations
    assert SERVICES[citation.start : citation.end] == citation.quote
    assert "permits a party to terminate" in citation.quote


async def test_the_document_that_is_more_about_something_is_named(service: RunningService) -> None:
    matter_id = await service.create_matter(Services=SERVICES, Lease=LEASE)
    final = final_of(await service.ask("Which is more about confidentiality?", matter_id))
    assert final.message.endswith("By its score Services.md is more about confidentiality.")


async def test_the_contracts_errors_reach_the_model_as_results(tmp_path: Path, models_dir: Path) -> None:
    asked = Call("isaacus_iql", json.dumps({"query": "{IS rent clause}"}))
    script = (calls(asked), text("I could not run that query."))
    async with running_service(tmp_path / "data", models_dir, *script, classifier=WordClassifier()) as service:
        matter_id = await service.create_matter(Lease=LEASE)
        events = await service.ask("Find rent clauses", matter_id)
    [ended] = [event.tool_end for event in events if event.WhichOneof("event") == "tool_end"]
    assert json.loads(ended.output)["error"].startswith("Invalid IQL query syntax: At character 5, unknown template")
