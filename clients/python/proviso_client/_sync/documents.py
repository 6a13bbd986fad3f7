"""Uploads, reads and deletes documents through MatterService.

The word "documentation" takes the place of a matter's id for documents that belong to no matter."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import grpc

from proviso_client._credentials import Metadata
from proviso_client._files import PIECE_BYTES, Progress, Source, UploadSource, upload_source
from proviso_client._requests import matter_id_metadata
from proviso_client._retrying import Deadline, RetryState, is_cut
from proviso_client._sync.calls import Calls
from proviso_client.errors import DocumentsFailed, ProvisoError
from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub

UPLOAD_TIMEOUT_S = 600.0
READY_TIMEOUT_S = 600.0


class Documents:
    """Every method raises ProvisoError when its call fails, and NotFound when the caller may not see the matter or the
    document."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._stub = MatterServiceStub(calls.channel)

    def upload(
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

        `filename` defaults to the name of the source. `progress` is called in another thread. The upload is repeated
        while the service is unavailable, and `progress` then starts again from the beginning. An upload from an open
        file is not repeated. Raises InvalidRequest when the service cannot read this kind of document, OSError when the
        source cannot be read, and ValueError when it has no file name."""
        read = upload_source(source, filename)

        def attempt(left_s: float, metadata: Metadata) -> pb.UploadDocumentResponse:
            return self._send(read, matter_id, progress, left_s, (*metadata, *matter_id_metadata(matter_id)))

        return self._calls.attempts(attempt, timeout_s, repeatable=read.repeatable, renewable=read.repeatable)

    def get(self, matter_id: str, document_id: str, *, timeout_s: float | None = None) -> pb.Document:
        request = pb.GetDocumentRequest(matter_id=matter_id, document_id=document_id)
        return self._calls.unary(self._stub.GetDocument, request, timeout_s).document

    def content(
        self, matter_id: str, document_id: str, *, offset: int = 0, length: int = 0, timeout_s: float | None = None
    ) -> Iterator[pb.GetDocumentContentResponse]:
        """Yields a header and then the bytes of the document as they were uploaded, in pieces: from `offset` on, at
        most `length` of them, or all if that is 0."""
        request = pb.GetDocumentContentRequest(
            matter_id=matter_id, document_id=document_id, offset=offset, length=length
        )
        return self._calls.stream(self._stub.GetDocumentContent, request, timeout_s)

    def page(
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
        return self._calls.unary(self._stub.GetDocumentPage, request, timeout_s)

    def list(self, matter_id: str, *, page_size: int = 0, timeout_s: float | None = None) -> Iterator[pb.Document]:
        """Yields the matter's documents in the order of upload and requests each page when it is needed."""
        request = pb.ListDocumentsRequest(matter_id=matter_id, page_size=page_size)
        return self._calls.pages(self._stub.ListDocuments, request, lambda page: page.documents, timeout_s)

    def delete(self, matter_id: str, document_id: str, *, timeout_s: float | None = None) -> str:
        """Deletes a document. Returns the id of the deletion, whose receipt `get_deletion` of the client returns."""
        request = pb.DeleteDocumentRequest(matter_id=matter_id, document_id=document_id)
        deleted = self._calls.unary(self._stub.DeleteDocument, request, timeout_s, repeatable=False)
        return deleted.deletion_id

    def watch(
        self, matter_id: str, document_ids: Sequence[str] = (), *, timeout_s: float | None = None
    ) -> Iterator[pb.WatchDocumentsResponse]:
        """Yields the state of each document and then each change, and ends when all are READY or FAILED. Watches all
        documents of the matter when `document_ids` is empty."""
        request = pb.WatchDocumentsRequest(matter_id=matter_id, document_ids=document_ids)
        return self._calls.stream(self._stub.WatchDocuments, request, timeout_s)

    def wait_until_ready(
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
                for state in self.watch(matter_id, document_ids, timeout_s=deadline.left_s):
                    patience.progressed()
                    seen[state.document.document_id] = state.document
                    if progress is not None:
                        progress(state)
            except ProvisoError as error:
                # A service that stops ends the stream, and a proxy may end a stream that has lasted long.
                self._calls.check_open()
                if not is_cut(error, begun=True):
                    raise
                self._calls.closed.wait(patience.wait_s(error))
            else:
                return _all_ready(seen.values())

    def _send(
        self, source: UploadSource, matter_id: str, progress: Progress | None, left_s: float, metadata: Metadata
    ) -> pb.UploadDocumentResponse:
        requests = _Requests(source, matter_id, progress)
        try:
            return self._stub.UploadDocument(iter(requests), timeout=left_s, metadata=metadata)
        except grpc.RpcError:
            if requests.failure is not None:
                raise requests.failure from None
            raise


def _all_ready(documents: Iterable[pb.Document]) -> Sequence[pb.Document]:
    """Returns the documents. Raises DocumentsFailed when one of them has failed."""
    if failed := [document for document in documents if document.status == pb.DOCUMENT_STATUS_FAILED]:
        raise DocumentsFailed(failed)
    return tuple(documents)


class _Requests:
    """Yields the messages of an upload. gRPC iterates over them in a thread of its own; `failure` keeps the exception
    that was raised there."""

    def __init__(self, source: UploadSource, matter_id: str, progress: Progress | None) -> None:
        self._source = source
        self._matter_id = matter_id
        self._progress = progress
        self.failure: Exception | None = None

    def __iter__(self) -> Iterator[pb.UploadDocumentRequest]:
        yield self._source.header(self._matter_id)
        try:
            yield from self._pieces()
            yield pb.UploadDocumentRequest(end=pb.UploadEnd())
        except Exception as failure:
            self.failure = failure
            raise

    def _pieces(self) -> Iterator[pb.UploadDocumentRequest]:
        sent_bytes = 0
        with self._source.open() as file:
            while data := file.read(PIECE_BYTES):
                yield pb.UploadDocumentRequest(data=data)
                sent_bytes += len(data)
                if self._progress is not None:
                    self._progress(sent_bytes, self._source.total_bytes)
