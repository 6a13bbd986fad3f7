"""Extract over the whole service."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pytest
import pytest_asyncio

from proviso_client.v1 import matters_pb2
from proviso_client.v1 import tools_pb2 as pb
from proviso_service.errors import ModelApiUnavailable
from tests.api.serving import Refusal, refusal
from tests.support.running import RunningService, running_service
from tests.support.word_extractor import WordExtractor

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEASE = """\
# Lease

## 1. Rent

The rent is USD 8,000 each month. The rent is due on the first day of the month.

## 2. Notice

The notice period is sixty days.
"""
NDA = "# NDA\n\n## 1. Ending\n\nThe notice period is sixty days. A notice is in writing.\n"
QUESTION = "What is the notice period?"
EXTRACTOR = WordExtractor()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[RunningService]:
    async with running_service(tmp_path_factory.mktemp("data"), models_dir, extractor=EXTRACTOR) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def matter_id(service: RunningService) -> str:
    return await service.create_matter(Lease=LEASE, NDA=NDA)


async def extract(
    service: RunningService, matter_id: str, question: str = QUESTION, **fields: Any
) -> pb.ExtractResponse:
    request = pb.ExtractRequest(matter_id=matter_id, question=question, **fields)
    return await service.tools.Extract(request)


async def refused(service: RunningService, matter_id: str, question: str = QUESTION, **fields: Any) -> Refusal:
    return await refusal(extract(service, matter_id, question, **fields))


async def id_of(service: RunningService, matter_id: str, filename: str) -> str:
    listed = await service.matters.ListDocuments(matters_pb2.ListDocumentsRequest(matter_id=matter_id))
    return next(document.document_id for document in listed.documents if document.filename == filename)


async def test_the_answer_is_a_span_of_the_text_and_says_where_it_stands(
    service: RunningService, matter_id: str
) -> None:
    answer = await extract(service, matter_id)
    assert (answer.answer, answer.score, answer.found) == ("The notice period is sixty days.", 1.0, True)
    assert (answer.question, answer.model, answer.truncated) == (QUESTION, "word-extractor", False)
    assert {citation.filename for citation in answer.citations} == {"Lease.md", "NDA.md"}
    for citation in answer.citations:
        whole = await service.tools.GetDocumentText(
            pb.GetDocumentTextRequest(matter_id=matter_id, document_id=citation.document_id)
        )
        assert whole.text[citation.answer_start : citation.answer_end] == answer.answer
        assert citation.text_excerpt == whole.text[citation.citation.start : citation.citation.end]
        assert 0 < citation.passage_score <= 1
        assert citation.chunk_id.startswith(citation.document_id)
    lease = next(citation for citation in answer.citations if citation.filename == "Lease.md")
    assert lease.citation.heading == "2. Notice"
    assert lease.citation.label == "Lease.md, 2. Notice"


async def test_other_answers_are_alternatives(service: RunningService, matter_id: str) -> None:
    answer = await extract(service, matter_id, "Is a notice in writing?")
    assert answer.answer == "A notice is in writing."
    [other] = answer.alternatives
    assert (other.answer, other.citation.filename) == ("The notice period is sixty days.", "Lease.md")
    assert 0 < other.score < answer.score
    usual = await extract(service, matter_id, "Is a notice in writing?", max_alternatives=0)
    most = await extract(service, matter_id, "Is a notice in writing?", max_alternatives=1_000)
    assert len(usual.alternatives) == len(most.alternatives) == 1


async def test_each_document_can_be_asked(service: RunningService, matter_id: str) -> None:
    answer = await extract(service, matter_id, "Is a notice in writing?", each_document=True)
    found = [answer.citations[0].filename, *(other.citation.filename for other in answer.alternatives)]
    assert len(found) == len(set(found)) > 1


async def test_where_nothing_answers_it_says_so(service: RunningService, matter_id: str) -> None:
    answer = await extract(service, matter_id, "Who insures ships?")
    assert (answer.answer, answer.score, answer.found) == ("Not found in the documents", 0.0, False)
    assert not answer.citations
    assert not answer.alternatives
    unsure = await extract(service, matter_id, "Is the notice of the ship in writing?", min_score=0.9)
    assert (unsure.answer, unsure.found) == ("Not found in the documents", False)
    assert unsure.alternatives[0].answer == "A notice is in writing."


async def test_only_the_documents_asked_for_are_read(service: RunningService, matter_id: str) -> None:
    lease = await id_of(service, matter_id, "Lease.md")
    answer = await extract(service, matter_id, document_ids=[lease])
    assert [citation.document_id for citation in answer.citations] == [lease]


async def test_documents_that_could_not_be_read_are_named(service: RunningService) -> None:
    matter_id = await service.create_matter(NDA=NDA)
    await service.upload(matter_id, "scan.pdf", b"%PDF-1.7 no pages")
    async for _ in service.matters.WatchDocuments(matters_pb2.WatchDocumentsRequest(matter_id=matter_id)):
        pass
    answer = await extract(service, matter_id)
    assert answer.found
    [scan] = answer.document_errors
    assert (scan.filename, scan.error.startswith("scan.pdf could not be read: ")) == ("scan.pdf", True)
    absent = str(uuid4())
    answer = await extract(service, matter_id, document_ids=[absent])
    assert not answer.found
    assert [(one.document_id, one.filename, one.error) for one in answer.document_errors] == [
        (absent, "", "There is no such document in this matter")
    ]


async def test_what_cannot_be_asked_is_refused_in_the_contracts_words(service: RunningService, matter_id: str) -> None:
    found = await refused(service, "42")
    assert (found.code, found.message) == (grpc.StatusCode.INVALID_ARGUMENT, "Invalid matter ID format")
    for blank in ("", "  "):
        found = await refused(service, matter_id, blank)
        assert (found.code, list(found.violations)) == (grpc.StatusCode.INVALID_ARGUMENT, ["question"])
    found = await refused(service, await service.create_matter())
    assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_READY_DOCUMENTS")
    assert found.message == "No ready documents found in this matter"
    found = await refused(service, str(uuid4()))
    assert (found.code, found.reason) == (grpc.StatusCode.NOT_FOUND, "MATTER_NOT_FOUND")


async def test_a_failure_of_the_model_is_the_calls(service: RunningService, matter_id: str) -> None:
    EXTRACTOR.failure = ModelApiUnavailable("Isaacus", "it did not answer", 2.0)
    try:
        found = await refused(service, matter_id)
    finally:
        EXTRACTOR.failure = None
    assert (found.code, found.reason) == (grpc.StatusCode.UNAVAILABLE, "MODEL_API_ERROR")
    assert found.message == "Isaacus API error: it did not answer"
    assert found.details["RetryInfo"].retry_delay.seconds == 2
