"""Uploads, reads and deletes documents through MatterService.

The word "documentation" takes the place of a matter's id for documents that belong to no matter."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import grpc

from proviso_client._aio.calls import Calls
from proviso_client._credentials import Metadata
from proviso_client._files import PIECE_BYTES, Progress, Source, UploadSource, upload_source
from proviso_client._requests import matter_id_metadata
from proviso_client._retrying import Deadline, RetryState, is_cut
from proviso_client.errors import DocumentsFailed, ProvisoError
from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub

if TYPE_CHECKING:  # exists for type checkers only
    from proviso_client.v1.matters_pb2_grpc import MatterServiceAsyncStub

UPLOAD_TIMEOUT_S = 600.0
READY_TIMEOUT_S = 600.0


class AsyncDocuments:
    """Every method raises ProvisoError when its call fails, and NotFound when the caller may not see the matter or the
    document."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._stub: MatterServiceAsyncStub = MatterServiceStub(calls.channel)

    async def upload(
        self,
        matter_id: str,
        source: Source,
        *,
        filename: str = "",
        progress: Progress | None = None,
        timeout_s: float = UPLOAD_TIMEOUT_S,
    ) -> pb.UploadDocumentResponse:
        """Stores a document, which can be searched when it is READY. The source is read and sent in pieces. Uploading
        the same bytes again returns the same document; `already_existed` says whether the matter already had it.

        `filename` defaults to the name of the source. `progress` is called in the event loop. The upload is repeated
        while the service is unavailable, and `progress` then starts again from the beginning. An upload from an open
        file is not repeated. Raises InvalidRequest when the service cannot read this kind of document, OSError when the
        source cannot be read, and ValueError when it has no file name."""
        read = await asyncio.to_thread(upload_source, source, filename)

        async def attempt(left_s: float, metadata: Metadata) -> pb.UploadDocumentResponse:
            return await self._send(read, matter_id, progress, left_s, (*metadata, *matter_id_metadata(matter_id)))

        return await self._calls.attempts(attempt, timeout_s, repeatable=read.repeatable, renewable=read.repeatable)

    async def get(self, matter_id: str, document_id: str, *, timeout_s: float | None = None) -> pb.Document:
        request = pb.GetDocumentRequest(matter_id=matter_id, document_id=document_id)
        return (await self._calls.unary(self._stub.GetDocument, request, timeout_s)).document

    def content(
        self, matter_id: str, document_id: str, *, offset: int = 0, length: int = 0, timeout_s: float | None = None
    ) -> AsyncIterator[pb.GetDocumentContentResponse]:
        """Yields a header and then the bytes of the document as they were uploaded, in pieces: from `offset` on, at
        most `length` of them, or all if that is 0."""
        request = pb.GetDocumentContentRequest(
            matter_id=matter_id, document_id=document_id, offset=offset, length=length
        )
        return self._calls.stream(self._stub.GetDocumentContent, request, timeout_s)

    async def page(
        self,
        matter_id: str,
        document_id: str,
        page: int,
        *,
        start: int = 0,
        end: int = 0,
        timeout_s: float | None = None,
    ) -> pb.GetDocumentPageResponse:
        """Returns the size of a page and the boxes of its words, of those from `start` to `end` of the text if they are
        given; positions count code points of the text."""
        request = pb.GetDocumentPageRequest(
            matter_id=matter_id, document_id=document_id, page=page, start=start, end=end
        )
        return await self._calls.unary(self._stub.GetDocumentPage, request, timeout_s)

    def list(self, matter_id: str, *, page_size: int = 0, timeout_s: float | None = None) -> AsyncIterator[pb.Document]:
        """Yields the matter's documents in the order of upload and requests each page when it is needed."""
        request = pb.ListDocumentsRequest(matter_id=matter_id, page_size=page_size)
        return self._calls.pages(self._stub.ListDocuments, request, lambda page: page.documents, timeout_s)

    async def delete(self, matter_id: str, document_id: str, *, timeout_s: float | None = None) -> str:
        """Deletes a document. Returns the id of the deletion, whose receipt `get_deletion` of the client returns."""
        request = pb.DeleteDocumentRequest(matter_id=matter_id, document_id=document_id)
        deleted = await self._calls.unary(self._stub.DeleteDocument, request, timeout_s, repeatable=False)
        return deleted.deletion_id

    def watch(
        self, matter_id: str, document_ids: Sequence[str] = (), *, timeout_s: float | None = None
    ) -> AsyncIterator[pb.WatchDocumentsResponse]:
        """Yields the state of each document and then each change, and ends when all are READY or FAILED. Watches all
        documents of the matter when `document_ids` is empty."""
        request = pb.WatchDocumentsRequest(matter_id=matter_id, document_ids=document_ids)
        return self._calls.stream(self._stub.WatchDocuments, request, timeout_s)

    async def wait_until_ready(
        self,
        matter_id: str,
        document_ids: Sequence[str] = (),
        *,
        progress: Callable[[pb.WatchDocumentsResponse], object] | None = None,
        timeout_s: float = READY_TIMEOUT_S,
    ) -> Sequence[pb.Document]:
        """Waits until the documents can be searched and returns them. Waits for all documents of the matter when
        `document_ids` is empty. Raises DocumentsFailed when one of them cannot be read, and DeadlineExceeded when they
        are not ready within `timeout_s`."""
        deadline = Deadline(timeout_s)
        patience = RetryState(self._calls.retries, deadline)
        while True:
            seen: dict[str, pb.Document] = {}
            try:
                async for state in self.watch(matter_id, document_ids, timeout_s=deadline.left_s):
                    patience.progressed()
                    seen[state.document.document_id] = state.document
                    if progress is not None:
                        progress(state)
            except ProvisoError as error:
                # A service that stops ends the stream, and a proxy may end a stream that has lasted long.
                self._calls.check_open()
                if not is_cut(error, begun=True):
                    raise
                await asyncio.sleep(patience.wait_s(error))
            else:
                return _all_ready(seen.values())

    async def _send(
        self, source: UploadSource, matter_id: str, progress: Progress | None, left_s: float, metadata: Metadata
    ) -> pb.UploadDocumentResponse:
        call = self._stub.UploadDocument(timeout=left_s, metadata=metadata)
        try:
            # When the service ends the call early, awaiting the call below raises the reason.
            with suppress(grpc.RpcError, asyncio.InvalidStateError):
                await call.write(source.header(matter_id))
                sent_bytes = 0
                with await asyncio.to_thread(source.open) as file:
                    while data := await asyncio.to_thread(file.read, PIECE_BYTES):
                        await call.write(pb.UploadDocumentRequest(data=data))
                        sent_bytes += len(data)
                        if progress is not None:
                            progress(sent_bytes, source.total_bytes)
                await call.write(pb.UploadDocumentRequest(end=pb.UploadEnd()))
                await call.done_writing()
            return await call
        finally:
            call.cancel()


def _all_ready(documents: Iterable[pb.Document]) -> Sequence[pb.Document]:
    """Returns the documents. Raises DocumentsFailed when one of them has failed."""
    if failed := [document for document in documents if document.status == pb.DOCUMENT_STATUS_FAILED]:
        raise DocumentsFailed(failed)
    return tuple(documents)
