"""Uploads: what is refused, what is kept, what comes back."""

import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from proviso_service.errors import Draining, InvalidRequest, MatterNotFound, UnsupportedDocument
from proviso_service.matters.model import DocumentStatus, UploadHeader
from proviso_service.paging import PageRequest
from tests.support.matters_world import OTHER_TENANT, TENANT, MattersWorld, pieces

LEASE = "# Lease\n\n## Rent\n\nThe rent is USD 5 a month.\n"


_MEGABYTE = b"The rent is due. " * (1024 * 1024 // 17)


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def _unread() -> AsyncIterator[bytes]:
    for _ in "x":
        raise AssertionError("the bytes must not be read")
    yield b""


async def test_an_upload_is_stored_with_its_size_and_hash_and_becomes_ready(world: MattersWorld) -> None:
    matter = await world.matter()
    result = await world.upload(matter, LEASE)
    assert not result.already_existed
    assert result.document.status is DocumentStatus.PENDING
    assert result.document.sha256 == hashlib.sha256(LEASE.encode()).hexdigest()
    assert (result.document.size_bytes, result.document.media_type) == (len(LEASE), "text/markdown")
    [progress] = await world.settled(matter)
    document = progress.document
    assert (document.status, document.character_count, document.chunk_count) == (DocumentStatus.READY, len(LEASE), 1)
    assert (await world.matters.get(TENANT, matter.matter_id)).ready_count == 1


async def test_the_same_bytes_are_one_document(world: MattersWorld) -> None:
    matter = await world.matter()
    first = await world.upload(matter, LEASE, "a.md")
    second = await world.upload(matter, LEASE, "b.md")
    assert second.already_existed
    assert second.document.document_id == first.document.document_id
    assert world.blob_count() == 1
    elsewhere = await world.upload(await world.matter(), LEASE)
    assert not elsewhere.already_existed


async def test_a_checksum_is_checked(world: MattersWorld) -> None:
    matter = await world.matter()
    with pytest.raises(InvalidRequest) as refused:
        await world.upload(matter, LEASE, sha256="0" * 64)
    assert [violation.field for violation in refused.value.violations] == ["header.sha256"]
    assert world.blob_count() == 0
    checksum = hashlib.sha256(LEASE.encode()).hexdigest().upper()
    assert not (await world.upload(matter, LEASE, sha256=checksum)).already_existed


@pytest.mark.parametrize("content", [b"", b"x" * 1001])
async def test_empty_and_oversized_files_leave_nothing_behind(world: MattersWorld, content: bytes) -> None:
    world.settings = world.settings.model_copy(update={"max_upload_bytes": 1000})
    async with world.running():
        matter = await world.matter()
        with pytest.raises(InvalidRequest) as refused:
            await world.upload(matter, content)
        assert refused.value.violations[0].field == "data"
        assert world.blob_count() == 0
        assert not await world.matters.all_documents(TENANT, matter.matter_id)


async def test_of_two_hundred_megabytes_no_more_is_taken_than_is_allowed(world: MattersWorld) -> None:
    taken = 0

    async def text() -> AsyncIterator[bytes]:
        nonlocal taken
        for _ in range(200):
            taken += len(_MEGABYTE)
            yield _MEGABYTE

    matter = await world.matter()
    header = UploadHeader(matter.matter_id, "long.txt")
    before = _resident_bytes()
    with pytest.raises(InvalidRequest, match="data: is larger than"):
        await world.matters.upload(TENANT, header, text())
    assert _resident_bytes() - before < 32 * len(_MEGABYTE)
    assert world.settings.max_upload_bytes < taken <= world.settings.max_upload_bytes + len(_MEGABYTE)
    assert world.blob_count() == 0


async def test_every_fault_of_a_header_is_named_at_once(world: MattersWorld) -> None:
    with pytest.raises(InvalidRequest) as refused:
        await world.matters.upload(TENANT, UploadHeader("42", "a\nb.md", "xyz"), _unread())
    fields = [violation.field for violation in refused.value.violations]
    assert fields == ["header.matter_id", "header.filename", "header.sha256"]


async def test_the_bytes_of_hopeless_uploads_are_not_read(world: MattersWorld) -> None:
    matter = await world.matter()
    with pytest.raises(UnsupportedDocument):
        await world.matters.upload(TENANT, UploadHeader(matter.matter_id, "lease.xlsx"), _unread())
    with pytest.raises(MatterNotFound):
        await world.matters.upload(TENANT, UploadHeader(str(uuid4()), "lease.md"), _unread())
    with pytest.raises(MatterNotFound):
        await world.matters.upload(OTHER_TENANT, UploadHeader(matter.matter_id, "lease.md"), _unread())


async def test_a_file_name_loses_its_folders(world: MattersWorld) -> None:
    matter = await world.matter()
    result = await world.upload(matter, LEASE, "..\\..//secret/C:\\files\\ lease.md ")
    assert result.document.filename == "lease.md"


async def test_a_new_version_names_the_document_it_replaces(world: MattersWorld) -> None:
    matter = await world.matter()
    first = await world.upload(matter, LEASE, "Lease.md")
    second = await world.upload(matter, LEASE + "More.", "lease.MD")
    assert second.document.replaces_document_id == first.document.document_id


async def test_an_upload_that_breaks_off_leaves_nothing_behind(world: MattersWorld) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half of"
        raise ConnectionResetError

    matter = await world.matter()
    with pytest.raises(ConnectionResetError):
        await world.matters.upload(TENANT, UploadHeader(matter.matter_id, "lease.md"), broken())
    assert world.blob_count() == 0


async def test_an_upload_to_a_matter_deleted_meanwhile_leaves_nothing_behind(world: MattersWorld) -> None:
    matter = await world.matter()

    async def slow() -> AsyncIterator[bytes]:
        await world.matters.delete(TENANT, matter.matter_id)
        yield LEASE.encode()

    with pytest.raises(MatterNotFound):
        await world.matters.upload(TENANT, UploadHeader(matter.matter_id, "lease.md"), slow())
    assert world.blob_count() == 0


async def test_a_stopped_service_takes_no_uploads(idle_world: MattersWorld) -> None:
    async with idle_world.running() as matters:
        matter = await idle_world.matter()
    with pytest.raises(Draining):
        await matters.upload(TENANT, UploadHeader(matter.matter_id, "lease.md"), pieces(b"text"))
    assert not (await matters.list_documents(TENANT, matter.matter_id, PageRequest())).items
