"""Documents that come again: failed ones are tried again, new versions name what they replace."""

import pytest

from proviso_service.errors import DocumentNotFound
from proviso_service.matters.ingestion import FAULT
from proviso_service.matters.model import Document, DocumentStatus, Matter
from tests.support.audit import check_sound
from tests.support.matters_world import TENANT, MattersWorld

NOTES = "# Notes\n\nThe rent is due everywhere.\n"


async def only_document(world: MattersWorld, matter: Matter) -> Document:
    [progress] = await world.settled(matter)
    return progress.document


async def failed(world: MattersWorld, matter: Matter, filename: str = "notes.md") -> Document:
    world.embedder.failures.append(RuntimeError("once"))
    await world.upload(matter, NOTES, filename)
    document = await only_document(world, matter)
    assert (document.status, document.failure_reason) == (DocumentStatus.FAILED, FAULT)
    return document


async def test_a_failed_document_uploaded_again_is_the_same_one_and_becomes_ready(world: MattersWorld) -> None:
    matter = await world.matter()
    before = await failed(world, matter)
    again = await world.upload(matter, NOTES, "notes.md")
    assert again.already_existed
    assert (again.document.status, again.document.failure_reason) == (DocumentStatus.PENDING, "")
    after = await only_document(world, matter)
    assert (after.document_id, after.status) == (before.document_id, DocumentStatus.READY)
    assert (after.upload_time, after.filename) == (before.upload_time, before.filename)
    await check_sound(world)


async def test_a_failed_document_is_tried_again_as_often_as_it_is_uploaded(world: MattersWorld) -> None:
    matter = await world.matter()
    first = await failed(world, matter)
    for _ in range(3):
        assert (await failed(world, matter)).document_id == first.document_id
    await world.upload(matter, NOTES, "notes.md")
    assert (await only_document(world, matter)).status is DocumentStatus.READY


async def test_a_wrong_extension_is_mended_by_another_name(world: MattersWorld) -> None:
    matter = await world.matter()
    before = await failed(world, matter, "notes.txt")
    again = await world.upload(matter, NOTES, "Notes.md")
    assert (again.document.filename, again.document.media_type) == ("Notes.md", "text/markdown")
    after = await only_document(world, matter)
    assert (after.document_id, after.status) == (before.document_id, DocumentStatus.READY)
    found = await world.matters.document_text(TENANT, matter.matter_id, filename="notes.md")
    assert found.document == after
    with pytest.raises(DocumentNotFound):
        await world.matters.document_text(TENANT, matter.matter_id, filename="notes.txt")


async def test_documents_that_have_not_failed_keep_their_name(world: MattersWorld) -> None:
    matter = await world.matter()
    with world.embedder.shut_meanwhile():
        await world.upload(matter, NOTES, "notes.md")
        await world.embedder.someone_waits()
        during = await world.upload(matter, NOTES, "other.txt")
    assert (during.already_existed, during.document.filename) == (True, "notes.md")
    assert during.document.status is DocumentStatus.PROCESSING
    ready = await only_document(world, matter)
    again = await world.upload(matter, NOTES, "other.txt")
    assert (again.already_existed, again.document) == (True, ready)


async def test_a_document_that_fails_again_and_is_then_deleted_leaves_nothing(world: MattersWorld) -> None:
    matter = await world.matter()
    document = await failed(world, matter)
    await failed(world, matter)
    await world.matters.delete_document(TENANT, matter.matter_id, document.document_id)
    assert (await check_sound(world)).documents == ()


async def test_a_renamed_retry_replaces_what_had_its_name_before_it(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": "# Lease\n\nFirst, everywhere.\n"})
    [first] = await world.matters.all_documents(TENANT, matter.matter_id)
    world.embedder.failures.append(RuntimeError("once"))
    await world.upload(matter, NOTES, "notes.md")
    await world.settled(matter)
    later = (await world.upload(matter, "# Lease\n\nThird, everywhere.\n", "LEASE.md")).document
    renamed = (await world.upload(matter, NOTES, "Lease.MD")).document
    assert later.replaces_document_id == renamed.replaces_document_id == first.document_id
    await world.settled(matter)
    newest = await world.matters.document_text(TENANT, matter.matter_id, filename="lease.md")
    assert newest.document.document_id == later.document_id


async def test_versions_of_a_name_make_a_chain_without_regard_to_case(world: MattersWorld) -> None:
    matter = await world.matter()
    names = ("Übersicht.md", "ÜBERSICHT.MD", "übersicht.md")
    versions = [(await world.upload(matter, f"{NOTES}{n}", name)).document for n, name in enumerate(names)]
    ids = [version.document_id for version in versions]
    assert [version.replaces_document_id for version in versions] == ["", *ids[:2]]


async def test_a_document_says_what_it_replaced_also_when_that_is_deleted(world: MattersWorld) -> None:
    matter = await world.matter()
    first, second, third = [(await world.upload(matter, f"{NOTES}{n}", "lease.md")).document for n in range(3)]
    await world.matters.delete_document(TENANT, matter.matter_id, second.document_id)
    kept = await world.matters.get_document(TENANT, matter.matter_id, third.document_id)
    assert kept.replaces_document_id == second.document_id
    await world.matters.delete_document(TENANT, matter.matter_id, third.document_id)
    fourth = (await world.upload(matter, f"{NOTES}4", "lease.md")).document
    assert fourth.replaces_document_id == first.document_id
