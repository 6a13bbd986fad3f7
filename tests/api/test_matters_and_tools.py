"""MatterService and ToolService over the whole service."""

import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pytest
import pytest_asyncio
from google.protobuf import field_mask_pb2

from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1 import tools_pb2
from proviso_service.api.convert.values import MAX_ANSWER_BYTES
from tests.api.serving import Refusal, refusal
from tests.support.pdf_files import drawn, lines
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
    assert (first.total_size, last.total_size) == (3, 3)


async def test_a_page_of_matters_with_long_notes_is_cut_and_goes_on(service: RunningService) -> None:
    name, notes = f"Long {uuid4()}", "\N{CAT FACE}" * 20_000
    for _ in range(50):
        made = (await service.matters.CreateMatter(pb.CreateMatterRequest(name=name))).matter
        values = pb.Matter(matter_id=made.matter_id, notes=notes)
        await service.matters.UpdateMatter(pb.UpdateMatterRequest(matter=values))
    pages = [await service.matters.ListMatters(pb.ListMattersRequest(name=name, page_size=100))]
    while token := pages[-1].next_page_token:
        pages.append(await service.matters.ListMatters(pb.ListMattersRequest(name=name, page_token=token)))
    assert [page.total_size for page in pages] == [50] * len(pages)
    assert len({m.matter_id for page in pages for m in page.matters}) == 50
    assert max(page.ByteSize() for page in pages) <= MAX_ANSWER_BYTES


async def test_a_matter_is_renamed_and_has_notes(service: RunningService) -> None:
    made = (await service.matters.CreateMatter(pb.CreateMatterRequest(name="Lease"))).matter
    values = pb.Matter(matter_id=made.matter_id, name=" Lease of 12 High Street ", notes="Due in May", ready_count=9)
    named = pb.UpdateMatterRequest(matter=values, update_mask=field_mask_pb2.FieldMask(paths=["name"]))
    renamed = (await service.matters.UpdateMatter(named)).matter
    noted = (await service.matters.UpdateMatter(pb.UpdateMatterRequest(matter=values))).matter
    again = (await service.matters.UpdateMatter(pb.UpdateMatterRequest(matter=values))).matter
    found = (await service.matters.GetMatter(pb.GetMatterRequest(matter_id=made.matter_id))).matter
    assert (made.notes, made.update_time) == ("", made.create_time)
    assert (renamed.name, renamed.notes, renamed.ready_count) == ("Lease of 12 High Street", "", 0)
    assert renamed.update_time.ToDatetime() > made.create_time.ToDatetime()
    assert noted == again == found
    assert (found.notes, found.create_time) == ("Due in May", made.create_time)


async def test_a_change_of_a_matter_that_cannot_be_made_is_refused(service: RunningService) -> None:
    made = (await service.matters.CreateMatter(pb.CreateMatterRequest(name="Lease"))).matter

    async def refused(matter_id: str = made.matter_id, paths: Sequence[str] = (), **values: Any) -> Refusal:
        mask = field_mask_pb2.FieldMask(paths=paths)
        request = pb.UpdateMatterRequest(matter=pb.Matter(matter_id=matter_id, **values), update_mask=mask)
        return await refusal(service.matters.UpdateMatter(request))

    odd = await refused(paths=["name", "create_time", "matter.name"], name="Sale")
    assert odd.code is grpc.StatusCode.INVALID_ARGUMENT
    assert all(f"'{path}' is not a field that can be changed" in odd.message for path in ("create_time", "matter.name"))
    assert (await refused(paths=["name"])).violations == {"matter.name": "must have 1 to 512 characters"}
    assert (await refused(notes="x" * 20_001)).violations.keys() == {"matter.notes"}
    assert_refused(await refused(NOWHERE, name="Sale"), grpc.StatusCode.NOT_FOUND, "MATTER_NOT_FOUND")
    assert (await service.matters.GetMatter(pb.GetMatterRequest(matter_id=made.matter_id))).matter == made


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
    assert (first.total_size, last.total_size) == (3, 3)
    assert [d.filename for d in listed.documents] == names
    assert (listed.total_size, listed.summary.ready_for_search, listed.next_page_token) == (3, 3, "")


async def content_of(
    service: RunningService, document: pb.Document, offset: int = 0, length: int = 0
) -> tuple[pb.DocumentContentHeader, list[bytes]]:
    """The header of a document's content, and the pieces that follow it."""
    request = pb.GetDocumentContentRequest(
        matter_id=document.matter_id, document_id=document.document_id, offset=offset, length=length
    )
    first, *rest = [message async for message in service.matters.GetDocumentContent(request)]
    return first.header, [message.data for message in rest]


async def test_the_bytes_of_a_document_come_back_as_they_were_uploaded(service: RunningService) -> None:
    matter_id = await service.create_matter()
    content = b"%PDF-1.7 no pages" + bytes(range(256)) * 3_000
    document = await service.upload(matter_id, "scan.pdf", content)
    header, pieces = await content_of(service, document)
    assert (header.media_type, header.filename) == ("application/pdf", "scan.pdf")
    assert (header.size_bytes, header.range_start, header.range_end) == (len(content), 0, len(content))
    assert header.sha256 == hashlib.sha256(content).hexdigest()
    assert b"".join(pieces) == content
    assert max(map(len, pieces)) == 256 * 1024


@pytest.mark.parametrize(
    ("offset", "length", "start", "end"),
    [(0, 4, 0, 4), (3, 5, 3, 8), (6, 0, 6, 10), (6, 100, 6, 10), (10, 0, 10, 10), (2**31 - 1, 1, -1, -1)],
)
async def test_a_range_of_a_documents_bytes(
    service: RunningService, offset: int, length: int, start: int, end: int
) -> None:
    matter_id = await service.create_matter()
    document = await service.upload(matter_id, "a.md", b"0123456789")
    if start < 0:
        refused = await refusal(content_of(service, document, offset, length))
        assert_refused(refused, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
        assert refused.violations == {"offset": "must be at most 10, the size of the document"}
        return
    header, pieces = await content_of(service, document, offset, length)
    assert (header.range_start, header.range_end, header.size_bytes) == (start, end, 10)
    assert b"".join(pieces) == b"0123456789"[start:end]


async def test_the_content_of_the_documentation_is_read_too(service: RunningService) -> None:
    document = await service.upload("documentation", "guide.md", b"# Guide")
    assert (await content_of(service, document))[1] == [b"# Guide"]
    document.matter_id = await service.create_matter()
    refused = await refusal(content_of(service, document))
    assert_refused(refused, grpc.StatusCode.NOT_FOUND, "DOCUMENT_NOT_FOUND")
    document.matter_id = NOWHERE
    refused = await refusal(content_of(service, document))
    assert_refused(refused, grpc.StatusCode.NOT_FOUND, "MATTER_NOT_FOUND")


async def test_a_page_says_where_the_words_of_a_quote_stand(service: RunningService) -> None:
    matter_id = await service.create_matter()
    await service.upload(
        matter_id, "lease.pdf", drawn(lines("The rent is due."), lines(), lines("It is paid monthly."))
    )
    [document] = await service.wait_until_ready(matter_id)
    request = pb.GetDocumentPageRequest(matter_id=matter_id, document_id=document.document_id, page=1)
    page = await service.matters.GetDocumentPage(request)
    assert (page.page, page.page_count, page.has_layout, page.width, page.height) == (1, 3, True, 595, 842)
    assert [(word.start, word.end) for word in page.words] == [(0, 3), (4, 8), (9, 11), (12, 16)]
    first = page.words[0]
    assert first.x == pytest.approx(72, abs=1)
    assert first.y + first.height == pytest.approx(84, abs=3)
    request.page, request.start, request.end = 3, 22, 25
    quoted = await service.matters.GetDocumentPage(request)
    assert [(word.start, word.end) for word in quoted.words] == [(21, 23), (24, 28)]
    request.page = 4
    refused = await refusal(service.matters.GetDocumentPage(request))
    assert_refused(refused, grpc.StatusCode.NOT_FOUND, "PAGE_NOT_FOUND")


async def test_pages_without_layout_say_so(service: RunningService) -> None:
    matter_id = await service.create_matter(terms="# Terms")
    await service.upload(matter_id, "lease.txt", b"The rent is due.\fIt is paid monthly.")
    await service.upload(matter_id, "scan.pdf", b"%PDF-1.7 no pages")
    watched = service.matters.WatchDocuments(pb.WatchDocumentsRequest(matter_id=matter_id))
    ids = {state.document.filename: state.document.document_id async for state in watched}

    def page(filename: str, number: int) -> pb.GetDocumentPageRequest:
        return pb.GetDocumentPageRequest(matter_id=matter_id, document_id=ids[filename], page=number)

    plain = await service.matters.GetDocumentPage(page("lease.txt", 2))
    assert plain == pb.GetDocumentPageResponse(page=2, page_count=2)
    refused = await refusal(service.matters.GetDocumentPage(page("lease.txt", 3)))
    assert_refused(refused, grpc.StatusCode.NOT_FOUND, "PAGE_NOT_FOUND")
    refused = await refusal(service.matters.GetDocumentPage(page("terms.md", 1)))
    assert_refused(refused, grpc.StatusCode.FAILED_PRECONDITION, "DOCUMENT_WITHOUT_PAGES")
    refused = await refusal(service.matters.GetDocumentPage(page("scan.pdf", 1)))
    assert_refused(refused, grpc.StatusCode.FAILED_PRECONDITION, "DOCUMENT_FAILED")


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
    assert answer.total_size == len(answer.results)
    assert answer.matter_id == matter_id
    assert AGREEMENT[best.snippet.start :].startswith(best.snippet.text)
    marked = [best.snippet.text[span.start : span.end].lower() for span in best.snippet.highlights]
    assert {"law", "agreement"} <= set(marked)


async def test_every_passage_found_can_be_had_page_by_page(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)

    async def page(token: str = "", query: str = "agreement", size: int = 1) -> tools_pb2.SearchResponse:
        asked: dict[str, Any] = {"query": query, "page_size": size, "page_token": token}
        return await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, min_score=0, **asked))

    whole = await page(size=1_000)
    assert (whole.total_size, whole.total_size_exact, whole.next_page_token) == (len(whole.results), True, "")
    answer = first = await page()
    found = list(answer.results)
    while answer.next_page_token:
        answer = await page(answer.next_page_token)
        found += answer.results
        assert answer.total_size == whole.total_size
    assert [one.chunk_id for one in found] == [one.chunk_id for one in whole.results]
    refused = await refusal(page(first.next_page_token, query="contract"))
    assert list(refused.violations) == ["page_token"]
    await service.upload(matter_id, "other.md", b"# Another agreement\n\nIt says little.\n")
    await service.wait_until_ready(matter_id)
    assert list((await refusal(page(first.next_page_token))).violations) == ["page_token"]


async def test_a_search_says_why_it_found_nothing_worth_returning(service: RunningService) -> None:
    matter_id = await service.create_matter()
    request = tools_pb2.SearchRequest(matter_id=matter_id, query="Which statutes apply?", min_score=1)
    empty = await service.tools.Search(request)
    assert empty.empty_reason == tools_pb2.SEARCH_EMPTY_REASON_NOTHING_SEARCHED
    await service.upload(matter_id, "agreement.md", AGREEMENT.encode())
    await service.wait_until_ready(matter_id)
    far = await service.tools.Search(request)
    assert far.empty_reason == tools_pb2.SEARCH_EMPTY_REASON_BELOW_MIN_SCORE
    assert 0 < far.best_semantic_score < 1
    request.query = '"helicopters at dawn"'
    assert (await service.tools.Search(request)).empty_reason == tools_pb2.SEARCH_EMPTY_REASON_NO_MATCH
    request.query = "Which law governs the agreement?"
    request.min_score = 0
    found = await service.tools.Search(request)
    assert found.empty_reason == tools_pb2.SEARCH_EMPTY_REASON_UNSPECIFIED
    assert found.best_semantic_score == max(one.semantic_score for one in found.results)


async def test_a_search_with_results_names_every_document_that_it_did_not_search(service: RunningService) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    await service.upload(matter_id, "scan.pdf", b"%PDF-1.7 no pages")
    async for _ in service.matters.WatchDocuments(pb.WatchDocumentsRequest(matter_id=matter_id)):
        pass
    listed = await service.matters.ListDocuments(pb.ListDocumentsRequest(matter_id=matter_id))
    asked = [*(document.document_id for document in listed.documents), str(uuid4())]
    request = tools_pb2.SearchRequest(matter_id=matter_id, query="agreement", document_ids=asked)
    answer = await service.tools.Search(request)
    assert answer.results
    assert [one.document_id for one in answer.document_errors] == asked[1:]
    assert all(one.error for one in answer.document_errors)


async def test_a_search_in_another_matters_document_says_that_there_is_none(service: RunningService) -> None:
    other = await service.create_matter(agreement=AGREEMENT)
    [document] = (await service.matters.ListDocuments(pb.ListDocumentsRequest(matter_id=other))).documents
    matter_id = await service.create_matter(agreement=AGREEMENT)
    asked: dict[str, Any] = {"matter_id": matter_id, "document_ids": [document.document_id]}
    found = await service.tools.Search(tools_pb2.SearchRequest(query="agreement", **asked))
    extracted = await service.tools.Extract(tools_pb2.ExtractRequest(question="Which law governs?", **asked))
    assert list(found.document_errors) == list(extracted.document_errors)
    assert [one.error for one in found.document_errors] == ["There is no such document in this matter"]
    assert (found.total_size, found.empty_reason) == (0, tools_pb2.SEARCH_EMPTY_REASON_NOTHING_SEARCHED)


async def test_a_search_shows_words_and_meaning_apart(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    request = tools_pb2.SearchRequest(matter_id=matter_id, query="laws of another planet", min_score=0)
    found = (await service.tools.Search(request)).results
    assert {round(one.lexical_score, 2) for one in found} == {0, 0.33}
    assert all(bool(one.snippet.highlights) == (one.lexical_score > 0) for one in found)


async def test_a_search_for_nonsense_finds_nothing(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    nonsense = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query="x9v8b7n6m5"))
    below = tools_pb2.SEARCH_EMPTY_REASON_BELOW_MIN_SCORE
    assert nonsense.total_size == 0
    assert nonsense.empty_reason in (tools_pb2.SEARCH_EMPTY_REASON_NO_MATCH, below)


async def test_every_result_holds_the_phrase_in_quotes(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    found = await service.tools.Search(
        tools_pb2.SearchRequest(matter_id=matter_id, query='"the laws of"', page_size=20)
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
        tools_pb2.GetDocumentTextRequest(matter_id=matter_id, document_id=whole.document_id, start=2, max_chars=8)
    )
    assert (part.text, part.start, part.truncated, part.file_type) == (AGREEMENT[2:10], 2, True, "md")
    neither = await refusal(service.tools.GetDocumentText(tools_pb2.GetDocumentTextRequest(matter_id=matter_id)))
    assert neither.violations == {"document_id": "document_id or filename is required"}


async def test_a_text_is_read_by_heading(service: RunningService) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    request = tools_pb2.SearchRequest(matter_id=matter_id, query="Which law governs the agreement?", page_size=1)
    wanted = (await service.tools.Search(request)).results[0].citation
    named = tools_pb2.GetDocumentTextRequest(matter_id=matter_id, filename="agreement.md", heading=wanted.heading)
    section = await service.tools.GetDocumentText(named)
    assert AGREEMENT[section.start :].startswith(section.text)
    assert wanted.heading in section.text
    assert (section.section_path, section.page, section.truncated) == (wanted.section_path, 0, False)


async def test_a_page_of_a_document_without_pages_is_refused(service: RunningService) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    named = tools_pb2.GetDocumentTextRequest(matter_id=matter_id, filename="agreement.md", page=1)
    refused = await refusal(service.tools.GetDocumentText(named))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "DOCUMENT_WITHOUT_PAGES")


async def test_a_section_that_a_document_does_not_have_is_not_found(service: RunningService) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    named = tools_pb2.GetDocumentTextRequest(matter_id=matter_id, filename="agreement.md", heading="Deposit")
    refused = await refusal(service.tools.GetDocumentText(named))
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "SECTION_NOT_FOUND")
    assert "no such heading" in refused.message
