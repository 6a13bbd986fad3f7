import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.errors import DocumentNotFound, FailureCause, MatterNotFound
from proviso_service.matters.model import Document, DocumentStatus, Matter
from proviso_service.paging import PageRequest
from tests.support.stored import Clock, a_document, committed, ingested


async def test_a_matter_is_seen_by_its_tenant_only(matters: SqlMatterStore, matter: Matter) -> None:
    assert await matters.get_matter("acme", matter.matter_id) == matter
    with pytest.raises(MatterNotFound):
        await matters.get_matter("other", matter.matter_id)
    assert (await matters.list_matters("other", PageRequest())).items == []


async def test_a_matter_counts_its_documents(matters: SqlMatterStore, matter: Matter) -> None:
    await ingested(matters, matter, "Rent is due.")
    await matters.add_document(a_document(matter, "pending.txt"))
    await ingested(matters, await matters.create_matter("acme", "Another"), "Unrelated.")
    seen = await matters.get_matter("acme", matter.matter_id)
    assert (seen.document_count, seen.ready_count) == (2, 1)


async def test_matters_are_listed_newest_first(matters: SqlMatterStore, clock: Clock) -> None:
    for name in ("first", "second", "third"):
        await matters.create_matter("acme", name)
        clock.advance(1)
    listed = await matters.list_matters("acme", PageRequest())
    assert [matter.name for matter in listed.items] == ["third", "second", "first"]


async def test_matters_are_found_by_exactly_their_name(matters: SqlMatterStore) -> None:
    for name in ("Lease", "lease", "Lease 2", "Lease"):
        await matters.create_matter("acme", name)
    found = await matters.list_matters("acme", PageRequest(), "Lease")
    assert [matter.name for matter in found.items] == ["Lease", "Lease"]


async def test_deleting_a_matter_takes_its_documents_along_and_no_others(
    matters: SqlMatterStore, matter: Matter
) -> None:
    gone = await ingested(matters, matter, "Rent is due.")
    other = await matters.create_matter("acme", "Another")
    kept = await ingested(matters, other, "Rent is due.")
    await matters.delete_matter("acme", matter.matter_id)
    with pytest.raises(DocumentNotFound):
        await matters.get_document("acme", matter.matter_id, gone.document_id)
    assert await matters.all_documents("acme", other.matter_id) == [kept]
    assert len((await matters.packed_documents("acme", other.matter_id, "test-model", {}))[1]) == 1
    with pytest.raises(MatterNotFound):
        await matters.delete_matter("acme", matter.matter_id)


async def test_another_tenants_matter_cannot_be_deleted(matters: SqlMatterStore, matter: Matter) -> None:
    await ingested(matters, matter, "Rent is due.")
    with pytest.raises(MatterNotFound):
        await matters.delete_matter("other", matter.matter_id)
    assert len((await matters.packed_documents("acme", matter.matter_id, "test-model", {}))[1]) == 1


async def test_a_document_is_stored_as_pending(matters: SqlMatterStore, matter: Matter) -> None:
    document = a_document(matter)
    assert await matters.add_document(replace(document, status=DocumentStatus.READY)) == (document, True)
    assert await matters.get_document("acme", matter.matter_id, document.document_id) == document


async def test_the_same_bytes_are_the_same_document(matters: SqlMatterStore, matter: Matter) -> None:
    first, _ = await matters.add_document(a_document(matter))
    again = replace(a_document(matter, "copy.txt"), sha256=first.sha256)
    assert await matters.add_document(again) == (first, False)
    other = await matters.create_matter("acme", "Another")
    _, new = await matters.add_document(replace(again, matter_id=other.matter_id))
    assert new


async def test_one_of_many_uploads_of_the_same_bytes_at_once_is_new(matters: SqlMatterStore, matter: Matter) -> None:
    uploads = [replace(a_document(matter), sha256="f" * 64) for _ in range(8)]
    results = await asyncio.gather(*(matters.add_document(upload) for upload in uploads))
    assert [new for _, new in results].count(True) == 1
    assert len({document.document_id for document, _ in results}) == 1


async def test_a_document_of_the_same_name_replaces_the_newest_before_it(
    matters: SqlMatterStore, matter: Matter
) -> None:
    first, _ = await matters.add_document(a_document(matter, "Straße.txt"))
    second, _ = await matters.add_document(a_document(matter, "STRASSE.TXT"))
    third, _ = await matters.add_document(a_document(matter, "strasse.txt"))
    names = [document.replaces_document_id for document in (first, second, third)]
    assert names == ["", first.document_id, second.document_id]
    assert await matters.find_by_filename("acme", matter.matter_id, "Strasse.TXT") == third


async def test_the_newest_document_of_a_name_is_the_one_uploaded_last(
    matters: SqlMatterStore, matter: Matter, clock: Clock
) -> None:
    newest, _ = await matters.add_document(a_document(matter, uploaded=clock.time))
    await matters.add_document(a_document(matter, uploaded=clock.time - timedelta(days=1)))
    assert await matters.find_by_filename("acme", matter.matter_id, newest.filename) == newest


async def test_a_document_of_an_absent_matter_is_refused(matters: SqlMatterStore, matter: Matter) -> None:
    for stray in (replace(matter, matter_id="absent"), replace(matter, tenant="other")):
        with pytest.raises(MatterNotFound):
            await matters.add_document(a_document(stray))


async def test_a_document_is_found_only_in_its_own_matter(matters: SqlMatterStore, matter: Matter) -> None:
    document, _ = await matters.add_document(a_document(matter))
    other = await matters.create_matter("acme", "Another")
    for tenant, matter_id in (("acme", other.matter_id), ("other", matter.matter_id)):
        with pytest.raises(DocumentNotFound):
            await matters.get_document(tenant, matter_id, document.document_id)
        with pytest.raises(DocumentNotFound):
            await matters.find_by_filename(tenant, matter_id, document.filename)
        with pytest.raises(DocumentNotFound):
            await matters.delete_document(tenant, matter_id, document.document_id)


async def test_documents_are_listed_in_the_order_of_upload(
    matters: SqlMatterStore, matter: Matter, clock: Clock
) -> None:
    for name, age in (("b", 2), ("c", 1), ("a", 3)):
        await matters.add_document(a_document(matter, name, uploaded=clock.time - timedelta(hours=age)))
    every = await matters.all_documents("acme", matter.matter_id)
    assert [document.filename for document in every] == ["a", "b", "c"]
    assert (await matters.list_documents("acme", matter.matter_id, PageRequest())).items == every


async def test_unfinished_documents_of_all_tenants_are_found_oldest_first(
    matters: SqlMatterStore, matter: Matter, clock: Clock
) -> None:
    other = await matters.create_matter("other", "Elsewhere")
    pending, _ = await matters.add_document(a_document(other, uploaded=clock.time))
    processing, _ = await matters.add_document(a_document(matter, uploaded=clock.time - timedelta(hours=1)))
    claim = await matters.claim(processing, "replica-1", 60)
    assert claim
    failed, _ = await matters.add_document(a_document(matter))
    await matters.fail(failed, "It is encrypted.", FailureCause.FAILED)
    await ingested(matters, matter, "Rent is due.")
    assert await matters.unfinished_documents(10) == [claim.document, pending]


async def test_the_reason_of_a_failure_is_kept_until_the_document_is_tried_again(
    matters: SqlMatterStore, matter: Matter
) -> None:
    document, _ = await matters.add_document(a_document(matter))
    failed = await matters.fail(document, "It is encrypted.", FailureCause.FAILED)
    assert (failed.status, failed.failure_reason) == (DocumentStatus.FAILED, "It is encrypted.")
    assert await matters.retry("acme", matter.matter_id, document.document_id) == document
    assert await matters.retry("acme", matter.matter_id, document.document_id) == document


async def test_a_document_deleted_meanwhile_does_not_come_back(matters: SqlMatterStore, matter: Matter) -> None:
    document, _ = await matters.add_document(a_document(matter))
    await matters.delete_document("acme", matter.matter_id, document.document_id)
    with pytest.raises(DocumentNotFound):
        await matters.claim(document, "replica-1", 60)
    with pytest.raises(DocumentNotFound):
        await matters.fail(document, "It has no text.", FailureCause.FAILED)
    with pytest.raises(DocumentNotFound):
        await committed(matters, document, "Rent is due.")
    assert await matters.all_documents("acme", matter.matter_id) == []


async def test_the_index_version_grows_when_a_document_fails_once(matters: SqlMatterStore, matter: Matter) -> None:
    document, _ = await matters.add_document(a_document(matter))
    await matters.claim(document, "replica-1", 60)
    versions = [(await matters.get_matter("acme", matter.matter_id)).index_version]
    for _ in range(2):
        await matters.fail(document, "It has no text.", FailureCause.FAILED)
        versions.append((await matters.get_matter("acme", matter.matter_id)).index_version)
    assert versions[1] == versions[2] == versions[0] + 1


async def test_the_index_version_grows_when_the_set_of_ready_documents_changes(
    matters: SqlMatterStore, matter: Matter
) -> None:
    versions = [(await matters.get_matter("acme", matter.matter_id)).index_version]

    async def grew() -> bool:
        versions.append((await matters.get_matter("acme", matter.matter_id)).index_version)
        return versions[-1] > versions[-2]

    document, _ = await matters.add_document(a_document(matter))
    await matters.claim(document, "replica-1", 60)
    assert not await grew()
    await committed(matters, document, "Rent is due.")
    assert await grew()
    pending, _ = await matters.add_document(a_document(matter))
    await matters.delete_document("acme", matter.matter_id, pending.document_id)
    assert not await grew()
    await matters.delete_document("acme", matter.matter_id, document.document_id)
    assert await grew()


async def test_every_document_of_all_tenants_comes_once(matters: SqlMatterStore) -> None:
    added = set()
    for tenant in ("b", "a", "c"):
        matter = await matters.create_matter(tenant, "M")
        added |= {(await ingested(matters, matter, f"Text {number}.")).document_id for number in range(3)}
    seen: list[Document] = []
    while page := await matters.documents_after(seen[-1] if seen else None, 2):
        seen += page
    assert len(seen) == 9
    assert {document.document_id for document in seen} == added
    assert [document.tenant for document in seen] == ["a"] * 3 + ["b"] * 3 + ["c"] * 3
