"""The whole service with its uploaded files in an S3 store, which fails and comes back."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client.v1 import matters_pb2
from proviso_service.backends.blobs.folder import WRITE_BYTES
from proviso_service.backends.blobs.s3 import PART_BYTES, S3BlobStore
from proviso_service.backends.sealing.key_file import KeyFile
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.concurrency import run_to_end
from proviso_service.wiring import App
from proviso_service.wiring_resources import StartupError
from tests.support.changes import database_changes
from tests.support.configured import configured
from tests.support.cutting_proxy import CuttingProxy, cutting_proxy
from tests.support.matters_world import pieces
from tests.support.running import AGREEMENT, RunningService, running_service
from tests.support.s3_server import PREFIX, Bucket
from tests.support.served import proviso
from tests.test_exported_matters import opened, pieces_of
from tests.test_sealed_originals import content_of

LARGE = b"".join(b"Clause %d. The fee is due on day %d.\n" % (number, number) for number in range(200_000))

pytestmark = pytest.mark.timeout(300)  # on a busy machine


@pytest.fixture
async def proxy(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[CuttingProxy]:
    """Stands between the service and the store."""
    async with cutting_proxy(bucket.port) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{proxy.target}")
        yield proxy


async def delete(service: RunningService, document: matters_pb2.Document) -> None:
    await service.matters.DeleteDocument(
        matters_pb2.DeleteDocumentRequest(matter_id=document.matter_id, document_id=document.document_id)
    )


@pytest.mark.parametrize("is_sealed", [False, True], ids=["plain", "sealed"])
async def test_documents_are_uploaded_read_exported_and_erased(
    bucket: Bucket, tmp_path: Path, models_dir: Path, is_sealed: bool
) -> None:
    storage = {"blob_url": bucket.url}
    if is_sealed:
        KeyFile(tmp_path / "master.key").make()
        storage["seal_keys"] = str(tmp_path / "master.key")
    data_dir = tmp_path / "data"
    async with running_service(data_dir, models_dir, storage=storage) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        (small,) = await service.wait_until_ready(matter_id)
        large = await service.upload(matter_id, "unread.pdf", LARGE)
        suffix = "_sealed" if is_sealed else ""
        assert bucket.objects() == sorted(f"{PREFIX}/local/{one.document_id}{suffix}" for one in (small, large))
        assert await content_of(service, small) == AGREEMENT.encode()
        assert await content_of(service, large, 6_000_000, 300_000) == LARGE[6_000_000:6_300_000]
        files, _ = opened(b"".join(await pieces_of(service, matter_id)))
        assert files["originals/unread.pdf"] == LARGE
        assert not (data_dir / "blobs").exists()
    async with running_service(data_dir, models_dir, storage=storage) as service:
        await delete(service, small)
        assert len(bucket.objects()) == 1
        await service.matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=matter_id))
        assert bucket.objects() == []


async def refused(service: RunningService, matter_id: str, content: bytes) -> str:
    """What an upload is told."""
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await service.upload(matter_id, "more.pdf", content)
    assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE
    return str(refusal.value.details())


async def test_while_the_store_is_away_what_needs_it_is_unavailable_and_then_goes_on(
    bucket: Bucket, proxy: CuttingProxy, tmp_path: Path, models_dir: Path
) -> None:
    away = "The service cannot use its store of uploaded files: it does not answer"
    async with running_service(tmp_path / "data", models_dir, storage={"blob_url": bucket.url}) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        (document,) = await service.wait_until_ready(matter_id)
        proxy.service_port = 1
        await proxy.connections.break_all()
        assert await refused(service, matter_id, b"small") == away
        assert await refused(service, matter_id, LARGE) == away
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await content_of(service, document)
        assert (refusal.value.code(), refusal.value.details()) == (grpc.StatusCode.UNAVAILABLE, away)
        await delete(service, document)  # its bytes are deleted later
        proxy.service_port = bucket.port
        again = await service.upload(matter_id, "more.pdf", LARGE)
        assert await content_of(service, again) == LARGE

        async def all_is_cleared() -> bool:
            return bucket.objects() == [f"{PREFIX}/local/{again.document_id}"]

        with database_changes() as changes:
            await changes.until(all_is_cleared)
        assert bucket.unfinished_uploads() == 0


async def test_an_upload_whose_caller_goes_away_leaves_no_bytes(
    bucket: Bucket, tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, never = asyncio.Event(), asyncio.Event()
    blocks = 0

    async def noted(work: Any) -> Any:
        nonlocal blocks
        await run_to_end(work)
        blocks += 1
        if blocks * WRITE_BYTES > PART_BYTES:
            put.set()

    monkeypatch.setattr("proviso_service.backends.blobs.s3.run_to_end", noted)
    async with running_service(tmp_path / "data", models_dir, storage={"blob_url": bucket.url}) as service:
        matter_id = await service.create_matter()

        async def cut() -> AsyncIterator[matters_pb2.UploadDocumentRequest]:
            header = matters_pb2.UploadHeader(matter_id=matter_id, filename="cut.pdf")
            yield matters_pb2.UploadDocumentRequest(header=header)
            for start in range(0, len(LARGE), WRITE_BYTES):
                yield matters_pb2.UploadDocumentRequest(data=LARGE[start : start + WRITE_BYTES])
            await never.wait()

        upload = service.matters.UploadDocument(cut())
        await put.wait()
        assert bucket.unfinished_uploads() == 1
        with database_changes() as changes:
            upload.cancel()

            async def nothing_is_left() -> bool:
                return not bucket.unfinished_uploads()

            await changes.until(nothing_is_left)
        assert bucket.objects() == []


async def test_the_next_start_removes_the_bytes_of_an_upload_whose_process_died(
    bucket: Bucket, tmp_path: Path, models_dir: Path
) -> None:
    data_dir, storage = tmp_path / "data", {"blob_url": bucket.url}
    async with running_service(data_dir, models_dir, storage=storage) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        (document,) = await service.wait_until_ready(matter_id)
    database = Database(f"sqlite:///{data_dir / 'state.sqlite3'}")
    await SqlMatterStore(database).begin_upload("local", matter_id, "half-done")
    await database.close()
    await S3BlobStore(bucket.url).put("local", "half-done", pieces(b"bytes"))
    assert len(bucket.objects()) == 2

    async def only_the_document_is_left() -> bool:
        return bucket.objects() == [f"{PREFIX}/local/{document.document_id}"]

    with database_changes() as changes:
        async with running_service(data_dir, models_dir, storage=storage):
            await changes.until(only_the_document_is_left)


async def test_a_backup_of_a_folder_is_restored_into_the_store_and_back(
    bucket: Bucket, tmp_path: Path, models_dir: Path
) -> None:
    async with running_service(tmp_path / "data", models_dir) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        (document,) = await service.wait_until_ready(matter_id)
    on_s3 = {"STORAGE__BLOB_URL": bucket.url}
    for command, environment in (
        (("backup", tmp_path / "first", "--data-dir", tmp_path / "data"), {}),
        (("restore", tmp_path / "first", "--data-dir", tmp_path / "moved"), on_s3),
        (("backup", tmp_path / "second", "--data-dir", tmp_path / "moved"), on_s3),
        (("doctor", "--data-dir", tmp_path / "moved", "--models-dir", models_dir), on_s3 | {"SERVER__PORT": "0"}),
        (("restore", tmp_path / "second", "--data-dir", tmp_path / "back"), {}),
    ):
        code, out, err = await proviso(*command, **environment)
        assert (code, err) == (0, "")
        assert command[0] != "doctor" or f"{bucket.url} answers" in " ".join(out.split())
    assert bucket.objects() == [f"{PREFIX}/local/{document.document_id}"]
    assert (tmp_path / "back" / "blobs" / "local" / document.document_id).read_bytes() == AGREEMENT.encode()
    code, _, err = await proviso("restore", tmp_path / "first", "--data-dir", tmp_path / "other", **on_s3)
    assert (code, f"{bucket.url} holds uploaded files already" in err) == (1, True), err


async def refused_start(data_dir: Path, models_dir: Path, url: str) -> str:
    settings, config = configured(
        {"data_dir": data_dir, "models_dir": models_dir, "server": {"port": 0}, "storage": {"blob_url": url}}
    )
    with pytest.raises(StartupError) as refusal:
        await App.start(settings, config=config)
    return str(refusal.value)


async def test_a_start_that_cannot_use_the_store_is_refused_in_one_line(
    bucket: Bucket, proxy: CuttingProxy, tmp_path: Path, models_dir: Path
) -> None:
    told = await refused_start(tmp_path / "data", models_dir, "s3://another-bucket")
    assert told == "The service cannot use its store of uploaded files: NoSuchBucket"
    proxy.service_port = 1
    told = await refused_start(tmp_path / "data", models_dir, bucket.url)
    assert told == "The service cannot use its store of uploaded files: it does not answer"
    code, out, _ = await proviso("doctor", "--data-dir", tmp_path / "data", STORAGE__BLOB_URL=bucket.url)
    assert (code, told in " ".join(out.split())) == (1, True), out


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A folder beside the data folder."""
    (tmp_path / "disk").mkdir()
    yield tmp_path / "disk" / "uploaded"
    shutil.rmtree(tmp_path / "disk")


async def test_a_folder_elsewhere_is_for_one_service_at_a_time(disk: Path, tmp_path: Path, models_dir: Path) -> None:
    storage = {"blob_url": str(disk)}
    async with running_service(tmp_path / "data", models_dir, storage=storage) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        (document,) = await service.wait_until_ready(matter_id)
        assert (disk / "local" / document.document_id).read_bytes() == AGREEMENT.encode()
        told = await refused_start(tmp_path / "other", models_dir, str(disk))
        assert told.startswith(f"The folder of uploaded files {disk} is in use by process ")
