"""Matters, their documents and texts."""

import pytest

from proviso_service.errors import DocumentFailed, DocumentNotFound, DocumentProcessing, InvalidRequest, MatterNotFound
from proviso_service.matters.document_text import TextPart
from proviso_service.matters.model import DocumentStatus
from proviso_service.paging import PageRequest
from tests.support.audit import inventory
from tests.support.matters_world import OTHER_TENANT, TENANT, MattersWorld

UNKNOWN = "00000000-0000-4000-8000-000000000000"
LEASE = "# Lease\n\n## Rent\n\nThe rent is \U0001f4b6 5 a month.\n"


async def test_matters_are_listed_newest_first_and_by_name(world: MattersWorld) -> None:
    first, second = await world.matters.create(TENANT, " Alpha "), await world.matters.create(TENANT, "Beta")
    listed = await world.matters.list(TENANT, PageRequest())
    assert [matter.matter_id for matter in listed.items] == [second.matter_id, first.matter_id]
    assert [m.name for m in (await world.matters.list(TENANT, PageRequest(), "Alpha")).items] == ["Alpha"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 513])
async def test_a_matter_needs_a_name(world: MattersWorld, name: str) -> None:
    with pytest.raises(InvalidRequest):
        await world.matters.create(TENANT, name)


@pytest.mark.parametrize("bad", ["", "42", "{" + UNKNOWN[1:-1] + "}", UNKNOWN.replace("-", ""), UNKNOWN + " "])
async def test_ids_must_be_uuids(world: MattersWorld, bad: str) -> None:
    matter = await world.matter()
    calls = [
        world.matters.get(TENANT, bad),
        world.matters.delete(TENANT, bad),
        world.matters.all_documents(TENANT, bad),
        world.matters.get_document(TENANT, bad, UNKNOWN),
        world.matters.get_document(TENANT, matter.matter_id, bad),
        world.matters.delete_document(TENANT, matter.matter_id, bad),
    ]
    for call in calls:
        with pytest.raises(InvalidRequest, match="must be a UUID"):
            await call


async def test_ids_are_compared_without_case(world: MattersWorld) -> None:
    matter = await world.matter()
    documents = await world.ingest(matter, {"lease.md": LEASE})
    shouted = matter.matter_id.upper()
    assert (await world.matters.get(TENANT, shouted)).matter_id == matter.matter_id
    assert len(await world.matters.all_documents(TENANT, shouted)) == 1
    document_id = documents["lease.md"].document_id.upper()
    assert (await world.matters.document_text(TENANT, shouted, document_id=document_id)).text == LEASE


async def test_another_tenants_matter_does_not_exist(world: MattersWorld) -> None:
    matter = await world.matter()
    documents = await world.ingest(matter, {"lease.md": LEASE})
    document_id = documents["lease.md"].document_id
    for call in [
        world.matters.get(OTHER_TENANT, matter.matter_id),
        world.matters.delete(OTHER_TENANT, matter.matter_id),
        world.matters.all_documents(OTHER_TENANT, matter.matter_id),
        world.matters.get_document(OTHER_TENANT, matter.matter_id, document_id),
        world.matters.delete_document(OTHER_TENANT, matter.matter_id, document_id),
        world.matters.document_text(OTHER_TENANT, matter.matter_id, filename="lease.md"),
    ]:
        with pytest.raises(MatterNotFound):
            await call
    assert (await world.matters.list(OTHER_TENANT, PageRequest())).items == []


async def test_a_document_belongs_to_its_matter_only(world: MattersWorld) -> None:
    documents = await world.ingest(await world.matter(), {"lease.md": LEASE})
    other = await world.matter()
    with pytest.raises(DocumentNotFound):
        await world.matters.get_document(TENANT, other.matter_id, documents["lease.md"].document_id)


async def test_text_is_read_in_parts_by_code_points(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"Lease.md": LEASE})

    async def part(start: int, max_length: int) -> tuple[str, bool]:
        text = await world.matters.document_text(
            TENANT, matter.matter_id, filename="LEASE.md", part=TextPart(start, max_length=max_length)
        )
        assert text.character_count == len(LEASE)
        return text.text, text.truncated

    position = LEASE.index("\U0001f4b6")
    assert await part(position, 3) == ("\U0001f4b6 5", True)
    assert await part(position, 1000) == (LEASE[position:], False)
    assert await part(0, len(LEASE)) == (LEASE, False)
    assert await part(len(LEASE) + 5, 10) == ("", False)


async def test_a_text_is_asked_for_by_exactly_one_name(world: MattersWorld) -> None:
    matter = await world.matter()
    for document_id, filename in [("", ""), (UNKNOWN, "lease.md")]:
        with pytest.raises(InvalidRequest):
            await world.matters.document_text(TENANT, matter.matter_id, document_id=document_id, filename=filename)
    with pytest.raises(DocumentNotFound):
        await world.matters.document_text(TENANT, matter.matter_id, filename="lease.md")


async def test_by_name_the_newest_text_is_read(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE})
    await world.ingest(matter, {"lease.md": "The newer lease."})
    text = await world.matters.document_text(TENANT, matter.matter_id, filename="lease.md")
    assert text.text == "The newer lease."


async def test_a_text_that_is_not_ready_says_why(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.upload(matter, b"\xff\xff", "broken.md")
    await world.settled(matter)
    with pytest.raises(DocumentFailed, match=r"broken\.md could not be read: The file is not readable text"):
        await world.matters.document_text(TENANT, matter.matter_id, filename="broken.md")
    with world.embedder.shut_meanwhile():
        await world.upload(matter, LEASE, "lease.md")
        with pytest.raises(DocumentProcessing, match="still being processed"):
            await world.matters.document_text(TENANT, matter.matter_id, filename="lease.md")


async def test_a_deleted_document_is_gone_from_everywhere(world: MattersWorld) -> None:
    matter = await world.matter()
    documents = await world.ingest(matter, {"lease.md": LEASE, "other.md": "Another text about the rent."})
    document_id = documents["lease.md"].document_id
    await world.matters.delete_document(TENANT, matter.matter_id, document_id)
    with pytest.raises(DocumentNotFound):
        await world.matters.get_document(TENANT, matter.matter_id, document_id)
    outcome = await world.search(matter, "rent", threshold=0.0)
    assert {hit.stored.filename for hit in outcome.hits} == {"other.md"}
    assert ((await inventory(world)).indexed, world.blob_count()) == (1, 1)
    assert not (await world.upload(matter, LEASE)).already_existed


async def test_a_deleted_matter_takes_its_documents_along(world: MattersWorld) -> None:
    matter, other = await world.matter(), await world.matter()
    for each in (matter, other):
        await world.ingest(each, {"lease.md": LEASE})
    await world.matters.delete(TENANT, matter.matter_id)
    with pytest.raises(MatterNotFound):
        await world.matters.get(TENANT, matter.matter_id)
    assert ((await inventory(world)).indexed, world.blob_count()) == (1, 1)
    [document] = await world.matters.all_documents(TENANT, other.matter_id)
    assert document.status is DocumentStatus.READY
