"""Backups that are sealed with a key for each tenant."""

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from proviso_client.v1 import matters_pb2, tools_pb2
from proviso_service.backends.blobs.folder import FolderBlobStore
from proviso_service.backends.sealing.blobs import SealedBlobs
from proviso_service.backends.sealing.key_file import KeyFile
from proviso_service.backends.sealing.tenant_keys import TenantKeys
from tests.support.matters_world import MattersWorld, matters_world
from tests.support.running import AGREEMENT, ServiceStubs
from tests.support.served import proviso, served
from tests.support.word_embedder import WordEmbedder

TENANTS = ("local", "smith", "Jones & Söhne")

pytestmark = pytest.mark.timeout(300)  # each starts several processes


@pytest.fixture
def master(tmp_path: Path) -> Path:
    KeyFile(tmp_path / "master.key").make()
    return tmp_path / "master.key"


@pytest.fixture
async def world(tmp_path: Path, master: Path) -> AsyncIterator[MattersWorld]:
    """A service's data with documents of three tenants."""
    data = tmp_path / "data"
    data.mkdir()
    async with matters_world(data, WordEmbedder()) as world:
        keys = TenantKeys(data / "secrets" / "tenant-keys", KeyFile(master))
        world.blobs = SealedBlobs(FolderBlobStore(data / "blobs"), keys)  # type: ignore[assignment]
        async with world.running():
            for tenant in TENANTS:
                matter = await world.matter(tenant)
                await world.ingest(matter, {"lease.md": f"# Lease\n\nThe tenant here is {tenant}, of Trondheim.\n"})
            await world.at_rest()
        yield world


def words_in(folder: Path, words: bytes) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and words in path.read_bytes()]


def rows_of(state: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of a state but those of its schema, its statistics and the audit, which a restoration adds to."""
    with closing(sqlite3.connect(state)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        own = [name for name in names if name not in {"alembic_version", "audit_events", "sqlite_stat1"}]
        return {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in own}  # noqa: S608


async def backed_up(tmp_path: Path, master: Path) -> tuple[int, str, str]:
    return await proviso("backup", tmp_path / "backup", "--data-dir", tmp_path / "data", STORAGE__SEAL_KEYS=str(master))


async def restored(tmp_path: Path, master: Path | str) -> tuple[int, str, str]:
    """Restores into a new folder that has the keys of the old one as they are now."""
    shutil.copytree(tmp_path / "data" / "secrets", tmp_path / "new" / "secrets", dirs_exist_ok=True)
    return await proviso("restore", tmp_path / "backup", "--data-dir", tmp_path / "new", STORAGE__SEAL_KEYS=str(master))


async def read_all(service: ServiceStubs) -> bytes:
    """The one original of the one matter."""
    (matter,) = (await service.matters.ListMatters(matters_pb2.ListMattersRequest())).matters
    (document,) = await service.wait_until_ready(matter.matter_id)
    request = matters_pb2.GetDocumentContentRequest(matter_id=matter.matter_id, document_id=document.document_id)
    return b"".join([answer.data async for answer in service.matters.GetDocumentContent(request)])


async def test_a_sealed_backup_holds_no_word_and_is_restored_as_it_was(
    world: MattersWorld, tmp_path: Path, models_dir: Path, master: Path
) -> None:
    code, out, err = await backed_up(tmp_path, master)
    assert (code, err, out.startswith("Backed up the state and 3 uploaded files")) == (0, "", True), err
    for words in (b"Trondheim", b"lease.md", b"Northwind", b"SQLite format", b"CREATE TABLE"):
        assert words_in(tmp_path / "backup", words) == []
    code, out, err = await restored(tmp_path, master)
    assert (code, err, out.startswith("Restored the state and 3 uploaded files")) == (0, "", True), err
    assert rows_of(tmp_path / "new" / "state.sqlite3") == rows_of(tmp_path / "data" / "state.sqlite3")
    async with served(tmp_path / "new", models_dir, STORAGE__SEAL_KEYS=str(master)) as service:
        assert b"of Trondheim" in await read_all(service)
        (matter,) = (await service.matters.ListMatters(matters_pb2.ListMattersRequest())).matters
        found = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter.matter_id, query='"of Trondheim"'))
        assert len(found.results) == 1


async def test_with_the_key_of_one_tenant_destroyed_everyone_else_is_restored_and_the_one_is_named(
    world: MattersWorld, tmp_path: Path, models_dir: Path, master: Path
) -> None:
    assert (await backed_up(tmp_path, master))[0] == 0
    code, _, err = await proviso(
        "seal", "destroy", "smith", "--yes", "--data-dir", tmp_path / "data", STORAGE__SEAL_KEYS=str(master)
    )
    assert (code, err) == (0, "")
    code, out, err = await restored(tmp_path, master)
    assert (code, out.startswith("Restored the state and 2 uploaded files")) == (0, True), err
    assert err == "proviso: Nothing is there of these tenants, whose keys were destroyed: smith\n"
    kept = {tenant for (tenant, *_) in rows_of(tmp_path / "new" / "state.sqlite3")["documents"]}
    assert kept == set(TENANTS) - {"smith"}
    assert words_in(tmp_path / "new", b"here is smith") == []
    async with served(tmp_path / "new", models_dir, STORAGE__SEAL_KEYS=str(master)) as service:
        assert b"of Trondheim" in await read_all(service)
    shutil.rmtree(tmp_path / "backup")
    code, out, err = await backed_up(tmp_path, master)
    assert (code, out.startswith("Backed up the state and 2 uploaded files"), err.endswith(" smith\n")) == (
        0,
        True,
        True,
    )


async def test_a_restoration_without_the_right_keys_is_refused_in_one_line_and_leaves_nothing(
    world: MattersWorld, tmp_path: Path, master: Path
) -> None:
    assert (await backed_up(tmp_path, master))[0] == 0
    KeyFile(tmp_path / "other.key").make()
    for key, told in [
        ("", "The backup is sealed: PROVISO_STORAGE__SEAL_KEYS has to name its master key"),
        (str(tmp_path / "other.key"), "was not wrapped by"),
    ]:
        code, out, err = await restored(tmp_path, key)
        assert (code, out, err.count("\n"), told in err) == (1, "", 1, True), err
    shutil.rmtree(tmp_path / "new" / "secrets")
    code, _, err = await proviso(
        "restore", tmp_path / "backup", "--data-dir", tmp_path / "new", STORAGE__SEAL_KEYS=str(master)
    )
    assert (code, err.count("\n"), "put `secrets` back first" in err) == (1, 1, True), err
    assert [path.name for path in (tmp_path / "new").iterdir() if not path.name.endswith("lock")] == []


async def test_any_harm_to_a_sealed_backup_is_refused(world: MattersWorld, tmp_path: Path, master: Path) -> None:
    assert (await backed_up(tmp_path, master))[0] == 0
    files = sorted(path for path in (tmp_path / "backup").rglob("*") if path.is_file())
    assert len(files) == 8  # an original and a part of the state for each tenant, the manifest and its hash
    for file in files:
        whole = file.read_bytes()
        file.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
        code, _, err = await restored(tmp_path, master)
        assert (code, err.count("\n"), "damaged" in err) == (1, 1, True), (file, err)
        file.write_bytes(whole)
    assert (await restored(tmp_path, master))[0] == 0


async def test_an_unsealed_backup_is_restored_into_a_service_that_seals(
    tmp_path: Path, models_dir: Path, master: Path
) -> None:
    async with served(tmp_path / "data", models_dir) as service:
        await service.create_matter(agreement=AGREEMENT)
    assert (await proviso("backup", tmp_path / "backup", "--data-dir", tmp_path / "data"))[0] == 0
    new = tmp_path / "new"
    for command in (["restore", tmp_path / "backup"], ["seal", "originals"]):
        code, _, err = await proviso(*command, "--data-dir", new, STORAGE__SEAL_KEYS=str(master))
        assert (code, err) == (0, "")
    assert words_in(new / "blobs", b"liability insurance") == []
    async with served(new, models_dir, STORAGE__SEAL_KEYS=str(master)) as service:
        assert await read_all(service) == AGREEMENT.encode()
