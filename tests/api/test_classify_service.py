"""Classify over the whole service."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pytest
import pytest_asyncio

from proviso_client.v1 import matters_pb2
from proviso_client.v1 import tools_pb2 as pb
from tests.api.serving import Refusal, refusal
from tests.support.running import RunningService, running_service
from tests.support.word_classifier import WordClassifier

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVICES = """\
# Services Agreement

## 1. Indemnity

One party must indemnify or compensate another for losses or claims.

## 2. Audit

The Customer has audit rights.
"""
NDA = "# NDA\n\n## 1. Audit\n\nNobody has audit rights and one party must indemnify another for losses or claims.\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[RunningService]:
    async with running_service(tmp_path_factory.mktemp("data"), models_dir, classifier=WordClassifier()) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def matter_id(service: RunningService) -> str:
    return await service.create_matter(Services=SERVICES, NDA=NDA)


async def classify(service: RunningService, matter_id: str, *types: str, **fields: Any) -> pb.ClassifyResponse:
    request = pb.ClassifyRequest(matter_id=matter_id, clause_types=types, **fields)
    return await service.tools.Classify(request)


async def refused(service: RunningService, matter_id: str, *types: str, **fields: Any) -> Refusal:
    return await refusal(classify(service, matter_id, *types, **fields))


async def test_clauses_are_found_by_type_with_their_places(service: RunningService, matter_id: str) -> None:
    answer = await classify(service, matter_id, "Indemnity", "{audit rights}")
    assert [(clause.filename, clause.clause_type) for clause in answer.clauses] == [
        ("Services.md", "Indemnity"), ("Services.md", "{audit rights}"),
        ("NDA.md", "Indemnity"), ("NDA.md", "{audit rights}"),
    ]  # fmt: skip
    assert (answer.total_size, answer.truncated, answer.model) == (4, False, "word-classifier")
    assert list(answer.clause_types_searched) == ["Indemnity", "{audit rights}"]
    assert [(one.clause_type, one.clauses, one.documents) for one in answer.counts] == [
        ("Indemnity", 2, 2), ("{audit rights}", 2, 2),
    ]  # fmt: skip
    audit = answer.clauses[1]
    assert SERVICES[audit.start : audit.end] == audit.text_excerpt
    assert (audit.citation.heading, audit.citation.label) == ("2. Audit", "Services.md, 2. Audit")
    assert audit.citation.permalink == f"cite:{audit.document_id}@{audit.start}-{audit.end}"
    assert audit.chunk_id.startswith(audit.document_id)
    assert 0.5 < audit.score <= 1


async def test_every_clause_can_be_had_page_by_page(service: RunningService, matter_id: str) -> None:
    types = ("Indemnity", "{audit rights}")
    whole = await classify(service, matter_id, *types)
    assert (len(whole.clauses), whole.next_page_token) == (4, "")
    page = await classify(service, matter_id, *types, page_size=3)
    assert (len(page.clauses), page.total_size, page.truncated) == (3, 4, True)
    rest = await classify(service, matter_id, *types, page_size=3, page_token=page.next_page_token)
    assert (len(rest.clauses), rest.total_size, rest.next_page_token) == (1, 4, "")
    both = [(one.document_id, one.start, one.clause_type) for one in (*page.clauses, *rest.clauses)]
    assert sorted(both) == sorted((one.document_id, one.start, one.clause_type) for one in whole.clauses)
    request = pb.ClassifyRequest(matter_id=matter_id, clause_types=["Indemnity"], page_token=page.next_page_token)
    assert list((await refusal(service.tools.Classify(request))).violations) == ["page_token"]


async def test_without_types_the_usual_ones_are_searched(service: RunningService, matter_id: str) -> None:
    answer = await classify(service, matter_id)
    assert list(answer.clause_types_searched) == [
        "Termination", "Indemnity", "Limitation of Liability", "Confidentiality", "Non-Compete", "Force Majeure",
        "Dispute Resolution", "Governing Law", "Assignment", "Warranty", "Payment Terms", "Intellectual Property",
        "Insurance", "Notice", "Amendment",
    ]  # fmt: skip
    assert {clause.clause_type for clause in answer.clauses} == {"Indemnity"}


async def test_the_least_score_and_the_most_clauses_are_the_callers(service: RunningService, matter_id: str) -> None:
    assert (await classify(service, matter_id, "{audit rights}", min_score=1.0)).total_size == 0
    cut = await classify(service, matter_id, "Indemnity", "{audit rights}", page_size=2)
    assert {clause.clause_type for clause in cut.clauses} == {"Indemnity", "{audit rights}"}
    assert (cut.total_size, cut.truncated, [one.clauses for one in cut.counts]) == (4, True, [2, 2])


async def test_documents_that_were_not_analysed_are_named(service: RunningService) -> None:
    matter_id = await service.create_matter(NDA=NDA)
    await service.upload(matter_id, "scan.pdf", b"%PDF-1.7 no pages")
    async for _ in service.matters.WatchDocuments(matters_pb2.WatchDocumentsRequest(matter_id=matter_id)):
        pass
    answer = await classify(service, matter_id, "{audit rights}")
    assert answer.total_size == 1
    [scan] = answer.document_errors
    assert (scan.filename, scan.error.startswith("scan.pdf could not be read: ")) == ("scan.pdf", True)
    absent = str(uuid4())
    answer = await classify(service, matter_id, "{audit rights}", document_ids=[absent])
    assert (answer.total_size, [one.document_id for one in answer.document_errors]) == (0, [absent])


async def test_what_cannot_be_asked_is_refused_in_the_contracts_words(service: RunningService, matter_id: str) -> None:
    found = await refused(service, "42")
    assert (found.code, found.message) == (grpc.StatusCode.INVALID_ARGUMENT, "Invalid matter ID format")
    found = await refused(service, matter_id, "Notice", "  ", "{IS rent clause}")
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert found.violations["clause_types[1]"] == "must not be blank"
    assert "unknown template" in found.violations["clause_types[2]"]
    assert list((await refused(service, matter_id, "")).violations) == ["clause_types[0]"]
    found = await refused(service, await service.create_matter())
    assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_READY_DOCUMENTS")
    assert found.message == "No ready documents found in this matter"
    found = await refused(service, str(uuid4()))
    assert (found.code, found.reason) == (grpc.StatusCode.NOT_FOUND, "MATTER_NOT_FOUND")
