"""Tests of the leftovers that are recorded for uploads and deletions, and of the removal of a deleted matter's rows."""

from dataclasses import replace

import pytest

from proviso_service.backends.sql.matters import SLICE_CHUNKS, SLICE_DOCUMENTS, SqlMatterStore
from proviso_service.errors import DocumentNotFound, MatterNotFound
from proviso_service.matters.model import Matter
from proviso_service.matters.stores import Leftover
from proviso_service.paging import PageRequest
from tests.support.stored import a_document, ingested


async def left(matters: SqlMatterStore) -> list[str]:
    return [leftover.document_id for leftover in await matters.leftovers(1_000)]


async def test_an_upload_is_on_record_until_its_document_is_stored(matters: SqlMatterStore, matter: Matter) -> None:
    stored, given_up = a_document(matter), a_document(matter)
    for document in (stored, given_up):
        await matters.begin_upload("acme", matter.matter_id, document.document_id)
    assert await left(matters) == []
    await matters.add_document(stored)
    assert await matters.uploads() == [("acme", given_up.document_id)]
    await matters.give_up_uploads([("other", given_up.document_id), ("acme", stored.document_id)])
    assert await left(matters) == []
    await matters.give_up_uploads([("acme", given_up.document_id)])
    assert await left(matters) == [given_up.document_id]
    assert await matters.uploads() == []
    await matters.forget_leftovers("acme", [given_up.document_id])
    assert await left(matters) == []


async def test_an_upload_of_bytes_that_are_known_stays_on_record(matters: SqlMatterStore, matter: Matter) -> None:
    first, _ = await matters.add_document(a_document(matter))
    again = replace(a_document(matter), sha256=first.sha256)
    await matters.begin_upload("acme", matter.matter_id, again.document_id)
    await matters.add_document(again)
    await matters.give_up_uploads(await matters.uploads())
    assert await left(matters) == [again.document_id]


async def test_a_deleted_document_is_on_record(matters: SqlMatterStore, matter: Matter) -> None:
    document = await ingested(matters, matter, "Rent is due.")
    await matters.delete_document("acme", matter.matter_id, document.document_id)
    expected = Leftover("acme", matter.matter_id, document.document_id, matter_deleted=False)
    assert await matters.leftovers(10) == [expected]
    await matters.forget_leftovers("other", [document.document_id])
    assert await matters.leftovers(10) == [expected]
    await matters.delete_matter("acme", matter.matter_id)
    assert await matters.leftovers(10) == [replace(expected, matter_deleted=True)]


async def test_leftovers_are_read_in_parts(matters: SqlMatterStore, matter: Matter) -> None:
    other = await matters.create_matter("zeta", "Elsewhere")
    for owner in (matter, other, matter, matter, other):
        document = await ingested(matters, owner, "Rent is due.")
        await matters.delete_document(owner.tenant, owner.matter_id, document.document_id)
    everything = await matters.leftovers(10)
    seen: list[Leftover] = []
    while part := await matters.leftovers(2, seen[-1] if seen else None):
        seen += part
    assert seen == everything
    assert len(seen) == 5


async def test_a_deleted_matter_exists_for_nobody_before_its_rows_are_gone(
    matters: SqlMatterStore, matter: Matter
) -> None:
    ready = await ingested(matters, matter, "Rent is due.")
    pending, _ = await matters.add_document(a_document(matter, "pending.txt"))
    await matters.delete_matter("acme", matter.matter_id)
    for document_id in (ready.document_id, pending.document_id):
        with pytest.raises(DocumentNotFound):
            await matters.get_document("acme", matter.matter_id, document_id)
    with pytest.raises(DocumentNotFound):
        await matters.find_by_filename("acme", matter.matter_id, "pending.txt")
    with pytest.raises(DocumentNotFound):
        await matters.claim(pending, "replica-1", 60)
    for call in (
        matters.get_matter("acme", matter.matter_id),
        matters.add_document(a_document(matter)),
        matters.delete_matter("acme", matter.matter_id),
    ):
        with pytest.raises(MatterNotFound):
            await call
    assert (await matters.list_matters("acme", PageRequest())).items == []
    assert (await matters.list_documents("acme", matter.matter_id, PageRequest())).items == []
    assert await matters.all_documents("acme", matter.matter_id) == []
    assert await matters.unfinished_documents(10) == []


async def test_the_rows_of_a_deleted_matter_go_slice_by_slice(matters: SqlMatterStore, matter: Matter) -> None:
    kept = await ingested(matters, await matters.create_matter("acme", "Another"), "Rent is due.")
    many = SLICE_DOCUMENTS + 1
    ids = {(await matters.add_document(a_document(matter, f"{n}.txt")))[0].document_id for n in range(many)}
    await matters.delete_matter("acme", matter.matter_id)
    assert await matters.deleted_matters() == [("acme", matter.matter_id)]
    slices = [await matters.delete_documents("acme", matter.matter_id) for _ in range(3)]
    assert [len(removed) for removed in slices] == [SLICE_DOCUMENTS, 1, 0]
    assert {leftover.document_id for removed in slices for leftover in removed} == ids == set(await left(matters))
    assert await matters.deleted_matters() == []
    assert await matters.all_documents("acme", kept.matter_id) == [kept]


async def test_a_slice_holds_few_chunks(matters: SqlMatterStore, matter: Matter) -> None:
    for size in (SLICE_CHUNKS + 1, SLICE_CHUNKS, 1, 1):
        await ingested(matters, matter, *(f"Passage {n}." for n in range(size)))
    await matters.delete_matter("acme", matter.matter_id)
    sizes = []
    while removed := await matters.delete_documents("acme", matter.matter_id):
        sizes.append(len(removed))
    assert sum(sizes) == 4
    assert len(sizes) >= 3


async def test_only_deleted_matters_lose_their_documents(matters: SqlMatterStore, matter: Matter) -> None:
    document = await ingested(matters, matter, "Rent is due.")
    assert await matters.delete_documents("acme", matter.matter_id) == []
    assert await matters.get_document("acme", matter.matter_id, document.document_id) == document
    assert (await matters.get_matter("acme", matter.matter_id)).document_count == 1
