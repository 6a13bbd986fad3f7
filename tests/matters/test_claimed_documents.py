"""Documents that several processes may work on: what one has begun, and another one goes on with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from proviso_service.errors import FailureCause
from proviso_service.matters import ClaimLost, EmbeddingBatch, ingestion, pipeline, shared_embedding
from proviso_service.matters.files import FileReader
from proviso_service.matters.ingestion import ENDS_PROCESSES, MAX_LOSSES, Ingestion
from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.matters.pipeline import Pipeline
from proviso_service.matters.progress import ProgressBoard
from proviso_service.matters.rotation import Limits
from proviso_service.matters.shared_embedding import SharedEmbedding
from proviso_service.models import Vectors
from proviso_service.notices import About, Heard, Missed
from tests.support.matters_world import TENANT, MattersWorld
from tests.support.thread_reader import ThreadReader

LEASE_S = 0.6
LEASE = "# Lease\n\n## Rent\n\nThe rent is USD 5 a month.\n"


class Unheard:
    """The notices of a process that hears nothing of the others, and has to look for itself."""

    def tell(self, about: About, **what: object) -> None:
        pass

    def hear(self, about: About, heard: Heard, missed: Missed) -> None:
        pass


@pytest.fixture(autouse=True)
def short_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingestion, "LEASE_S", LEASE_S)


@asynccontextmanager
async def another_process(world: MattersWorld) -> AsyncIterator[Ingestion]:
    notices = Unheard()
    together = SharedEmbedding(world.store, world.embedder, "another", notices)
    files = FileReader(ThreadReader())
    pipeline = Pipeline(world.store, world.blobs, world.indexes, world.embedder, files, 1, shared=together)
    limits, board = Limits(2, 2, 2, 2), ProgressBoard()
    other = Ingestion(world.store, pipeline, board, limits, owner="another", notices=notices, together=together)
    await other.open()
    try:
        yield other
    finally:
        await other.close()


async def left_by_a_killed_process(world: MattersWorld, losses: int = 1) -> Document:
    """A document at which so many processes were at work when they were killed."""
    world.embedder.shut()
    async with world.running():
        document = (await world.upload(await world.matter(), LEASE)).document
    world.embedder.open()
    for number in range(losses):
        assert await world.store.claim(document, f"killed-{number}", lease_s=0)
    return document


async def final(world: MattersWorld, document: Document) -> Document:
    found = document

    async def has_ended() -> bool:
        nonlocal found
        found = await world.store.get_document(TENANT, document.matter_id, document.document_id)
        return found.status.is_final

    await world.changes.until(has_ended)
    return found


async def test_a_document_of_a_process_that_was_killed_is_gone_on_with(idle_world: MattersWorld) -> None:
    document = await left_by_a_killed_process(idle_world)
    async with another_process(idle_world):
        assert (await final(idle_world, document)).status is DocumentStatus.READY


async def test_a_document_whose_process_is_killed_later_is_found_without_a_word(idle_world: MattersWorld) -> None:
    document = await left_by_a_killed_process(idle_world, losses=0)
    assert await idle_world.store.claim(document, "killed later", LEASE_S)
    async with another_process(idle_world):
        assert (await final(idle_world, document)).status is DocumentStatus.READY


async def test_a_document_that_ends_its_processes_fails_in_the_end(idle_world: MattersWorld) -> None:
    document = await left_by_a_killed_process(idle_world, MAX_LOSSES)
    async with another_process(idle_world):
        failed = await final(idle_world, document)
    assert (failed.status, failed.failure_reason) == (DocumentStatus.FAILED, ENDS_PROCESSES)
    assert not idle_world.embedder.texts


async def test_a_killed_process_that_comes_back_under_its_name_counts_as_lost(idle_world: MattersWorld) -> None:
    document = await left_by_a_killed_process(idle_world, losses=0)
    for _ in range(MAX_LOSSES):
        assert await idle_world.store.claim(document, "another", LEASE_S)
        await idle_world.store.release_claims("another", lost=True)
    async with another_process(idle_world):
        assert (await final(idle_world, document)).status is DocumentStatus.FAILED


async def test_work_on_a_document_that_is_ended_elsewhere_changes_it_no_more(idle_world: MattersWorld) -> None:
    document = await left_by_a_killed_process(idle_world)
    idle_world.embedder.shut()
    async with another_process(idle_world):
        await idle_world.embedder.someone_waits()
        await idle_world.store.fail(document, "An operator has cancelled it.", FailureCause.CANCELLED)
        idle_world.embedder.open()
    assert (await final(idle_world, document)).failure_reason == "An operator has cancelled it."


async def test_two_processes_share_what_waits_and_ingest_each_document_once(idle_world: MattersWorld) -> None:
    world = idle_world
    world.embedder.shut()
    async with world.running():
        matter = await world.matter()
        for number in range(8):
            await world.upload(matter, f"Text {number}.", f"{number}.md")
    world.embedder.open()
    async with another_process(world), world.running():
        states = {progress.document.status for progress in await world.settled(matter)}
    assert states == {DocumentStatus.READY}
    assert sorted(world.embedder.texts) == sorted(f"Text {number}." for number in range(8))


async def test_a_large_document_is_embedded_by_all_processes_each_text_once(
    idle_world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = idle_world
    monkeypatch.setattr(shared_embedding, "BATCH_TEXTS", 2)
    monkeypatch.setattr(shared_embedding, "_LOOK_S", 0.05)
    monkeypatch.setattr(shared_embedding, "_POLL_S", 0.01)
    monkeypatch.setattr(pipeline, "FEWEST_TEXTS", 4)
    text = "\n\n".join(f"# Clause {n}\n\nThe rent of lot {n} is USD {n} a month." for n in range(40))
    world.notices = Unheard()
    batches: list[str] = []
    finish = world.store.finish_batch

    async def finished(batch: EmbeddingBatch, vectors: Vectors | None) -> None:
        batches.append(batch.texts[0])
        await finish(batch, vectors)

    monkeypatch.setattr(world.store, "finish_batch", finished)
    async with another_process(world), world.running():
        matter = await world.matter()
        documents = await world.ingest(matter, {"long.md": text})
        assert documents["long.md"].chunk_count == 40
        hits = (await world.search(matter, "rent of lot 17", threshold=0.0)).hits
    assert "lot 17" in hits[0].snippet.text
    assert len(batches) == len(set(batches)) == 20
    assert len(world.embedder.texts) == len(set(world.embedder.texts)) == 40


async def test_a_large_document_that_is_ended_elsewhere_is_embedded_no_further(
    idle_world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = idle_world
    document = await left_by_a_killed_process(world)
    claim = await world.store.claim(document, "another", LEASE_S)
    assert claim
    monkeypatch.setattr(shared_embedding, "BATCH_TEXTS", 1)
    together = SharedEmbedding(world.store, world.embedder, "another", Unheard())

    async def cancelled() -> None:
        await world.store.fail(document, "An operator has cancelled it.", FailureCause.CANCELLED)

    with pytest.raises(ClaimLost):
        await together.embed(claim.document, ["one", "two", "three"], cancelled, lambda _: None)
    assert world.embedder.texts == ["one"]
