"""What deletions and broken uploads leave behind is cleared: at once, later, or by the next process."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from proviso_service.errors import DocumentNotFound, MatterNotFound, Unavailable
from proviso_service.matters import clearing
from proviso_service.matters.model import Document, Matter, UploadHeader
from proviso_service.retrying import Backoff
from tests.support.audit import check_sound, inventory
from tests.support.matters_world import TENANT, MattersWorld, pieces
from tests.support.noted import Noted

LEASE = "# Lease\n\n## Rent\n\nThe rent is due everywhere.\n"


class Away:
    """Takes the place of a deletion in the index or the blob store: fails so many times, then does its work."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, times: int) -> None:
        self._delete = getattr(owner, name)
        self._times = times
        monkeypatch.setattr(owner, name, self)

    async def __call__(self, *names: str) -> None:
        if self._times > 0:
            self._times -= 1
            raise Unavailable("away")
        await self._delete(*names)


async def until_left(world: MattersWorld, leftovers: int) -> None:
    """Waits until so many rows are left to be cleared."""

    async def are_left() -> bool:
        return (await inventory(world)).rows["leftovers"] == leftovers

    await world.changes.until(are_left)


async def ingested(world: MattersWorld, *filenames: str) -> tuple[Matter, list[Document]]:
    matter = await world.matter()
    documents = await world.ingest(matter, {name: f"{LEASE}\n{name}\n" for name in filenames})
    return matter, [documents[name] for name in filenames]


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries that do not wait."""
    monkeypatch.setattr(clearing, "BACKOFF", Backoff(0.001, 0.01))


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(("part", "name"), [("indexes", "catch_up"), ("blobs", "delete")])
async def test_a_deletion_succeeds_and_is_finished_later_when_a_part_is_away(
    world: MattersWorld, monkeypatch: pytest.MonkeyPatch, part: str, name: str
) -> None:
    matter, [document] = await ingested(world, "lease.md")
    Away(monkeypatch, getattr(world, part), name, times=3)
    await world.matters.delete_document(TENANT, matter.matter_id, document.document_id)
    with pytest.raises(DocumentNotFound):
        await world.matters.get_document(TENANT, matter.matter_id, document.document_id)
    await world.cleared()
    assert (await check_sound(world)).documents == ()


@pytest.mark.usefixtures("soon")
async def test_a_matters_deletion_succeeds_and_is_finished_later_when_the_index_is_away(
    world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proviso_service.backends.sql.matters.SLICE_DOCUMENTS", 1)
    matter, _ = await ingested(world, "a.md", "b.md", "c.md")
    _, [kept] = await ingested(world, "kept.md")
    Away(monkeypatch, world.indexes, "forget", times=2)
    await world.matters.delete(TENANT, matter.matter_id)
    with pytest.raises(MatterNotFound):
        await world.matters.get(TENANT, matter.matter_id)
    await world.cleared()
    assert (await check_sound(world)).documents == (kept,)


@pytest.mark.usefixtures("soon")
async def test_what_cannot_be_cleared_does_not_keep_the_rest(
    world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, documents = await ingested(world, "a.md", "b.md", "c.md")
    _, [another] = await ingested(world, "d.md")
    delete = world.blobs.delete
    stuck = {documents[0].document_id}

    async def delete_others(tenant: str, document_id: str) -> None:
        if document_id in stuck:
            raise Unavailable("away")
        await delete(tenant, document_id)

    monkeypatch.setattr(world.blobs, "delete", delete_others)
    monkeypatch.setattr(clearing, "BATCH_LEFTOVERS", 1)
    for document in (*documents, another):
        await world.matters.delete_document(TENANT, document.matter_id, document.document_id)
    await until_left(world, 1)
    stuck.clear()
    await world.cleared()
    assert (await check_sound(world)).documents == ()


async def test_the_next_start_clears_what_a_process_has_left(
    idle_world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = idle_world
    async with world.running():
        matter, [document, kept] = await ingested(world, "lease.md", "kept.md")
        gone, _ = await ingested(world, "a.md", "b.md")
    # What a process does before it is killed: rows deleted, bytes of an upload stored.
    await world.store.delete_document(TENANT, matter.matter_id, document.document_id)
    await world.store.delete_matter(TENANT, gone.matter_id)
    await world.store.begin_upload(TENANT, matter.matter_id, "half-done")
    await world.blobs.put(TENANT, "half-done", pieces(b"bytes"))
    async with world.running():
        await world.cleared()
        assert (await check_sound(world)).documents == (kept,)


async def test_the_start_does_not_wait_for_the_clearing(
    idle_world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = idle_world
    async with world.running():
        matter, [document] = await ingested(world, "lease.md")
    await world.store.delete_document(TENANT, matter.matter_id, document.document_id)
    begun, never = asyncio.Event(), asyncio.Event()

    async def hang(*_: str) -> None:
        begun.set()
        await never.wait()

    monkeypatch.setattr(world.indexes, "catch_up", hang)
    async with world.running():
        await begun.wait()
        await world.upload(matter, LEASE + "More.")
        await world.settled(matter)
    assert len(await world.store.leftovers(10)) == 1
    monkeypatch.undo()
    async with world.running():
        await world.cleared()


async def test_an_upload_under_way_is_left_alone(world: MattersWorld) -> None:
    matter, [document] = await ingested(world, "lease.md")
    stored = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield LEASE.encode()
        await stored.wait()

    upload = asyncio.create_task(world.matters.upload(TENANT, UploadHeader(matter.matter_id, "slow.md"), slow()))
    await until_left(world, 1)
    await world.matters.delete_document(TENANT, matter.matter_id, document.document_id)
    await world.cleared()
    stored.set()
    await upload
    await world.settled(matter)
    assert len((await check_sound(world)).ready) == 1


@pytest.mark.usefixtures("soon")
async def test_bytes_of_an_upload_that_cannot_be_deleted_are_cleared_later(
    world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    matter, [document] = await ingested(world, "lease.md")
    Away(monkeypatch, world.blobs, "delete", times=3)
    again = await world.upload(matter, f"{LEASE}\nlease.md\n", "again.md")
    assert (again.document.document_id, again.already_existed) == (document.document_id, True)
    await until_left(world, 0)
    assert (await check_sound(world)).documents == (document,)


async def upload_of_another_process(world: MattersWorld) -> None:
    """Stores the bytes of one, and notes that it was begun."""
    matter = await world.matter()
    await world.blobs.put(TENANT, "half-done", pieces(b"bytes"))
    await world.store.begin_upload(TENANT, matter.matter_id, "half-done")


async def test_an_upload_whose_process_is_gone_for_long_is_cleared(
    idle_world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clearing, "LOOK_S", 0.01)
    monkeypatch.setattr(clearing, "ABANDONED_S", 0.02)
    async with idle_world.running():
        await upload_of_another_process(idle_world)
        await until_left(idle_world, 0)
        assert idle_world.blob_count() == 0


async def test_an_upload_of_another_process_is_left_alone(
    idle_world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clearing, "LOOK_S", 0.01)
    looks, looked, uploads = 0, asyncio.Event(), idle_world.store.uploads
    async with idle_world.running():
        await upload_of_another_process(idle_world)

        async def noted() -> Sequence[tuple[str, str]]:
            nonlocal looks
            looks += 1
            if looks > 2:
                looked.set()
            return await uploads()

        monkeypatch.setattr(idle_world.store, "uploads", noted)
        await looked.wait()
        assert await uploads() == [(TENANT, "half-done")]
        assert idle_world.blob_count() == 1


@pytest.mark.parametrize("is_shared", [True, False])
async def test_a_start_gives_up_uploads_unless_another_process_may_be_at_them(
    idle_world: MattersWorld, is_shared: bool
) -> None:
    if is_shared:
        idle_world.notices = Noted()
    async with idle_world.running():
        await upload_of_another_process(idle_world)
    async with idle_world.running():
        assert await idle_world.store.uploads() == ([(TENANT, "half-done")] if is_shared else [])


async def test_an_upload_that_takes_too_long_ends_and_leaves_nothing(
    world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proviso_service.matters.service.LONGEST_UPLOAD_S", 0.05)
    matter = await world.matter()

    async def endless() -> AsyncIterator[bytes]:
        yield b"bytes"
        await asyncio.Event().wait()

    with pytest.raises(Unavailable, match="too long"):
        await world.matters.upload(TENANT, UploadHeader(matter.matter_id, "endless.md"), endless())
    assert (world.blob_count(), await world.store.uploads()) == (0, [])


async def test_a_matter_deleted_while_it_is_ingested_leaves_nothing(world: MattersWorld) -> None:
    matter = await world.matter()
    with world.embedder.shut_meanwhile():
        for number in range(5):
            await world.upload(matter, f"{LEASE}{number}", f"{number}.md")
        await world.embedder.someone_waits()
        await world.matters.delete(TENANT, matter.matter_id)
        found = await inventory(world)
    assert found.rows == dict.fromkeys(found.rows, 0)
    assert (found.blobs, found.indexed) == (frozenset(), 0)


async def test_a_document_deleted_before_it_is_ready_leaves_nothing(
    world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = world.store.commit_ready
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def held(*arguments: object) -> object:
        begun.set()
        await go_on.wait()
        return await work(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(world.store, "commit_ready", held)
    matter = await world.matter()
    document = (await world.upload(matter, LEASE)).document
    await begun.wait()
    await world.matters.delete_document(TENANT, matter.matter_id, document.document_id)
    go_on.set()
    # Ingestion is done with it once later documents have gone all the way through each worker.
    later = world.settings.ingest_workers * 2
    for number in range(later):
        await world.ingest(matter, {f"later{number}.md": f"{LEASE}{number}"})
    assert len((await check_sound(world)).ready) == later
