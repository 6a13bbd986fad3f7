"""MatterService and ToolService over the whole service."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pytest
import pytest_asyncio

from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1 import tools_pb2
from tests.api.serving import Refusal, refusal
from tests.support.running import AGREEMENT, RunningService, running_service

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOWHERE = "25e70284-6124-4a2b-9c89-0123456789ab"
END = pb.UploadEnd()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[RunningService]:
    """One service for this file; every test has a matter of its own."""
    async with running_service(tmp_path_factory.mktemp("data"), models_dir) as running:
        yield running


def upload(*parts: pb.UploadHeader | bytes | pb.UploadEnd) -> Iterator[pb.UploadDocumentRequest]:
    for part in parts:
        match part:
            case bytes():
                yield pb.UploadDocumentRequest(data=part)
            case pb.UploadHeader():
                yield pb.UploadDocumentRequest(header=part)
            case _:
                yield pb.UploadDocumentRequest(end=part)


def assert_refused(refused: Refusal, code: grpc.StatusCode, reason: str) -> None:
    assert (refused.code, refused.reason) == (code, reason)


async def test_a_matter_lives_until_it_is_deleted(service: RunningService) -> None:
    made = (await service.matters.CreateMatter(pb.CreateMatterRequest(name="Smith v. Jones"))).matter
    found = (await service.matters.GetMatter(pb.GetMatterRequest(matter_id=made.matter_id.upper()))).matter
    assert found == made
    assert (made.name, made.document_count, made.ready_count) == ("Smith v. Jones", 0, 0)
    await service.matters.DeleteMatter(pb.DeleteMatterRequest(matter_id=made.matter_id))
    refused = await refusal(service.matters.GetMatter(pb.GetMatterRequest(matter_id=made.matter_id)))
    assert_refused(refused, grpc.StatusCode.NOT_FOUND, "MATTER_NOT_FOUND")


async def test_matters_are_listed_by_page_and_name(service: RunningService) -> None:
    name = f"Acme {uuid4()}"
    made = [(await service.matters.CreateMatter(pb.CreateMatterRequest(name=name))).matter for _ in range(3)]
    first = await service.matters.ListMatters(pb.ListMattersRequest(name=name, page_size=2))
    token = first.next_page_token
    last = await service.matters.ListMatters(pb.ListMattersRequest(name=name, page_size=2, page_token=token))
    assert [m.matter_id for m in (*first.matters, *last.matters)] == [m.matter_id for m in reversed(made)]
    assert not last.next_page_token


async def test_a_document_is_uploaded_watched_read_and_deleted(service: RunningService) -> None:
    matter_id = await service.create_matter()
    content = AGREEMENT.encode()
    header = pb.UploadHeader(
        matter_id=matter_id, filename="Agreement.md", sha256=hashlib.sha256(content).hexdigest().upper()
    )
    stored = await service.matters.UploadDocument(upload(header, content[:100], content[100:], END))
    watch = service.matters.WatchDocuments(pb.WatchDocumentsRequest(matter_id=matter_id))
    states = [state async for state in watch]
    named = pb.GetDocumentRequest(matter_id=matter_id, document_id=stored.document.document_id)
    document = (await service.matters.GetDocument(named)).document
    assert states[-1].document == document
    assert (document.status, document.size_bytes) == (pb.DOCUMENT_STATUS_READY, len(content))
    assert not stored.already_existed
    again = await service.matters.UploadDocument(upload(header, content))
    assert (again.already_existed, again.document.document_id) == (True, document.document_id)
    await service.matters.DeleteDocument(
        pb.DeleteDocumentRequest(matter_id=matter_id, document_id=document.document_id)
    )
    refused = await refusal(service.matters.GetDocument(named))
    assert_refused(refused, grpc.StatusCode.NOT_FOUND, "DOCUMENT_NOT_FOUND")


async def test_documents_are_listed_in_the_order_of_upload(service: RunningService) -> None:
    matter_id = await service.create_matter(one="# One", two="# Two", three="# Three")
    first = await service.matters.ListDocuments(pb.ListDocumentsRequest(matter_id=matter_id, page_size=2))
    token = first.next_page_token
    last = await service.matters.ListDocuments(pb.ListDocumentsRequest(matter_id=matter_id, page_token=token))
    listed = await service.tools.ListMatterDocuments(tools_pb2.ListMatterDocumentsRequest(matter_id=matter_id))
    names = ["one.md", "two.md", "three.md"]
    assert [d.filename for d in (*first.documents, *last.documents)] == names
    assert [d.filename for d in listed.documents] == names
    assert (listed.total_count, listed.summary.ready_for_search, listed.truncated) == (3, 3, False)


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ([], "header"),
        ([b"bytes first"], "header"),
        ([pb.UploadHeader(matter_id=NOWHERE, filename="")], "header.filename"),
        ([pb.UploadHeader(matter_id="42", filename="a.md")], "header.matter_id"),
        ([pb.UploadHeader(matter_id=NOWHERE, filename="a.md", sha256="abc")], "header.sha256"),
    ],
    ids=["nothing", "no header", "no name", "no matter", "no checksum"],
)
async def test_an_upload_needs_a_sound_header(
    service: RunningService, parts: list[pb.UploadHeader | bytes], field: str
) -> None:
    refused = await refusal(service.matters.UploadDocument(upload(*parts)))
    assert_refused(refused, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert refused.violations.keys() == {field}


async def test_an_upload_has_one_header(service: RunningService) -> None:
    header = pb.UploadHeader(matter_id=await service.create_matter(), filename="a.md")
    refused = await refusal(service.matters.UploadDocument(upload(header, b"some", header)))
    assert refused.violations == {"header": "must be the first message and no other"}


async def test_an_upload_that_breaks_off_is_not_stored(service: RunningService) -> None:
    matter_id = await service.create_matter()
    header = pb.UploadHeader(matter_id=matter_id, filename="a.md")
    refused = await refusal(service.matters.UploadDocument(upload(header, b"The rent is ")))
    assert_refused(refused, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert refused.violations == {"end": "is missing: the upload broke off, or its end was not sent as last message"}
    refused = await refusal(service.matters.UploadDocument(upload(header, b"some", END, b"more")))
    assert refused.violations == {"end": "must be the last message"}
    listed = await service.matters.ListDocuments(pb.ListDocumentsRequest(matter_id=matter_id))
    assert not listed.documents


async def test_a_checksum_says_as_well_as_the_end_that_an_upload_is_whole(service: RunningService) -> None:
    digest = hashlib.sha256(b"whole").hexdigest()
    header = pb.UploadHeader(matter_id=await service.create_matter(), filename="a.md", sha256=digest)
    refused = await refusal(service.matters.UploadDocument(upload(header, b"who")))
    assert refused.violations.keys() == {"header.sha256"}
    stored = await service.matters.UploadDocument(upload(header, b"whole"))
    assert stored.document.size_bytes == len(b"whole")


async def test_bytes_that_are_no_document_are_refused(service: RunningService) -> None:
    header = pb.UploadHeader(matter_id=await service.create_matter(), filename="a.exe")
    refused = await refusal(service.matters.UploadDocument(upload(header, b"MZ")))
    assert_refused(refused, grpc.StatusCode.INVALID_ARGUMENT, "UNSUPPORTED_DOCUMENT")
    assert "BadRequest" in refused.details


async def test_ids_that_are_no_uuids_are_violations(service: RunningService) -> None:
    request = tools_pb2.SearchRequest(matter_id="42", query="law", document_ids=[NOWHERE, "x"])
    refused = await refusal(service.tools.Search(request))
    assert refused.violations == {
        "matter_id": "Invalid matter ID format",
        "document_ids[1]": "Invalid document ID format",
    }


async def test_a_matter_that_does_not_exist_is_not_found_by_any_method(service: RunningService) -> None:
    watch = service.matters.WatchDocuments(pb.WatchDocumentsRequest(matter_id=NOWHERE))
    calls = (
        service.matters.DeleteMatter(pb.DeleteMatterRequest(matter_id=NOWHERE)),
        service.matters.ListDocuments(pb.ListDocumentsRequest(matter_id=NOWHERE)),
        service.matters.UploadDocument(upload(pb.UploadHeader(matter_id=NOWHERE, filename="a.md"), b"x")),
        anext(aiter(watch)),
        service.tools.Search(tools_pb2.SearchRequest(matter_id=NOWHERE, query="law")),
        service.tools.ListMatterDocuments(tools_pb2.ListMatterDocumentsRequest(matter_id=NOWHERE)),
        service.tools.GetDocumentText(tools_pb2.GetDocumentTextRequest(matter_id=NOWHERE, filename="a.md")),
    )
    for call in calls:
        assert_refused(await refusal(call), grpc.StatusCode.NOT_FOUND, "MATTER_NOT_FOUND")


async def test_a_search_finds_the_passage_and_says_where_it_is(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    request = tools_pb2.SearchRequest(matter_id=matter_id, query="Which law governs the agreement?")
    answer = await service.tools.Search(request)
    best = answer.results[0]
    assert AGREEMENT[best.citation.start : best.citation.end] == best.chunk_text
    assert best.citation.label == f"Services Agreement.md, {best.citation.heading}"
    assert answer.total_found == len(answer.results)
    assert answer.matter_id == matter_id
    assert AGREEMENT[best.snippet.start :].startswith(best.snippet.text)
    marked = [best.snippet.text[span.start : span.end].lower() for span in best.snippet.highlights]
    assert {"law", "agreement"} <= set(marked)


async def test_every_result_holds_the_phrase_in_quotes(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    found = await service.tools.Search(
        tools_pb2.SearchRequest(matter_id=matter_id, query='"the laws of"', max_results=20)
    )
    assert found.results
    assert all("the laws of" in " ".join(one.chunk_text.lower().split()) for one in found.results)
    nothing = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query='"of laws the"'))
    assert (len(nothing.results), list(nothing.documents_available)) == (0, ["Services Agreement.md"])


async def test_a_text_is_read_whole_or_in_part(service: RunningService) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    whole = await service.tools.GetDocumentText(
        tools_pb2.GetDocumentTextRequest(matter_id=matter_id, filename="agreement.md")
    )
    assert (whole.text, whole.truncated, whole.character_count) == (AGREEMENT, False, len(AGREEMENT))
    part = await service.tools.GetDocumentText(
        tools_pb2.GetDocumentTextRequest(
            matter_id=matter_id, document_id=whole.document_id, filename="ignored", start=2, max_length=8
        )
    )
    assert (part.text, part.start, part.truncated, part.file_type) == (AGREEMENT[2:10], 2, True, "md")
    neither = await refusal(service.tools.GetDocumentText(tools_pb2.GetDocumentTextRequest(matter_id=matter_id)))
    assert neither.violations == {"document_id": "document_id or filename is required"}


async def test_a_text_is_read_by_heading(service: RunningService) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    request = tools_pb2.SearchRequest(matter_id=matter_id, query="Which law governs the agreement?", max_results=1)
    wanted = (await service.tools.Search(request)).results[0].citation
    named = tools_pb2.GetDocumentTextRequest(matter_id=matter_id, filename="agreement.md", heading=wanted.heading)
    section = await service.tools.GetDocumentText(named)
    assert AGREEMENT[section.start :].startswith(section.text)
    assert wanted.heading in section.text
    assert (section.section_path, section.page, section.truncated) == (wanted.section_path, 0, False)


@pytest.mark.parametrize(
    ("wanted", "violations"),
    [
        ({"page": 1}, {"page": "agreement.md has no pages; ask for a heading or a position"}),
        (
            {"start": 1, "heading": "Fees"},
            {"start": "only one of start, page and heading can be given"}
            | {"heading": "only one of start, page and heading can be given"},
        ),
    ],
)
async def test_a_part_that_cannot_be_read_is_a_violation(
    service: RunningService, wanted: dict[str, Any], violations: dict[str, str]
) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    named = tools_pb2.GetDocumentTextRequest(matter_id=matter_id, filename="agreement.md", **wanted)
    assert (await refusal(service.tools.GetDocumentText(named))).violations == violations
