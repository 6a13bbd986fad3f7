"""Originals that are sealed with a key of their tenant, in a service as operators run it."""

import hashlib
import json
import shutil
from pathlib import Path

import grpc
import pytest

from proviso_client.v1 import matters_pb2, tools_pb2
from proviso_service.backends.sealing.key_file import KeyFile
from proviso_service.settings import ServerSettings, Settings, StorageSettings
from proviso_service.wiring import App
from proviso_service.wiring_resources import StartupError
from tests.support.running import AGREEMENT, ServiceStubs
from tests.support.served import proviso, served

WORDS = b"professional liability insurance"
LARGE = b"".join(b"Clause %d. The fee is due on day %d.\n" % (number, number) for number in range(60_000))

pytestmark = pytest.mark.timeout(300)  # each starts several processes


@pytest.fixture
async def master(tmp_path: Path) -> Path:
    code, out, err = await proviso("seal", "new-key", tmp_path / "keys" / "master.key")
    assert (code, err, out.startswith("Made ")) == (0, "", True), err
    return tmp_path / "keys" / "master.key"


async def refused_start(data_dir: Path, models_dir: Path, keys: str) -> str:
    settings = Settings(
        data_dir=data_dir,
        models_dir=models_dir,
        server=ServerSettings(port=0),
        storage=StorageSettings(seal_keys=keys),
    )
    with pytest.raises(StartupError) as refusal:
        await App.start(settings)
    return str(refusal.value)


async def content_of(service: ServiceStubs, document: matters_pb2.Document, offset: int = 0, length: int = 0) -> bytes:
    request = matters_pb2.GetDocumentContentRequest(
        matter_id=document.matter_id, document_id=document.document_id, offset=offset, length=length
    )
    return b"".join([answer.data async for answer in service.matters.GetDocumentContent(request)])


def files_with(folder: Path, words: bytes) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and words in path.read_bytes()]


async def test_no_word_of_an_original_lies_in_the_folder_and_every_range_is_read(
    tmp_path: Path, models_dir: Path, master: Path
) -> None:
    async with served(tmp_path / "data", models_dir, STORAGE__SEAL_KEYS=str(master)) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        (small,) = await service.wait_until_ready(matter_id)
        large = await service.upload(matter_id, "unread.pdf", LARGE)
        assert await content_of(service, small) == AGREEMENT.encode()
        assert hashlib.sha256(await content_of(service, large)).hexdigest() == large.sha256
        for offset, length in [(0, 1), (1_048_570, 20), (len(LARGE) - 5, 0), (300_000, 900_000), (len(LARGE), 0)]:
            end = offset + length if length else None
            assert await content_of(service, large, offset, length) == LARGE[offset:end]
        blobs = tmp_path / "data" / "blobs"
        assert files_with(blobs, WORDS) == files_with(blobs, b"The fee is due") == []
        assert sorted(path.name for path in (blobs / "local").iterdir()) == sorted(
            f"{document.document_id}_sealed" for document in (small, large)
        )
        await service.matters.DeleteDocument(
            matters_pb2.DeleteDocumentRequest(matter_id=matter_id, document_id=small.document_id)
        )
        assert [path.name for path in (blobs / "local").iterdir()] == [f"{large.document_id}_sealed"]
    code, out, err = await proviso(
        "doctor", "--data-dir", tmp_path / "data", "--models-dir", models_dir, STORAGE__SEAL_KEYS=str(master)
    )
    assert "Originals: 1 uploaded files, checksums agree" in out, (code, err, out)


async def test_originals_from_before_stay_readable_and_are_sealed_by_a_command_while_the_service_runs(
    tmp_path: Path, models_dir: Path, master: Path
) -> None:
    data = tmp_path / "data"
    async with served(data, models_dir) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT, other="Old words.")
    assert files_with(data / "blobs", WORDS)
    async with served(data, models_dir, STORAGE__SEAL_KEYS=str(master)) as service:
        await service.upload(matter_id, "new.md", b"New words.")
        documents = {document.filename: document for document in await service.wait_until_ready(matter_id)}
        (data / "blobs" / "local" / documents["other.md"].document_id).write_bytes(b"Odd words.")
        assert await content_of(service, documents["agreement.md"]) == AGREEMENT.encode()
        code, out, _ = await proviso("seal", "status", "--data-dir", data, STORAGE__SEAL_KEYS=str(master))
        assert (code, out) == (0, "local: has a key\n2 originals lie unsealed; `proviso seal originals` seals them\n")
        code, out, err = await proviso("seal", "originals", "--data-dir", data, STORAGE__SEAL_KEYS=str(master))
        assert (code, out) == (1, "Sealed 1 originals\n")
        assert documents["other.md"].document_id in err
        assert files_with(data / "blobs", WORDS) == []
        assert await content_of(service, documents["agreement.md"]) == AGREEMENT.encode()
        assert await content_of(service, documents["new.md"]) == b"New words."


async def test_keys_are_rotated_under_a_running_service_and_the_old_master_key_opens_nothing(
    tmp_path: Path, models_dir: Path, master: Path
) -> None:
    data, old = tmp_path / "data", tmp_path / "old.key"
    shutil.copy(master, old)
    async with served(data, models_dir, STORAGE__SEAL_KEYS=str(master)) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        for command in (["rotate-master"], ["rotate", "local"], ["rotate-master"]):
            code, _, err = await proviso("seal", *command, "--data-dir", data, STORAGE__SEAL_KEYS=str(master))
            assert (code, err) == (0, "")
            await service.upload(matter_id, f"{len(command)}.md", " ".join(command).encode())
            for document in await service.wait_until_ready(matter_id):
                assert hashlib.sha256(await content_of(service, document)).hexdigest() == document.sha256
    async with served(data, models_dir, STORAGE__SEAL_KEYS=str(master)) as service:
        for document in await service.wait_until_ready(matter_id):
            assert hashlib.sha256(await content_of(service, document)).hexdigest() == document.sha256
    assert await refused_start(data, models_dir, str(old)) == f"The key of tenant 'local' was not wrapped by {old}"


async def test_a_start_without_the_right_keys_is_refused_in_one_line(
    tmp_path: Path, models_dir: Path, master: Path
) -> None:
    data = tmp_path / "data"
    async with served(data, models_dir, STORAGE__SEAL_KEYS=str(master)) as service:
        await service.create_matter(agreement=AGREEMENT)
    KeyFile(tmp_path / "other.key").make()
    (tmp_path / "broken.key").write_text("{}")
    for keys, told in [
        (str(tmp_path / "none.key"), "is not there"),
        (str(tmp_path / "broken.key"), "it is not a key that the service made"),
        ("http://vault.example.com/v1/transit", "a file or an https address"),
        ("", "PROVISO_STORAGE__SEAL_KEYS has to name their master key"),
    ]:
        refusal = await refused_start(data, models_dir, keys)
        assert (told in refusal, "\n" in refusal) == (True, False), refusal
    other = str(tmp_path / "other.key")
    code, out, err = await proviso(
        "serve", "--data-dir", data, "--models-dir", models_dir, "--port", "0", STORAGE__SEAL_KEYS=other
    )
    assert (code, out, err) == (2, "", f"proviso: The key of tenant 'local' was not wrapped by {other}\n")
    shutil.rmtree(data / "secrets" / "tenant-keys")
    assert "their key is not in" in await refused_start(data, models_dir, str(master))
    code, _, err = await proviso("seal", "new-key", master)
    assert (code, "File exists" in err) == (1, True)


async def test_a_destroyed_key_leaves_texts_and_nothing_of_originals_and_the_audit_tells_it(
    tmp_path: Path, models_dir: Path, master: Path
) -> None:
    data = tmp_path / "data"
    async with served(data, models_dir, STORAGE__SEAL_KEYS=str(master)) as service:
        matter_id = await service.create_matter(agreement=AGREEMENT)
        (document,) = await service.wait_until_ready(matter_id)
        code, _, _ = await proviso("seal", "destroy", "local", "--data-dir", data, STORAGE__SEAL_KEYS=str(master))
        assert code == 1  # nobody has confirmed it
        assert await content_of(service, document) == AGREEMENT.encode()
        code, out, err = await proviso(
            "seal", "destroy", "local", "--yes", "--data-dir", data, STORAGE__SEAL_KEYS=str(master)
        )
        assert (code, out, err) == (0, "The key of local is destroyed\n", "")
        for call in (content_of(service, document), service.upload(matter_id, "new.md", b"New.")):
            with pytest.raises(grpc.aio.AioRpcError) as refusal:
                await call
            assert refusal.value.code() is grpc.StatusCode.FAILED_PRECONDITION
            assert "was destroyed" in str(refusal.value.details())
        asked = tools_pb2.GetDocumentTextRequest(matter_id=matter_id, document_id=document.document_id)
        assert "liability insurance" in (await service.tools.GetDocumentText(asked)).text
    async with served(data, models_dir, STORAGE__SEAL_KEYS=str(master)) as service:
        with pytest.raises(grpc.aio.AioRpcError):
            await content_of(service, document)
        await service.matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=matter_id))
    code, out, _ = await proviso("audit", "export", "--data-dir", data)
    assert ("destroy_key", "key", "local") in [
        (event["action"], event["resource"], event["resource_id"]) for event in map(json.loads, out.splitlines())
    ]
