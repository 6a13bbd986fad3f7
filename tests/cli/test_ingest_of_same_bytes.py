import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from proviso_client import AsyncClient
from proviso_client.v1 import matters_pb2 as pb
from proviso_service.cli.connection import Connection
from proviso_service.cli.ingest import MatterIngest, Outcome, Result
from proviso_service.cli.server_options import Server


class LateCopy:
    """A matter whose only document is READY in the first watch. The second file of its bytes is uploaded before that,
    and the answer comes after that, while the watch is still open."""

    def __init__(self) -> None:
        self.watches = 0
        self.reported = asyncio.Event()
        self.copy_noted = asyncio.Event()

    async def upload(self, matter_id: str, path: Path) -> pb.UploadDocumentResponse:
        copy = path.name == "copy.md"
        if copy:
            await self.reported.wait()
        return pb.UploadDocumentResponse(document=self.document(pb.DOCUMENT_STATUS_PENDING), already_existed=copy)

    async def wait_until_ready(
        self, matter_id: str, document_ids: Sequence[str], *, progress: Callable[[Any], object], timeout_s: float
    ) -> Sequence[pb.Document]:
        self.watches += 1
        ready = self.document(pb.DOCUMENT_STATUS_READY)
        progress(pb.WatchDocumentsResponse(document=ready))
        self.reported.set()
        await self.copy_noted.wait()
        return [ready]

    def progress(self, done_bytes: float, outcomes: list[Outcome]) -> None:
        if self.reported.is_set() and not outcomes:
            self.copy_noted.set()

    def document(self, status: pb.DocumentStatus) -> pb.Document:
        return pb.Document(document_id="d", status=status, size_bytes=7, chunk_count=1)


async def test_a_file_whose_bytes_were_reported_while_it_was_uploaded_is_watched_too(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("original.md", "copy.md")]
    for file in files:
        file.write_text("# Lease")
    documents = LateCopy()
    connection = Connection(Server("nowhere"), cast(AsyncClient, SimpleNamespace(documents=documents)))
    outcomes = await MatterIngest(connection, "m", files, documents.progress).run()
    assert [(outcome.path.name, outcome.result) for outcome in outcomes] == [
        ("original.md", Result.READY),
        ("copy.md", Result.UNCHANGED),
    ]
    assert documents.watches == 2
