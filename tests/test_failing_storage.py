"""A disk that is full, cannot be written or holds damage: what still works, what is told, and the way back."""

import os
import random
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from proviso_client.v1 import matters_pb2, tools_pb2
from tests.support.damage import compacted, overwrite_page
from tests.support.running import AGREEMENT, final_of
from tests.support.served import ServedService, served

QUERY = "{IS confidentiality clause}"
DISK_MB = 160
OWN_DISK = ("unshare", "--user", "--map-root-user", "--mount")
MOUNT = f'mount -t tmpfs -o size={DISK_MB}m none "$0" && exec "$@"'


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder in which a process that runs within `on_disk` finds a small disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run([*on_disk(folder), "true"], check=False).returncode:
        pytest.skip("this system lets nobody but root mount a disk")
    return folder


def on_disk(folder: Path) -> tuple[str, ...]:
    return (*OWN_DISK, "sh", "-c", MOUNT, str(folder))


@contextmanager
def full(service: ServedService, disk: Path) -> Iterator[None]:
    """The disk of the service is full to the last byte while the context is open."""
    filler = Path(f"/proc/{service.process.pid}/root{disk}/filler")
    with filler.open("wb", buffering=0) as file:
        size = 1024 * 1024
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2
    try:
        yield
    finally:
        filler.unlink()


async def refused(service: ServedService, matter_id: str) -> str:
    """What an upload is told."""
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await service.upload(matter_id, "more.md", b"# More\n" * 1_000)
    assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE
    return str(refusal.value.details())


def errors_logged(service: ServedService) -> list[str]:
    """Without the events of the audit: what cannot be stored of them goes to the log."""
    wrong = [line["event"] for line in service.log if line.get("level") in ("error", "critical", None)]
    return [event for event in wrong if event != "audit_event_not_stored"]


@pytest.mark.timeout(300)  # a whole service, which does everything once
async def test_on_a_full_disk_queries_run_and_documents_can_be_deleted(disk: Path, models_dir: Path) -> None:
    async with served(disk / "data", models_dir, within=on_disk(disk)) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT, lease=AGREEMENT.replace("Oregon", "Maine"))
        await service.until_health(True)
        with full(service, disk):
            assert "disk is full" in await refused(service, matter_id)
            await service.until_health(False)
            iql = tools_pb2.ExecuteIqlRequest(matter_id=matter_id, query=QUERY)
            assert len((await service.tools.ExecuteIql(iql)).document_results) == 2
            classify = tools_pb2.ClassifyRequest(matter_id=matter_id)
            await service.tools.Classify(classify)
            search = tools_pb2.SearchRequest(matter_id=matter_id, query="governing law")
            assert (await service.tools.Search(search)).results
            final = final_of(await service.ask("Which law governs?", matter_id, session_id="s"))
            assert "State of Maine" in final.message
            listed = await service.matters.ListDocuments(matters_pb2.ListDocumentsRequest(matter_id=matter_id))
            for document in listed.documents:
                await service.matters.DeleteDocument(
                    matters_pb2.DeleteDocumentRequest(matter_id=matter_id, document_id=document.document_id)
                )
            await service.matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=matter_id))
            assert "disk is full" in await refused(service, await service.create_matter())
            await service.until_logged("storage_full")
            assert errors_logged(service) == ["storage_full"]
        await service.until_health(True)
        await service.until_logged("storage_recovered")
        assert [line["fault"] for line in service.lines("storage_recovered")] == ["full"]
        await service.create_matter(agreement=AGREEMENT)
        assert errors_logged(service) == ["storage_full"]


async def test_a_disk_that_cannot_be_written_turns_readiness_off_until_it_can(tmp_path: Path, models_dir: Path) -> None:
    async with served(tmp_path / "data", models_dir) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        pid = service.process.pid
        unlimited = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (512, unlimited[1]))
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await service.create_matter("Another")
        assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE
        await service.until_health(False)
        iql = tools_pb2.ExecuteIqlRequest(matter_id=matter_id, query=QUERY)
        assert len((await service.tools.ExecuteIql(iql)).document_results) == 1
        await service.until_logged("storage_unreadable")
        assert errors_logged(service) == ["storage_unreadable"]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
        await service.until_health(True)
        await service.create_matter("Another")
        await service.until_logged("storage_recovered")
        assert [line["fault"] for line in service.lines("storage_recovered")] == ["unreadable"]


async def test_damage_under_a_running_service_turns_readiness_off_until_it_is_mended(
    tmp_path: Path, models_dir: Path
) -> None:
    state = tmp_path / "data" / "state.sqlite3"
    async with served(tmp_path / "data", models_dir) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
    pages, sound = compacted(state), state.read_bytes()
    async with served(tmp_path / "data", models_dir) as service:
        chance = random.Random(1)  # noqa: S311
        for number in range(2, pages + 1):
            overwrite_page(state, number, chance)
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await service.matters.ListDocuments(matters_pb2.ListDocumentsRequest(matter_id=matter_id))
        assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE
        assert "its operator has to restore a backup" in str(refusal.value.details())
        await service.until_health(False)
        await service.until_logged("storage_damaged")
        assert errors_logged(service) == ["storage_damaged"]
        with state.open("r+b") as file:
            file.write(sound)
            os.fsync(file.fileno())
        await service.until_health(True)
        await service.until_logged("storage_recovered")
        assert [line["fault"] for line in service.lines("storage_recovered")] == ["damaged"]
