"""A tenant's documentation: kept and searched like a matter, and no matter."""

import pytest

from proviso_service.errors import InvalidRequest, MatterNotFound
from proviso_service.matters.model import DOCUMENTATION, DocumentStatus, UploadHeader
from proviso_service.matters.retrieval import Documentation, Retriever
from proviso_service.paging import PageRequest
from tests.support.matters_world import OTHER_TENANT, TENANT, MattersWorld, pieces

HANDBOOK = "# Handbook\n\n## Holidays\n\nEveryone has thirty days of annual leave.\n"
LEAVE = "How many days of annual leave are there?"


@pytest.fixture
def documentation(world: MattersWorld) -> Documentation:
    return Documentation(world.store, Retriever(world.store, world.indexes, world.embedder))


async def ingest(world: MattersWorld, text: str, filename: str = "handbook.md", tenant: str = TENANT) -> str:
    """The id of a document that is READY."""
    header = UploadHeader(DOCUMENTATION, filename)
    document = (await world.matters.upload(tenant, header, pieces(text.encode()))).document
    async for progress in world.matters.watch(tenant, DOCUMENTATION, [document.document_id]):
        document = progress.document
    assert document.status is DocumentStatus.READY
    return document.document_id


async def test_it_is_empty_before_the_first_upload(world: MattersWorld, documentation: Documentation) -> None:
    assert await documentation.ready_version(TENANT) == 0
    assert (await documentation.search(TENANT, LEAVE, 5)).hits == ()
    assert list(await world.matters.all_documents(TENANT, DOCUMENTATION)) == []


async def test_what_is_uploaded_is_found(world: MattersWorld, documentation: Documentation) -> None:
    document_id = await ingest(world, HANDBOOK)
    [hit] = (await documentation.search(TENANT, LEAVE, 5)).hits
    assert (hit.stored.document_id, hit.stored.filename) == (document_id, "handbook.md")
    assert "thirty days" in hit.stored.chunk.text
    assert await documentation.ready_version(TENANT)


async def test_its_version_grows_with_each_change(world: MattersWorld, documentation: Documentation) -> None:
    document_id = await ingest(world, HANDBOOK)
    first = await documentation.ready_version(TENANT)
    await world.matters.delete_document(TENANT, DOCUMENTATION, document_id)
    assert await documentation.ready_version(TENANT) == 0
    await ingest(world, HANDBOOK)
    assert 0 < first < await documentation.ready_version(TENANT)


async def test_a_document_that_failed_is_none_to_search(world: MattersWorld, documentation: Documentation) -> None:
    await world.matters.upload(TENANT, UploadHeader(DOCUMENTATION, "bad.pdf"), pieces(b"%PDF-1.7 nothing"))
    [last] = [p async for p in world.matters.watch(TENANT, DOCUMENTATION, []) if p.document.status.is_final]
    assert last.document.status is DocumentStatus.FAILED
    assert await documentation.ready_version(TENANT) == 0


async def test_each_tenant_has_its_own(world: MattersWorld, documentation: Documentation) -> None:
    document_id = await ingest(world, HANDBOOK)
    await ingest(world, "# Other\n\nTravel is booked by the office.\n", tenant=OTHER_TENANT)
    assert (await documentation.search(OTHER_TENANT, LEAVE, 5)).hits == ()
    [theirs] = await world.matters.all_documents(OTHER_TENANT, DOCUMENTATION)
    assert theirs.document_id != document_id
    [ours] = await world.matters.all_documents(TENANT, DOCUMENTATION)
    assert ours.document_id == document_id
    assert await documentation.ready_version("tenant-c") == 0


async def test_it_is_no_matter(world: MattersWorld) -> None:
    await ingest(world, HANDBOOK)
    matter = await world.matter()
    assert [m.matter_id for m in (await world.matters.list(TENANT, PageRequest())).items] == [matter.matter_id]
    assert (await world.matters.list(TENANT, PageRequest(), DOCUMENTATION)).items == []
    for call in (world.matters.get(TENANT, DOCUMENTATION), world.matters.delete(TENANT, DOCUMENTATION)):
        with pytest.raises(InvalidRequest, match="must be a UUID"):
            await call
    assert len(await world.matters.all_documents(TENANT, DOCUMENTATION)) == 1


async def test_a_matters_search_does_not_find_it_nor_the_other_way_round(
    world: MattersWorld, documentation: Documentation
) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": "# Lease\n\nThe rent is due each month.\n"})
    await ingest(world, HANDBOOK)
    assert {h.stored.filename for h in (await world.search(matter, LEAVE, threshold=0.0)).hits} == {"lease.md"}
    assert (await documentation.search(TENANT, '"The rent is due"', 5)).hits == ()


async def test_a_matter_that_does_not_exist_still_is_not_found(world: MattersWorld) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    with pytest.raises(MatterNotFound):
        await world.matters.all_documents(TENANT, unknown)
