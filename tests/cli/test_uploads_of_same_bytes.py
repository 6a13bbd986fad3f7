import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from proviso_client.v1 import matters_pb2 as pb
from proviso_service.cli.client import Client
from proviso_service.cli.uploads import Ingest, Outcome, Result


class LateCopy:
    """A matter whose only document is READY in the first watch; the second file of its bytes is uploaded before that,
    and its answer comes after that, while the watch is still open."""

    def __init__(self) -> None:
        self.watches = 0
        self.reported = asyncio.Event()
        self.copy_noted = asyncio.Event()

    async def UploadDocument(  # noqa: N802
        self, messages: AsyncIterator[pb.UploadDocumentRequest], **_: object
    ) -> pb.UploadDocumentResponse:
        header = (await anext(messages)).header
        copy = header.filename == "copy.md"
        if copy:
            await self.reported.wait()
        return pb.UploadDocumentResponse(document=self.document(pb.DOCUMENT_STATUS_PENDING), already_existed=copy)

    async def WatchDocuments(  # noqa: N802
        self, request: pb.WatchDocumentsRequest, **_: object
    ) -> AsyncIterator[pb.WatchDocumentsResponse]:
        self.watches += 1
        yield pb.WatchDocumentsResponse(document=self.document(pb.DOCUMENT_STATUS_READY))
        self.reported.set()
        await self.copy_noted.wait()

    def progress(self, done_bytes: float, outcomes: list[Outcome]) -> None:
        if self.reported.is_set() and not outcomes:
            self.copy_noted.set()

    def document(self, status: pb.DocumentStatus) -> pb.Document:
        return pb.Document(document_id="d", status=status, size_bytes=7, chunk_count=1)


async def test_a_file_whose_bytes_were_settled_while_it_was_uploaded_is_watched_too(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("original.md", "copy.md")]
    for file in files:
        file.write_text("# Lease")
    matters = LateCopy()
    client = cast(Client, SimpleNamespace(matters=cast(Any, matters), address="nowhere"))
    outcomes = await Ingest(client, "m", files, matters.progress).run()
    assert [(outcome.path.name, outcome.result) for outcome in outcomes] == [
        ("original.md", Result.READY),
        ("copy.md", Result.UNCHANGED),
    ]
    assert matters.watches == 2
