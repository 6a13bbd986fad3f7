"""Uploads and lists through the Python client, of the real service, with either client."""

import io
from pathlib import Path

import grpc
import pytest

from proviso_client.errors import DocumentsFailed, InvalidRequest, NotFound
from proviso_client.v1 import matters_pb2
from tests.support.client_kinds import Connect
from tests.support.cutting_proxy import cutting_proxy
from tests.support.pdf_files import drawn, lines
from tests.support.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

BIG_BYTES = 20 * 1024 * 1024
CUT_BYTES = 250
"""Of the service's answers to an upload: more than the settings of a connection take, less than all of them."""
UNKNOWN = "00000000-0000-4000-8000-000000000000"


async def test_a_file_of_twenty_megabytes_is_uploaded_from_disk(
    connect: Connect, staged: Stage, tmp_path: Path
) -> None:
    path = tmp_path / f"{connect.__name__}.html"
    with path.open("wb") as file:
        file.write(f"<!-- {connect.__name__}".encode())
        file.write(b"." * BIG_BYTES)
        file.write(b"--><h1>Lease</h1><p>The rent is due monthly.</p>")
    size = path.stat().st_size
    steps: list[tuple[int, int | None]] = []
    states: list[matters_pb2.WatchDocumentsResponse] = []
    async with connect(staged.target) as client:
        matter = await client.matters.create("Big")
        uploaded = await client.documents.upload(
            matter.matter_id, path, progress=lambda sent, total: steps.append((sent, total))
        )
        document = uploaded.document
        assert (document.filename, document.size_bytes) == (path.name, size)
        ready = await client.documents.wait_until_ready(
            matter.matter_id, [document.document_id], progress=states.append
        )
    assert [document.status for document in ready] == [matters_pb2.DOCUMENT_STATUS_READY]
    assert states[-1].document == ready[0]
    assert steps[-1] == (size, size)
    assert len(steps) > 50
    assert [sent for sent, _ in steps] == sorted(sent for sent, _ in steps)


async def test_the_original_and_the_words_of_its_pages_are_read(connect: Connect, staged: Stage) -> None:
    content = drawn(lines("The rent is due."))
    async with connect(staged.target) as client:
        matter = await client.matters.create("Originals")
        document = (await client.documents.upload(matter.matter_id, content, filename="rent.pdf")).document
        await client.documents.wait_until_ready(matter.matter_id)
        place = (matter.matter_id, document.document_id)
        messages = [message async for message in client.documents.content(*place, offset=5, length=3)]
        page = await client.documents.page(*place, 1, start=4, end=11)
    assert messages[0].header.sha256 == document.sha256
    assert b"".join(message.data for message in messages) == content[5:8]
    assert [(word.start, word.end) for word in page.words] == [(4, 8), (9, 11)]


async def test_bytes_paths_and_open_files_are_the_same_document(
    connect: Connect, staged: Stage, tmp_path: Path
) -> None:
    content = b"# Notice\n\nThe tenant has left.\n"
    path = tmp_path / "notice.md"
    path.write_bytes(content)
    async with connect(staged.target) as client:
        matter = await client.matters.create("Notices")
        first = await client.documents.upload(matter.matter_id, content, filename="notice.md")
        await client.documents.wait_until_ready(matter.matter_id)
        second = await client.documents.upload(matter.matter_id, str(path))
        assert second.document.document_id == first.document.document_id
        totals: list[int | None] = []
        with path.open("rb") as file:
            again = await client.documents.upload(
                matter.matter_id, file, progress=lambda _sent, total: totals.append(total)
            )
            assert not file.closed
        assert again.document.document_id == first.document.document_id
        assert [one.already_existed for one in (first, second, again)] == [False, True, True]
        assert totals == [None]


async def test_what_cannot_be_sent_is_said_before_anything_is_sent(
    connect: Connect, staged: Stage, tmp_path: Path
) -> None:
    async with connect(staged.target) as client:
        with pytest.raises(FileNotFoundError):
            await client.documents.upload(staged.matter_id, tmp_path / "missing.md")
        for nameless in (b"text", io.BytesIO(b"text")):
            with pytest.raises(ValueError, match="filename"):
                await client.documents.upload(staged.matter_id, nameless)


async def test_a_source_that_fails_on_the_way_fails_the_upload_with_its_own_error(
    connect: Connect, staged: Stage
) -> None:
    class Torn(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > 0:
                raise OSError("the disk is gone")
            return super().read(size)

    async with connect(staged.target) as client:
        with pytest.raises(OSError, match="the disk is gone"):
            await client.documents.upload(staged.matter_id, Torn(b"." * 1_000_000), filename="torn.txt")


async def test_an_upload_that_is_cut_begins_again(connect: Connect, staged: Stage) -> None:
    content = f"<!-- {connect.__name__}".encode() + b"." * 4_000_000 + b"--><p>The rent is due.</p>"
    sent: list[int] = []
    async with cutting_proxy(staged.port) as proxy:
        async with connect(proxy.target) as client:
            matter = await client.matters.create("Cut")
            await proxy.connections.break_all()
            proxy.cut_after([CUT_BYTES])
            uploaded = await client.documents.upload(
                matter.matter_id, content, filename="cut.html", progress=lambda done, _: sent.append(done)
            )
        assert proxy.cuts_made == 1
    assert uploaded.document.size_bytes == sent[-1] == len(content)
    assert sent.count(sent[0]) > 1, "the first piece was sent twice"


async def test_a_refusal_in_the_middle_of_an_upload_is_told(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target) as client:
        with pytest.raises(InvalidRequest) as raised:
            await client.documents.upload(staged.matter_id, bytes(2 * BIG_BYTES), filename="a.txt")
        assert [violation.field for violation in raised.value.violations] == ["data"]
        with pytest.raises(NotFound) as missing:
            await client.documents.upload(UNKNOWN, bytes(8 * 1024 * 1024), filename="a.txt")
        assert missing.value.reason == "MATTER_NOT_FOUND"
        assert missing.value.code == grpc.StatusCode.NOT_FOUND


async def test_documents_that_cannot_be_read_fail_with_the_reason_of_each(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target) as client:
        matter = await client.matters.create("Broken")
        await client.documents.upload(matter.matter_id, b"%PDF-1.7\nbroken", filename="broken.pdf")
        with pytest.raises(DocumentsFailed, match=r"broken\.pdf: ") as raised:
            await client.documents.wait_until_ready(matter.matter_id)
        assert [document.failure_reason != "" for document in raised.value.documents] == [True]


async def test_lists_go_on_over_all_pages(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target, user_id=connect.__name__) as client:
        matter = await client.matters.create("Paged")
        names = [f"{number}.md" for number in range(5)]
        for name in names:
            await client.documents.upload(matter.matter_id, name.encode(), filename=name)
        listed = [document async for document in client.documents.list(matter.matter_id, page_size=2)]
        assert [document.filename for document in listed] == names
        await client.documents.delete(matter.matter_id, listed[0].document_id)
        assert (await client.documents.get(matter.matter_id, listed[1].document_id)).filename == "1.md"
        paged = [found async for found in client.matters.list(name="Paged", page_size=1)]
        assert matter.matter_id in {found.matter_id for found in paged}
        await client.matters.delete(matter.matter_id)
        with pytest.raises(NotFound):
            await client.matters.get(matter.matter_id)
