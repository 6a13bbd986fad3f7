"""Watching documents on their way."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from proviso_service.errors import DocumentNotFound, Draining, FailureCause, InvalidRequest, MatterNotFound
from proviso_service.matters.model import DocumentProgress, DocumentStatus
from proviso_service.matters.progress import DocumentWatch, ProgressBoard
from tests.support.matters_world import OTHER_TENANT, TENANT, MattersWorld

LEASE = "# Lease\n\n## Rent\n\nThe rent is USD 5 a month.\n"


async def _all(watch: AsyncIterator[DocumentProgress]) -> list[DocumentProgress]:
    seen: list[DocumentProgress] = []
    await _collect(watch, seen)
    return seen


async def _collect(watch: AsyncIterator[DocumentProgress], seen: list[DocumentProgress]) -> None:
    """What was seen before a failure stays in `seen`."""
    async for progress in watch:
        seen.append(progress)  # noqa: PERF401  # a comprehension would lose what came before the failure


async def test_states_only_go_forward_and_end_in_ready(world: MattersWorld) -> None:
    matter = await world.matter()
    with world.embedder.shut_meanwhile():
        document = (await world.upload(matter, "\n\n".join(f"# Part {n}\n\nText {n}." for n in range(150)))).document
        await world.embedder.someone_waits()
        watch = world.matters.watch(TENANT, matter.matter_id, [document.document_id])
        seen = [await anext(watch)]
    seen += await _all(watch)
    assert (seen[0].document.status, seen[0].chunks_done, seen[0].chunks_total) == (DocumentStatus.PROCESSING, 0, 150)
    done = [progress.chunks_done for progress in seen]
    assert done == sorted(done)
    assert {progress.document.status for progress in seen[:-1]} == {DocumentStatus.PROCESSING}
    assert (seen[-1].document.status, done[-1], seen[-1].chunks_total) == (DocumentStatus.READY, 150, 150)


async def test_without_ids_all_documents_are_watched(world: MattersWorld) -> None:
    matter = await world.matter()
    assert await _all(world.matters.watch(TENANT, matter.matter_id, [])) == []
    await world.upload(matter, LEASE, "a.md")
    await world.upload(matter, b"\xff", "b.md")
    last = {p.document.filename: p.document.status for p in await world.settled(matter)}
    assert last == {"a.md": DocumentStatus.READY, "b.md": DocumentStatus.FAILED}
    again = await _all(world.matters.watch(TENANT, matter.matter_id, []))
    assert [progress.document.filename for progress in again] == ["a.md", "b.md"]


async def test_many_watchers_all_see_the_end(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.upload(matter, LEASE)
    seen = await asyncio.gather(*(_all(world.matters.watch(TENANT, matter.matter_id, [])) for _ in range(20)))
    assert {progress[-1].document.status for progress in seen} == {DocumentStatus.READY}


async def test_what_is_unknown_cannot_be_watched(world: MattersWorld) -> None:
    matter = await world.matter()
    with pytest.raises(DocumentNotFound):
        await _all(world.matters.watch(TENANT, matter.matter_id, [str(uuid4())]))
    with pytest.raises(InvalidRequest, match=r"document_ids\[1\]"):
        await _all(world.matters.watch(TENANT, matter.matter_id, [str(uuid4()), "42"]))
    with pytest.raises(MatterNotFound):
        await _all(world.matters.watch(OTHER_TENANT, matter.matter_id, []))


async def test_a_deletion_is_told_after_the_others_are_final(world: MattersWorld) -> None:
    matter = await world.matter()
    with world.embedder.shut_meanwhile():
        kept = (await world.upload(matter, LEASE, "kept.md")).document
        deleted = (await world.upload(matter, LEASE + "More.", "deleted.md")).document
        watch = world.matters.watch(TENANT, matter.matter_id, [deleted.document_id, kept.document_id])
        first = await anext(watch)
        await world.matters.delete_document(TENANT, matter.matter_id, deleted.document_id)
    seen = [first]
    with pytest.raises(DocumentNotFound) as gone:
        await _collect(watch, seen)
    assert gone.value.name == deleted.document_id
    assert (seen[-1].document.document_id, seen[-1].document.status) == (kept.document_id, DocumentStatus.READY)


async def test_watching_ends_when_the_service_stops(world: MattersWorld) -> None:
    matter = await world.matter()
    with world.embedder.shut_meanwhile():
        await world.upload(matter, LEASE)
        watch = world.matters.watch(TENANT, matter.matter_id, [])
        await anext(watch)
        await world.matters.close()
        with pytest.raises(Draining):
            await _all(watch)
        with pytest.raises(Draining):
            await _all(world.matters.watch(TENANT, matter.matter_id, []))


async def test_changes_that_nobody_announced_are_read_from_the_rows(idle_world: MattersWorld) -> None:
    world = idle_world
    world.embedder.shut()
    async with world.running():
        matter = await world.matter()
        document = (await world.upload(matter, LEASE)).document
    watch = DocumentWatch(world.store, ProgressBoard(), TENANT, matter.matter_id, reread_s=0.001)
    watching = watch.watch([document.document_id])
    assert not (await anext(watching)).document.status.is_final
    await world.store.fail(document, "elsewhere", FailureCause.FAILED)
    assert (await _all(watching))[-1].document.failure_reason == "elsewhere"


async def test_a_slow_watcher_holds_only_the_latest_state(world: MattersWorld) -> None:
    matter = await world.matter()
    document = (await world.upload(matter, LEASE)).document
    board = ProgressBoard()
    with board.changes([document.document_id]) as changes:
        for done in range(1000):
            board.publish(DocumentProgress(document, done, 1000))
        assert await changes.next(1) == {document.document_id: DocumentProgress(document, 999, 1000)}
        assert await changes.next(0) == {}
