"""From upload to READY or FAILED, through failures, deletions and restarts."""

import asyncio

import pytest

from proviso_service.errors import DocumentNotFound, FailureCause, NotReady, StorageFailed, TooBusy
from proviso_service.matters import ingestion
from proviso_service.matters.files import FileReader
from proviso_service.matters.ingestion import ATTEMPTS, FAULT, Ingestion
from proviso_service.matters.model import Document, DocumentStatus, Matter
from proviso_service.matters.pipeline import Pipeline
from proviso_service.matters.progress import ProgressBoard
from proviso_service.matters.rotation import Limits
from proviso_service.reading import ReadingLimits
from tests.support.audit import COMMON_WORD, check_sound, inventory
from tests.support.matters_world import TENANT, MattersWorld
from tests.support.thread_reader import ThreadReader

LEASE = "# Lease\n\n## Rent\n\nThe rent is USD 5 a month.\n\n## Term\n\nThe term is one year.\n"


async def _failed(world: MattersWorld, content: bytes | str, filename: str = "lease.md") -> Document:
    matter = await world.matter()
    await world.upload(matter, content, filename)
    [progress] = await world.settled(matter)
    assert progress.document.status is DocumentStatus.FAILED
    return progress.document


async def _failure_of(world: MattersWorld, content: bytes | str) -> str:
    return (await _failed(world, content)).failure_reason


UNREADABLE = (
    "The file is not readable text (byte 1). Open it in the program that it comes from and save it with the encoding"
    " UTF-8."
)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xff", UNREADABLE),
        (b" \n\n", "The file holds no text."),
        (b"%PDF-1.7", "The file is named .md but holds a PDF document. Rename it to .pdf and upload it again."),
    ],
)
async def test_a_file_that_cannot_be_read_fails_with_the_reason(
    world: MattersWorld, content: bytes, reason: str
) -> None:
    assert await _failure_of(world, content) == reason


async def test_a_text_over_the_limit_fails(idle_world: MattersWorld) -> None:
    idle_world.limits = ReadingLimits(max_text_chars=50)
    async with idle_world.running():
        failed = await _failed(idle_world, LEASE)
    assert "longer than 50 characters" in failed.failure_reason
    assert failed.failure_cause is FailureCause.TOO_LONG


async def test_a_fault_fails_the_document_without_its_details(world: MattersWorld) -> None:
    world.embedder.failures.append(RuntimeError("secret detail"))
    assert await _failure_of(world, LEASE) == FAULT
    assert (await inventory(world)).indexed == 0


async def test_a_lost_file_fails_the_document(idle_world: MattersWorld) -> None:
    _, document = await _upload_unprocessed(idle_world)
    await idle_world.blobs.delete(TENANT, document.document_id)
    failed = await _final(idle_world, ProgressBoard(), document)
    assert failed.status is DocumentStatus.FAILED
    assert "no longer stored" in failed.failure_reason


async def test_failing_documents_do_not_stop_the_others(world: MattersWorld) -> None:
    matter = await world.matter()
    for number in range(5):
        await world.upload(matter, b"\xff" + bytes([number]), f"bad{number}.md")
    await world.upload(matter, LEASE, "good.md")
    states = {p.document.filename: p.document.status for p in await world.settled(matter)}
    assert states.pop("good.md") is DocumentStatus.READY
    assert set(states.values()) == {DocumentStatus.FAILED}


async def test_a_text_is_embedded_once(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE, "twice.md": "# A\n\nSame words.\n\n# A\n\nSame words.\n"})
    assert sorted(world.embedder.texts) == sorted(set(world.embedder.texts))
    before = len(world.embedder.texts)
    await world.ingest(matter, {"copy.md": LEASE + "\n## Notices\n\nIn writing.\n"})
    assert world.embedder.texts[before:] == ["## Notices\n\nIn writing."]
    outcome = await world.search(matter, "How long is the term?", threshold=0.0)
    assert {hit.stored.filename for hit in outcome.hits[:2]} == {"lease.md", "copy.md"}


async def test_a_stop_leaves_the_work_for_the_next_start(idle_world: MattersWorld) -> None:
    world = idle_world
    async with world.running():
        matter = await world.matter()
        world.embedder.shut()
        await world.upload(matter, LEASE, "begun.md")
        await world.embedder.someone_waits()
        for number in range(3):
            await world.upload(matter, f"Waiting {number}.", f"{number}.md")
    documents = await world.store.all_documents(TENANT, matter.matter_id)
    assert not any(document.status.is_final for document in documents)
    assert (await world.search(matter, "rent", threshold=0.0)).hits == ()
    world.embedder.open()
    async with world.running():
        states = {p.document.status for p in await world.settled(matter)}
        assert states == {DocumentStatus.READY}
        hits = (await world.search(matter, "rent", threshold=0.0)).hits
        assert [hit.stored.filename for hit in hits if hit.lexical_match] == ["begun.md"]


async def test_a_document_deleted_while_it_is_ingested_leaves_nothing_behind(world: MattersWorld) -> None:
    matter = await world.matter()
    with world.embedder.shut_meanwhile():
        document = (await world.upload(matter, LEASE)).document
        await world.embedder.someone_waits()
        await world.matters.delete_document(TENANT, matter.matter_id, document.document_id)
    # Ingestion is done with it once a later document has gone all the way through each worker.
    for number in range(world.settings.ingest_workers * 2):
        await world.ingest(matter, {f"later{number}.md": f"Something else {COMMON_WORD}, part {number}."})
    found = await check_sound(world)
    assert len(found.ready) == len(found.blobs) == world.settings.ingest_workers * 2


async def test_a_document_deleted_while_it_waits_for_the_model_keeps_no_others_waiting(world: MattersWorld) -> None:
    matter = await world.matter()
    with world.embedder.shut_meanwhile():
        for number in range(4 * world.settings.ingest_workers):
            document = (await world.upload(matter, f"Text {number}.", f"{number}.md")).document
        await world.embedder.someone_waits()
        await world.matters.delete_document(TENANT, matter.matter_id, document.document_id)
        await world.upload(matter, LEASE)
    states = {progress.document.status for progress in await world.settled(matter)}
    assert states == {DocumentStatus.READY}


def _ingestion(world: MattersWorld, board: ProgressBoard) -> Ingestion:
    pipeline = Pipeline(world.store, world.blobs, world.indexes, world.embedder, FileReader(ThreadReader()), 1)
    return Ingestion(world.store, pipeline, board, Limits(1, 1, 1, 1), retry_s=0.001)


async def _upload_unprocessed(world: MattersWorld) -> tuple[Matter, Document]:
    """A document whose row waits, as after a crash."""
    world.embedder.shut()
    async with world.running():
        matter = await world.matter()
        document = (await world.upload(matter, LEASE)).document
    world.embedder.open()
    return matter, document


async def _final(world: MattersWorld, board: ProgressBoard, document: Document) -> Document:
    with board.changes([document.document_id]) as changes:
        ingestion = _ingestion(world, board)
        await ingestion.open()
        try:
            while True:
                latest = (await changes.next(30))[document.document_id]
                assert latest is not None
                if latest.document.status.is_final:
                    return latest.document
        finally:
            await ingestion.close()


async def test_what_is_busy_for_the_moment_is_tried_again(idle_world: MattersWorld) -> None:
    _, document = await _upload_unprocessed(idle_world)
    idle_world.embedder.failures += [TooBusy("busy", 1.0), NotReady("away"), TimeoutError()]
    final = await _final(idle_world, ProgressBoard(), document)
    assert final.status is DocumentStatus.READY


async def test_a_document_waits_for_storage_that_fails(
    idle_world: MattersWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestion, "STORAGE_PAUSE_S", 0.001)
    _, document = await _upload_unprocessed(idle_world)
    idle_world.embedder.failures += [StorageFailed("full") for _ in range(2 * ATTEMPTS)]
    final = await _final(idle_world, ProgressBoard(), document)
    assert final.status is DocumentStatus.READY


async def test_what_stays_busy_fails_the_document_in_the_end(idle_world: MattersWorld) -> None:
    _, document = await _upload_unprocessed(idle_world)
    idle_world.embedder.failures += [TooBusy("busy", 1.0) for _ in range(ATTEMPTS)]
    final = await _final(idle_world, ProgressBoard(), document)
    assert (final.status, final.failure_reason) == (DocumentStatus.FAILED, FAULT)


async def test_a_search_never_sees_half_a_document(world: MattersWorld) -> None:
    matter = await world.matter()
    with world.embedder.shut_meanwhile():
        await world.upload(matter, LEASE)
        await world.embedder.someone_waits()
        outcome = await world.search(matter, "rent", threshold=0.0)
        assert outcome.hits == ()
        assert outcome.documents_processing == ("lease.md",)
    await world.settled(matter)
    outcome = await world.search(matter, "rent", threshold=0.0)
    assert len(outcome.hits) == 2


async def test_a_deletion_goes_on_when_its_caller_leaves(world: MattersWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    matter = await world.matter()
    documents = await world.ingest(matter, {"lease.md": LEASE})
    document_id = documents["lease.md"].document_id
    begun, may_go_on = asyncio.Event(), asyncio.Event()
    catch_up = world.indexes.catch_up

    async def slowly(*names: str) -> None:
        begun.set()
        await may_go_on.wait()
        await catch_up(*names)

    monkeypatch.setattr(world.indexes, "catch_up", slowly)
    deletion = asyncio.create_task(world.matters.delete_document(TENANT, matter.matter_id, document_id))
    await begun.wait()
    deletion.cancel()
    await asyncio.wait([deletion])
    assert deletion.cancelled()
    may_go_on.set()
    await world.matters.close()
    with pytest.raises(DocumentNotFound):
        await world.store.get_document(TENANT, matter.matter_id, document_id)
    assert ((await inventory(world)).indexed, world.blob_count()) == (0, 0)
