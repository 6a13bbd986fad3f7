"""The whole service killed while it ingests, then while it deletes: the next start goes on where it was."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from proviso_client.v1 import matters_pb2, tools_pb2
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub
from tests.support.changes import database_changes
from tests.support.endless_process import EndlessService, endless_service
from tests.support.processes import children_of, ended
from tests.support.running import AGREEMENT, running_service

if TYPE_CHECKING:  # the async stubs exist for type checkers only
    from proviso_client.v1.matters_pb2_grpc import MatterServiceAsyncStub

DOCUMENTS = {f"{number}.txt": f"Agreement {number}.\n\n" + f"{AGREEMENT}\n" * 5 for number in range(5)}


@asynccontextmanager
async def killed_service(data_dir: Path, models_dir: Path) -> AsyncIterator[EndlessService]:
    """The service, which is killed at the end of the block and leaves no process behind."""
    async with endless_service(data_dir, models_dir) as doomed:
        yield doomed
        children = children_of(doomed.process.pid)
        doomed.process.kill()
        await doomed.process.wait()
        async with asyncio.timeout(30):
            await ended(children)


async def create_matter(matters: "MatterServiceAsyncStub") -> str:
    return (await matters.CreateMatter(matters_pb2.CreateMatterRequest(name="M"))).matter.matter_id


async def upload(matters: "MatterServiceAsyncStub", matter_id: str, filename: str) -> str:
    header = matters_pb2.UploadHeader(matter_id=matter_id, filename=filename)
    request = [
        matters_pb2.UploadDocumentRequest(header=header),
        matters_pb2.UploadDocumentRequest(data=DOCUMENTS[filename].encode()),
        matters_pb2.UploadDocumentRequest(end=matters_pb2.UploadEnd()),
    ]
    return (await matters.UploadDocument(iter(request))).document.document_id


def _count(database: Path, rows: str) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {rows}").fetchone()[0])  # noqa: S608


@pytest.mark.timeout(300)  # on a busy machine
async def test_a_service_killed_twice_goes_on_as_if_nothing_had_happened(tmp_path: Path, models_dir: Path) -> None:
    data_dir = tmp_path / "data"
    async with killed_service(data_dir, models_dir) as service:
        matters: MatterServiceAsyncStub = MatterServiceStub(service.channel)
        matter_id, doomed = await create_matter(matters), await create_matter(matters)
        uploads = {name: await upload(matters, matter_id, name) for name in DOCUMENTS}
        for name in DOCUMENTS:
            await upload(matters, doomed, name)
        async for state in matters.WatchDocuments(matters_pb2.WatchDocumentsRequest(matter_id=matter_id)):
            if state.chunks_done:
                break
    async with killed_service(data_dir, models_dir) as service:
        matters = MatterServiceStub(service.channel)
        async for _ in matters.WatchDocuments(matters_pb2.WatchDocumentsRequest(matter_id=matter_id)):
            pass
        deletion = matters_pb2.DeleteDocumentRequest(matter_id=matter_id, document_id=uploads.pop("0.txt"))
        await matters.DeleteDocument(deletion)
        deleting = matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=doomed))
        async with asyncio.timeout(30):
            await service.has_deleted(doomed)
    deleting.cancel()
    database = data_dir / "state.sqlite3"

    async def all_is_cleared() -> bool:
        return not (_count(database, "leftovers") or _count(database, "matters WHERE deleted"))

    with database_changes() as changes:
        async with running_service(data_dir, models_dir) as restarted:
            documents = await restarted.wait_until_ready(matter_id)
            assert {document.filename: document.document_id for document in documents} == uploads
            listed = await restarted.matters.ListMatters(matters_pb2.ListMattersRequest())
            assert [matter.matter_id for matter in listed.matters] == [matter_id]
            await changes.until(all_is_cleared)
            passages = sum(document.chunk_count for document in documents)
            assert _count(database, "chunks") == passages > 0
            assert _count(database, "packed_documents") == len(documents)
            query = tools_pb2.SearchRequest(matter_id=matter_id, query="governing law")
            found = await restarted.tools.Search(query)
            assert {result.filename for result in found.results} <= set(uploads)
            assert {hits.filename for hits in found.documents_matching} == set(uploads)
    blobs = {path.name for path in (data_dir / "blobs").rglob("*") if path.is_file()}
    assert blobs == set(uploads.values())
