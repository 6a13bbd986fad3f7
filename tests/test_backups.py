"""`proviso backup` while the service runs, and `proviso restore`."""

import asyncio
import hashlib
import os
import random
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path

import pytest

from proviso_client.v1 import matters_pb2, sessions_pb2
from proviso_service.access import AuditEvent, AuditFilter
from proviso_service.backends.backup import back_up, restore
from proviso_service.backends.backup_files import BackupFailed
from proviso_service.backends.blobs.folder import FolderBlobStore
from proviso_service.backends.folder_lock import FolderLock
from proviso_service.backends.sql.audit import SqlAuditStore
from proviso_service.backends.sql.database import Database
from proviso_service.matters.model import UploadHeader
from proviso_service.paging import PageRequest
from tests.support.matters_world import TENANT, MattersWorld, matters_world, pieces
from tests.support.running import AGREEMENT, RunningService, final_of, running_service
from tests.support.served import proviso
from tests.support.word_embedder import WordEmbedder

ROUNDS = int(os.environ.get("CHAOS_ROUNDS", "1"))


async def backed_up(data_dir: Path, destination: Path) -> Path:
    code, out, err = await proviso("backup", destination, "--data-dir", data_dir)
    assert (code, err) == (0, ""), err
    assert out.startswith("Backed up the state and ")
    return destination


async def audit_of(data_dir: Path) -> list[AuditEvent]:
    """What the commands on the whole state did, the oldest first."""
    database = Database(f"sqlite:///{data_dir / 'state.sqlite3'}")
    try:
        page = await SqlAuditStore(database).list("", AuditFilter(), PageRequest(100))
    finally:
        await database.close()
    return list(reversed(page.items))


async def content_of(service: RunningService, document: matters_pb2.Document) -> bytes:
    request = matters_pb2.GetDocumentContentRequest(matter_id=document.matter_id, document_id=document.document_id)
    return b"".join([answer.data async for answer in service.matters.GetDocumentContent(request)])


@pytest.mark.timeout(300)  # several processes beside a busy service
async def test_a_backup_made_while_documents_come_and_go_is_whole(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        told = final_of(await service.ask("Which law governs?", matter_id, session_id="s")).message

        async def come_and_go() -> None:
            for number in range(10_000):
                kept = await service.upload(matter_id, f"{number}.md", f"Memo {number} on parking.\n".encode())
                if number % 2:
                    await service.matters.DeleteDocument(
                        matters_pb2.DeleteDocumentRequest(matter_id=matter_id, document_id=kept.document_id)
                    )

        busy = asyncio.create_task(come_and_go())
        backups = [await backed_up(tmp_path / "data", tmp_path / f"backup-{number}") for number in range(ROUNDS)]
        assert not busy.done()
        busy.cancel()
        await asyncio.wait([busy])
    told_of = [event.method for event in await audit_of(tmp_path / "data") if event.action == "back up"]
    assert told_of == ["proviso backup"] * ROUNDS
    for backup in backups:
        restored = backup.with_suffix(".restored")
        code, out, err = await proviso("restore", backup, "--data-dir", restored)
        assert (code, err, out.startswith("Restored the state and ")) == (0, "", True), err
        assert (await audit_of(restored))[-1].action == "restore"
        async with running_service(restored, models_dir) as service:
            documents = await service.wait_until_ready(matter_id)
            assert "agreement.md" in [document.filename for document in documents]
            for document in documents:
                assert hashlib.sha256(await content_of(service, document)).hexdigest() == document.sha256
            listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s"))
            assert [message.content for message in listed.messages] == ["Which law governs?", told]
            answer = final_of(await service.ask("Which law governs?", matter_id, session_id="t")).message
            assert "State of Oregon" in answer


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[MattersWorld]:
    (tmp_path / "data").mkdir()
    async with matters_world(tmp_path / "data", WordEmbedder()) as world, world.running():
        yield world


async def uploaded(world: MattersWorld, count: int) -> list[str]:
    """The ids of new documents of a new matter."""
    matter = await world.matter()
    headers = [UploadHeader(matter.matter_id, f"{number}.txt") for number in range(count)]
    return [
        (await world.matters.upload(TENANT, header, pieces(f"Text {number}".encode()))).document.document_id
        for number, header in enumerate(headers)
    ]


def originals_in(backup: Path) -> set[str]:
    return {path.name for path in (backup / "originals" / TENANT).iterdir()}


async def test_a_document_deleted_while_it_is_copied_is_not_in_the_backup(world: MattersWorld, tmp_path: Path) -> None:
    ids = await uploaded(world, 3)
    await world.at_rest()
    (matter,) = (await world.store.list_matters(TENANT, PageRequest(10))).items

    class Deleting(FolderBlobStore):
        """Has a document deleted when the first of the others is read."""

        async def pieces(
            self, tenant: str, key: str, start: int = 0, end: int | None = None
        ) -> AsyncGenerator[bytes, None]:
            if (tmp_path / "data" / "blobs" / TENANT / max(ids)).exists():
                await world.matters.delete_document(TENANT, matter.matter_id, max(ids))
            async for piece in super().pieces(tenant, key, start, end):
                yield piece

    manifest = await back_up(
        tmp_path / "data" / "state.sqlite3", Deleting(tmp_path / "data" / "blobs"), tmp_path / "backup"
    )
    assert {entry.key for entry in manifest.originals} == originals_in(tmp_path / "backup") == set(ids) - {max(ids)}
    assert manifest.damaged == ()
    await restore(tmp_path / "backup", tmp_path / "new" / "state.sqlite3", FolderBlobStore(tmp_path / "new" / "blobs"))


async def test_an_original_that_was_lost_before_is_named_and_the_rest_is_backed_up(
    world: MattersWorld, tmp_path: Path
) -> None:
    ids = await uploaded(world, 3)
    await world.at_rest()
    (tmp_path / "data" / "blobs" / TENANT / ids[0]).unlink()
    (tmp_path / "data" / "blobs" / TENANT / ids[1]).write_bytes(b"Tex")
    code, out, err = await proviso("backup", tmp_path / "backup", "--data-dir", tmp_path / "data")
    assert (code, out.startswith("Backed up the state and 1 uploaded files")) == (1, True)
    named = ", ".join(sorted(ids[:2]))
    assert err == f"proviso: The uploaded files of 2 documents were damaged already: {named}\n"
    code, _, err = await proviso("restore", tmp_path / "backup", "--data-dir", tmp_path / "restored")
    assert (code, err) == (0, "")


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[random.Random(file.name).randrange(len(content))] ^= 1  # noqa: S311
    file.write_bytes(content)


@pytest.mark.parametrize(
    "harm", [flipped, lambda file: file.unlink(), lambda file: file.write_bytes(file.read_bytes()[:-1])]
)
async def test_a_backup_with_any_harmed_file_is_refused_and_nothing_is_restored(
    world: MattersWorld, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    await uploaded(world, 2)
    data = tmp_path / "data"
    await back_up(data / "state.sqlite3", FolderBlobStore(data / "blobs"), tmp_path / "backup")
    (tmp_path / "new").mkdir()
    files = [path.relative_to(tmp_path / "backup") for path in (tmp_path / "backup").rglob("*") if path.is_file()]
    assert len(files) == 5
    for name in files:
        shutil.copytree(tmp_path / "backup", tmp_path / "harmed")
        harm(tmp_path / "harmed" / name)
        new = FolderBlobStore(tmp_path / "new" / "blobs")
        with pytest.raises(BackupFailed):
            await restore(tmp_path / "harmed", tmp_path / "new" / "state.sqlite3", new)
        assert list((tmp_path / "new").iterdir()) == []
        shutil.rmtree(tmp_path / "harmed")


async def test_a_folder_that_is_used_or_holds_something_is_refused_in_one_line(
    world: MattersWorld, tmp_path: Path
) -> None:
    await uploaded(world, 1)
    await backed_up(tmp_path / "data", tmp_path / "backup")
    for arguments, told in [
        (("backup", tmp_path / "backup", "--data-dir", tmp_path / "data"), "is not empty: name a new folder"),
        (
            ("restore", tmp_path / "backup", "--data-dir", tmp_path / "data"),
            "is there already: restore into a new data folder",
        ),
        (("restore", tmp_path / "nothing", "--data-dir", tmp_path / "new"), "has no manifest.json"),
        (("backup", tmp_path / "other", "--data-dir", tmp_path / "new"), "There is nothing to back up"),
    ]:
        code, out, err = await proviso(*arguments)
        assert (code, out, err.count("\n"), told in err) == (1, "", 1, True), err
    with FolderLock(tmp_path / "new"):
        code, _, err = await proviso("restore", tmp_path / "backup", "--data-dir", tmp_path / "new")
    assert (code, err.count("\n"), "is in use by process" in err) == (2, 1, True)
