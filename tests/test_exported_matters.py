"""A matter as one archive, over a real channel."""

import hashlib
import io
import json
import zipfile
from collections.abc import AsyncGenerator
from pathlib import Path

import grpc
import pytest

from proviso_client import AsyncClient
from proviso_client.v1 import matters_pb2
from proviso_client.v1.access_pb2 import AuditOutcome
from proviso_client.v1.matters_pb2 import ExportMatterRequest
from tests.support.access_world import callers, method_named, request_of
from tests.support.changes import database_changes
from tests.support.matters_world import TENANT, matters_world
from tests.support.running import AGREEMENT, RunningService, new_id
from tests.support.scripted_model import Step
from tests.support.served import proviso
from tests.support.word_embedder import WordEmbedder

LARGE = b"".join(hashlib.sha256(str(number).encode()).digest() for number in range(100_000))
"""What compression leaves as it is."""


async def pieces_of(service: RunningService, matter_id: str) -> list[bytes]:
    return [answer.data async for answer in service.matters.ExportMatter(ExportMatterRequest(matter_id=matter_id))]


async def no_conversations() -> AsyncGenerator[AsyncGenerator[bytes, None], None]:
    none: list[AsyncGenerator[bytes, None]] = []
    for pieces in none:
        yield pieces


def opened(archive: bytes) -> tuple[dict[str, bytes], dict[str, object]]:
    """The files of an archive, each compared with its hash in the manifest, and the manifest."""
    with zipfile.ZipFile(io.BytesIO(archive)) as whole:
        assert whole.testzip() is None
        files = {name: whole.read(name) for name in whole.namelist()}
    manifest = json.loads(files.pop("manifest.json"))
    for file in manifest["files"]:
        assert hashlib.sha256(files[file["path"]]).hexdigest() == file["sha256"]
        assert len(files[file["path"]]) == file["size_bytes"]
    return files, manifest


async def test_an_archive_has_the_matter_its_members_its_documents_and_their_texts(service: RunningService) -> None:
    matter_id = await service.create_matter("Northwind", agreement=AGREEMENT)
    await service.upload(matter_id, "agreement.md", b"# Another\n\nWith the same name.\n")
    await service.upload(matter_id, "unread.pdf", LARGE)
    await service.matters.GrantMatterAccess(
        matters_pb2.GrantMatterAccessRequest(
            matter_id=matter_id, member=matters_pb2.MatterMember(user_id="bob", role="MATTER_ROLE_READER")
        )
    )
    async for _ in service.matters.WatchDocuments(matters_pb2.WatchDocumentsRequest(matter_id=matter_id)):
        pass
    pieces = await pieces_of(service, matter_id)
    assert len(pieces) > 10
    assert max(map(len, pieces)) <= 256 * 1024
    files, manifest = opened(b"".join(pieces))
    assert sorted(files) == [
        "documents.json",
        "matter.json",
        "members.json",
        "originals/agreement (2).md",
        "originals/agreement.md",
        "originals/unread.pdf",
        "texts/agreement (2).md.txt",
        "texts/agreement.md.txt",
    ]
    assert files["originals/agreement.md"] == AGREEMENT.encode()
    assert files["originals/unread.pdf"] == LARGE
    assert files["texts/agreement.md.txt"].decode().strip() == AGREEMENT.strip()
    assert json.loads(files["matter.json"])["name"] == "Northwind"
    assert "bob" in [member["user_id"] for member in json.loads(files["members.json"])]
    assert [row["status"] for row in json.loads(files["documents.json"])] == ["ready", "ready", "failed"]
    assert (manifest["matter_id"], manifest["left_out"]) == (matter_id, [])


async def test_what_is_lost_or_deleted_meanwhile_is_named_and_the_rest_is_there(tmp_path: Path) -> None:
    async with matters_world(tmp_path, WordEmbedder()) as world, world.running() as matters:
        matter = await world.matter()
        ids = {}
        for name in ("large.pdf", "lost.pdf", "changed.pdf", "deleted.pdf", "kept.pdf"):
            content = (LARGE if name == "large.pdf" else b"") + name.encode()
            ids[name] = (await world.upload(matter, content, name)).document.document_id
        await world.at_rest()
        blobs = tmp_path / "blobs" / TENANT
        (blobs / ids["lost.pdf"]).unlink()
        (blobs / ids["changed.pdf"]).write_bytes(b"Changed.pdf")
        archive = await matters.export(TENANT, matter.matter_id, [], no_conversations())
        first = await anext(archive)
        await matters.delete_document(TENANT, matter.matter_id, ids["deleted.pdf"])
        files, manifest = opened(first + b"".join([piece async for piece in archive]))
    assert {entry["name"]: entry["problem"] for entry in manifest["left_out"]} == {  # type: ignore[attr-defined]
        "lost.pdf": "missing",
        "changed.pdf": "changed",
        "deleted.pdf": "deleted meanwhile",
    }
    whole = {file["path"] for file in manifest["files"]}  # type: ignore[attr-defined]
    assert {"originals/large.pdf", "originals/kept.pdf"} <= whole
    assert not whole & {"originals/lost.pdf", "originals/changed.pdf", "originals/deleted.pdf"}
    assert files["originals/kept.pdf"] == b"kept.pdf"


async def test_conversations_are_the_callers_own_and_an_administrator_may_have_them_all(
    tmp_path: Path, models_dir: Path
) -> None:
    async with callers(tmp_path, models_dir, *[Step(["I do not know."])] * 6) as world:
        ada, rita = world.metadata("smith", "ada"), world.metadata("smith", "rita")
        root = world.metadata("smith", "root", roles=["admin"])
        matter, other = await world.matter(ada, agreement=AGREEMENT), await world.matter(rita, "Other")
        member = {"user_id": "rita", "role": "MATTER_ROLE_READER"}
        await world.ask("GrantMatterAccess", ada, matter_id=matter, member=member)
        for caller, session_id, message, matter_id in (
            (ada, "one", "Who signs?", matter),
            (ada, "one", "And when? \u2603", matter),
            (rita, "two", "What is due?", matter),
            (rita, "three", "Something else?", other),
        ):
            await world.ask(
                "Invoke", caller, message=message, session_id=session_id, matter_context={"matter_id": matter_id}
            )

        async def conversations(caller: tuple[tuple[str, str], ...], **fields: bool) -> dict[str, list[str]]:
            pieces = await world.ask("ExportMatter", caller, matter_id=matter, **fields)
            files, _ = opened(b"".join(piece.data for piece in pieces))
            found = [json.loads(content) for name, content in files.items() if name.startswith("conversations/")]
            assert all("request_context" in one["messages"][1] for one in found)
            return {
                f"{one['user_id']}/{one['session_id']}": [m["content"] for m in one["messages"] if "USER" in m["role"]]
                for one in found
            }

        own = {"ada/one": ["Who signs?", "And when? \u2603"]}
        assert await conversations(ada) == own
        assert await conversations(root) == {}
        assert await conversations(root, all_conversations=True) == own | {"rita/two": ["What is due?"]}
        asked = request_of(method_named("ExportMatter"), matter_id=matter, all_conversations=True)
        refused = await world.call(method_named("ExportMatter"), asked, ada)
        assert (refused.reason, "admin" in refused.message) == ("PERMISSION_DENIED", True)
        auditor = world.metadata("smith", "audrey", roles=["auditor"])
        done = "export with all conversations", AuditOutcome.AUDIT_OUTCOME_DONE

        async def by_whom() -> list[str]:
            events = (await world.ask("ListAuditEvents", auditor, page_size=100)).events
            return [event.user_id for event in events if (event.action, event.outcome) == done]

        async def is_stored() -> bool:
            return bool(await by_whom())

        with database_changes() as changes:  # after the last piece was sent
            await changes.until(is_stored)
        assert await by_whom() == ["root"]


async def test_names_of_files_lead_nowhere_else(service: RunningService) -> None:
    matter_id = await service.create_matter()
    for number, name in enumerate(("CON.txt", "a:b?.txt", "A_B_.TXT", f"{'long ' * 40}.txt")):
        await service.upload(matter_id, name, f"Number {number}".encode())
    files, _ = opened(b"".join(await pieces_of(service, matter_id)))
    names = [name.removeprefix("originals/") for name in files if name.startswith("originals/")]
    assert sorted(names)[:3] == ["A_B_ (2).TXT", "_CON.txt", "a_b_.txt"]
    assert all(len(name) <= 130 and "/" not in name for name in names)


async def test_a_matter_that_is_not_there_and_the_documentation_are_refused(service: RunningService) -> None:
    for matter_id, code in [
        (new_id(), grpc.StatusCode.NOT_FOUND),
        ("documentation", grpc.StatusCode.INVALID_ARGUMENT),
    ]:
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await pieces_of(service, matter_id)
        assert refusal.value.code() is code


async def test_the_python_client_yields_the_archive(service: RunningService) -> None:
    matter_id = await service.create_matter(agreement=AGREEMENT)
    async with AsyncClient(f"127.0.0.1:{service.app.port}") as client:
        files, _ = opened(b"".join([piece async for piece in client.matters.export(matter_id)]))
    assert files["originals/agreement.md"] == AGREEMENT.encode()


async def test_the_command_writes_a_file_that_is_whole_or_not_there(service: RunningService, tmp_path: Path) -> None:
    await service.create_matter("Northwind", agreement=AGREEMENT)
    address, file = f"127.0.0.1:{service.app.port}", tmp_path / "out" / "northwind.zip"
    file.parent.mkdir()
    code, out, err = await proviso("export", "Northwind", file, "--address", address)
    assert (code, err, out.startswith("Exported Northwind to ")) == (0, "", True), err
    files, _ = opened(file.read_bytes())
    assert files["originals/agreement.md"] == AGREEMENT.encode()
    for arguments, told in (
        (("Nothing", file.with_name("other.zip")), "no matter"),
        (("Northwind", file), "is there already"),
    ):
        code, _, err = await proviso("export", *arguments, "--address", address)
        assert (code, err.count("\n"), told in err) == (1, 1, True), err
    assert [path.name for path in file.parent.iterdir()] == ["northwind.zip"]
