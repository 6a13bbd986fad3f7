"""Matters and their documents, as callers use them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Protocol, TypeVar
from uuid import uuid4

import structlog

from proviso_service.concurrency import with_timeout
from proviso_service.errors import Draining, InvalidRequest, Unavailable
from proviso_service.identity import NEVER_RETRIED, RetryKey
from proviso_service.language import unread_warnings
from proviso_service.matters.clearing import LONGEST_UPLOAD_S, Clearing
from proviso_service.matters.document_text import WHOLE_TEXT, TextPart, check_part, read_part
from proviso_service.matters.exporting import Conversations, MatterToExport, export_pieces
from proviso_service.matters.files import FileReader
from proviso_service.matters.ingestion import Ingestion
from proviso_service.matters.model import (
    ALL_MATTERS,
    DOCUMENTATION,
    Document,
    DocumentContent,
    DocumentPage,
    DocumentProgress,
    DocumentStatus,
    DocumentText,
    Matter,
    Member,
    UploadHeader,
    UploadResult,
    Visibility,
    unread_error,
)
from proviso_service.matters.originals import read_content, read_page
from proviso_service.matters.pipeline import Pipeline
from proviso_service.matters.progress import DocumentWatch, ProgressBoard, ProgressElsewhere
from proviso_service.matters.resident_indexes import ResidentIndexes
from proviso_service.matters.rotation import Limits
from proviso_service.matters.shared_embedding import SharedEmbedding
from proviso_service.matters.stores import BlobStore, Job, Leftover, MatterStore
from proviso_service.matters.validation import (
    CheckedBytes,
    checked_header,
    clean_filename,
    matter_or_documentation,
    uuid_of,
    uuids_of,
)
from proviso_service.models import Embedder, ReadingClassifier
from proviso_service.notices import ALONE, OWNER_ALONE, Notices
from proviso_service.paging import Page, PageRequest
from proviso_service.reading import DocumentReader, Span
from proviso_service.settings import DocumentSettings

T = TypeVar("T")

_log = structlog.get_logger(__name__)

MAX_NAME_CHARS = 512
MAX_REASON_CHARS = 1_000


class MatterReader(Protocol):
    """Reads what a turn needs to know of matters. The methods raise MatterNotFound and DocumentNotFound."""

    async def get(self, tenant: str, matter_id: str) -> Matter: ...

    async def get_document(self, tenant: str, matter_id: str, document_id: str) -> Document: ...

    async def all_documents(self, tenant: str, matter_id: str) -> Sequence[Document]: ...


class Matters:
    """Keeps matters and documents, and has uploads ingested between `open` and `close`. It has to be closed before the
    stores and the embedder, which its workers use.

    Ids that are no UUIDs raise InvalidRequest; matters and documents of other tenants count as absent. Methods about
    documents accept DOCUMENTATION for a matter's id: every tenant has a documentation, which is empty until something
    is uploaded."""

    def __init__(
        self,
        store: MatterStore,
        indexes: ResidentIndexes,
        blobs: BlobStore,
        embedder: Embedder,
        settings: DocumentSettings,
        reader: DocumentReader,
        classifier: ReadingClassifier | None = None,
        notices: Notices = ALONE,
        owner: str = OWNER_ALONE,
        languages: frozenset[str] = frozenset(),
    ) -> None:
        """`owner` names this process among those that share the stores, which tell each other by `notices` which
        documents wait, and how they come along. `languages` are those that the models read, none where that is not
        known."""
        self._store = store
        self._languages = languages
        self._blobs = blobs
        self._settings = settings
        self._board = ProgressBoard(notices)
        self._elsewhere = ProgressElsewhere(store, self._board, notices)
        self._files = FileReader(reader)
        at_once = settings.ingest_workers
        together = None if notices is ALONE else SharedEmbedding(store, embedder, owner, notices)
        pipeline = Pipeline(store, blobs, indexes, embedder, self._files, at_once, classifier, together)
        under_way = Limits(every=4 * at_once, large=3 * at_once, large_of_tenant=2 * at_once, large_of_matter=at_once)
        self.ingestion = Ingestion(
            store, pipeline, self._board, under_way, owner=owner, notices=notices, together=together
        )
        self._clearing = Clearing(store, indexes, blobs, self.ingestion, self._board, is_alone=notices is ALONE)
        self._open = False
        self._finishing: set[asyncio.Task[object]] = set()

    async def open(self) -> None:
        """Starts ingestion, beginning with documents that an earlier process has left unfinished, and the clearing of
        what deleted documents have left. It waits for neither."""
        await self._clearing.open()
        await self.ingestion.open()
        self._open = True

    async def close(self) -> None:
        """Stops ingestion and clearing where they are; the next start continues them. Uploads and watches end in
        Draining."""
        self._open = False
        self._board.close()
        await self._clearing.close()
        await self.ingestion.close()
        await asyncio.gather(*self._finishing, return_exceptions=True)

    async def create(self, tenant: str, name: str, retry: RetryKey = NEVER_RETRIED, owner: str = "") -> Matter:
        """Makes a matter that belongs to `owner`, or returns the one that the same call has made before. Raises
        InvalidRequest for a name that is blank or too long, and RequestIdReused where the request id has made another
        matter."""
        return await self._store.create_matter(tenant, _checked_text("name", name), retry, owner)

    async def update(self, tenant: str, matter_id: str, name: str | None = None, notes: str | None = None) -> Matter:
        """Changes what is given, and returns the matter. Raises InvalidRequest for a name that is blank or too long,
        and MatterNotFound."""
        if name is not None:
            name = _checked_text("matter.name", name)
        return await self._store.update_matter(tenant, uuid_of("matter_id", matter_id), name, notes)

    async def hold(self, tenant: str, matter_id: str, user: str, reason: str) -> Matter:
        """Puts a legal hold on a matter, in place of an earlier one, and returns the matter. Raises InvalidRequest for
        a reason that is blank or too long, and MatterNotFound."""
        checked = _checked_text("reason", reason, MAX_REASON_CHARS)
        return await self._store.set_hold(tenant, uuid_of("matter_id", matter_id), user, checked)

    async def lift_hold(self, tenant: str, matter_id: str, user: str) -> Matter:
        """Ends the legal hold on a matter, if there is one, and returns the matter. Raises MatterNotFound."""
        return await self._store.set_hold(tenant, uuid_of("matter_id", matter_id), user, "")

    async def get(self, tenant: str, matter_id: str) -> Matter:
        """Returns a matter. Raises MatterNotFound."""
        return await self._store.get_matter(tenant, uuid_of("matter_id", matter_id))

    async def list(
        self, tenant: str, page: PageRequest, name: str = "", seen_by: Visibility = ALL_MATTERS
    ) -> Page[Matter]:
        """Returns a page of the matters that are visible, newest first; only those of exactly this name when one is
        given."""
        return await self._store.list_matters(tenant, page, name, seen_by)

    async def delete(self, tenant: str, matter_id: str) -> str:
        """Deletes a matter with its documents, and returns the id of the deletion. They are gone for everybody from the
        first step on; the rest continues even if the caller goes away, and is done later where it fails. Raises
        MatterNotFound and UnderLegalHold."""
        matter_id = uuid_of("matter_id", matter_id)
        return await self._finish(self._delete_matter(tenant, matter_id))

    async def upload(self, tenant: str, header: UploadHeader, pieces: AsyncIterator[bytes]) -> UploadResult:
        """Stores the bytes and has them ingested. When the matter has a document of the same bytes, that document is
        returned instead; if it has FAILED, it is tried again as a file of the new name and type.

        Raises InvalidRequest (header, size, checksum), UnsupportedDocument, MatterNotFound and Draining."""
        header = checked_header(header)
        media_type = self._files.media_type(header.filename)
        await self._checked(tenant, header.matter_id)
        if not self._open:
            raise Draining
        if header.matter_id == DOCUMENTATION:
            await self._store.begin_documentation(tenant)
        document_id = str(uuid4())
        content = CheckedBytes(pieces, self._settings.max_upload_bytes, header.sha256)
        try:
            await self._store.begin_upload(tenant, header.matter_id, document_id)
            storing = self._blobs.put(tenant, document_id, aiter(content))
            await with_timeout(LONGEST_UPLOAD_S, storing, lambda: Unavailable("The upload took too long"))
        except BaseException:
            await self._finish(self._clearing.upload(tenant, document_id))
            raise
        document = Document(
            document_id=document_id,
            matter_id=header.matter_id,
            tenant=tenant,
            filename=header.filename,
            media_type=media_type,
            size_bytes=content.size,
            sha256=content.sha256,
            status=DocumentStatus.PENDING,
            upload_time=datetime.now(UTC),
        )
        return await self._finish(self._add(document))

    async def get_document(self, tenant: str, matter_id: str, document_id: str) -> Document:
        """Returns a document. Raises MatterNotFound and DocumentNotFound."""
        document_id = uuid_of("document_id", document_id)
        return await self._store.get_document(tenant, await self._checked(tenant, matter_id), document_id)

    async def list_documents(self, tenant: str, matter_id: str, page: PageRequest) -> Page[Document]:
        """Returns a page of documents in the order of upload. Raises MatterNotFound."""
        return await self._store.list_documents(tenant, await self._checked(tenant, matter_id), page)

    async def all_documents(self, tenant: str, matter_id: str) -> Sequence[Document]:
        """Returns all documents in the order of upload. Raises MatterNotFound."""
        return await self._store.all_documents(tenant, await self._checked(tenant, matter_id))

    async def language_warnings(
        self, tenant: str, matter_id: str, document_ids: Collection[str], asked: Sequence[str]
    ) -> tuple[str, ...]:
        """Returns what to know where texts are asked about these documents, all of the matter where none is named, in
        languages that the models do not read."""
        if not self._languages:
            return ()
        found = await self._store.documents_in_others(tenant, matter_id.lower(), self._languages)
        wanted = {one.lower() for one in document_ids}
        documents = [(one.filename, one.language) for one in found if not wanted or one.document_id in wanted]
        return unread_warnings(asked, documents, self._languages)

    def warnings_about(self, document: Document) -> tuple[str, ...]:
        """Returns what to know of a document in a language that the models do not read."""
        return unread_warnings((), [(document.filename, document.language)], self._languages)

    async def openings(self, tenant: str, matter_id: str) -> Mapping[str, str]:
        """Returns the texts with which the READY documents begin, by the documents' ids. Raises MatterNotFound."""
        return await self._store.openings(tenant, await self._checked(tenant, matter_id))

    async def delete_document(self, tenant: str, matter_id: str, document_id: str) -> str:
        """Deletes a document, and returns the id of the deletion. It is gone for everybody from the first step on;
        vectors and bytes are cleared even if the caller goes away, and later where that fails. Raises MatterNotFound,
        DocumentNotFound and UnderLegalHold."""
        document = await self.get_document(tenant, matter_id, document_id)
        return await self._finish(self._delete_document(document))

    async def jobs(self, tenant: str, page: PageRequest, *, failed_only: bool = False) -> Page[Job]:
        """Returns a page of the documents of a tenant that are not READY, in the order of upload."""
        return await self._store.jobs(tenant, page, failed_only=failed_only)

    async def retry_job(self, tenant: str, matter_id: str, document_id: str) -> Document:
        """Has a FAILED document ingested once more, and returns it; another one stays as it is. Raises MatterNotFound
        and DocumentNotFound."""
        document_id = uuid_of("document_id", document_id)
        document = await self._store.retry(tenant, await self._checked(tenant, matter_id), document_id)
        if not document.status.is_final:
            self.ingestion.add(document)
        return document

    async def cancel_job(self, tenant: str, matter_id: str, document_id: str) -> Document:
        """Ends the ingestion of a document, whichever process is at work on it, and returns it: FAILED, unless it was
        READY. Raises MatterNotFound and DocumentNotFound."""
        return await self.ingestion.cancel(await self.get_document(tenant, matter_id, document_id))

    async def watch(
        self, tenant: str, matter_id: str, document_ids: Sequence[str]
    ) -> AsyncGenerator[DocumentProgress, None]:
        """Yields the state of each document (of all when none is named), then each change, until all are READY or
        FAILED. A slow reader gets the latest state and may miss some in between.

        Raises MatterNotFound; DocumentNotFound at once for an unknown id, and at the end when a document was deleted
        meanwhile; Draining when the service stops."""
        ids = uuids_of("document_ids", document_ids)
        documents = await self.all_documents(tenant, matter_id)
        watch = DocumentWatch(self._store, self._board, tenant, matter_id.lower())
        states = watch.watch(ids or [document.document_id for document in documents])
        async with aclosing(states):
            async for progress in states:
                yield progress

    async def document_text(
        self,
        tenant: str,
        matter_id: str,
        *,
        document_id: str = "",
        filename: str = "",
        part: TextPart = WHOLE_TEXT,
    ) -> DocumentText:
        """Returns part of the text of the document with this id, or of the newest document of this file name (in any
        case). Raises InvalidRequest, MatterNotFound, DocumentNotFound, DocumentProcessing and DocumentFailed."""
        if bool(document_id) == bool(filename):
            raise InvalidRequest.of("document_id", "exactly one of document_id and filename must be given")
        check_part(part)
        document = _ready(await self._find(tenant, matter_id, document_id, filename))
        return await read_part(self._store, document, part)

    async def document_content(
        self, tenant: str, matter_id: str, document_id: str, offset: int = 0, length: int = 0
    ) -> DocumentContent:
        """Returns the bytes of a document as they were uploaded, from `offset` on, at most `length` of them, or all if
        that is 0. Raises InvalidRequest, MatterNotFound and DocumentNotFound."""
        document = await self.get_document(tenant, matter_id, document_id)
        return read_content(self._store, self._blobs, document, offset, length)

    async def export(
        self, tenant: str, matter_id: str, members: Iterable[Member], conversations: Conversations
    ) -> AsyncGenerator[bytes, None]:
        """Returns a ZIP archive of a matter and its documents, in pieces, with these members and conversations. Raises
        InvalidRequest and MatterNotFound."""
        matter = await self.get(tenant, matter_id)
        documents = await self._store.all_documents(tenant, matter.matter_id)
        asked = MatterToExport(matter, tuple(members), tuple(documents), conversations)
        return export_pieces(self._store, self._blobs, asked)

    async def document_page(
        self, tenant: str, matter_id: str, document_id: str, number: int, part: Span
    ) -> DocumentPage:
        """Returns a page of a document with the words of a part of its text; an end of 0 stands for that of the page.
        Raises InvalidRequest, MatterNotFound, DocumentNotFound, DocumentUnread, DocumentWithoutPages, PageNotFound."""
        document = _ready(await self.get_document(tenant, matter_id, document_id))
        return await read_page(self._store, document, number, part)

    async def _find(self, tenant: str, matter_id: str, document_id: str, filename: str) -> Document:
        if document_id:
            return await self.get_document(tenant, matter_id, document_id)
        matter_id = await self._checked(tenant, matter_id)
        return await self._store.find_by_filename(tenant, matter_id, clean_filename("filename", filename))

    async def _checked(self, tenant: str, matter_id: str) -> str:
        """Returns the id, in lower case, of a matter that exists, or DOCUMENTATION."""
        checked_id = matter_or_documentation("matter_id", matter_id)
        if checked_id != DOCUMENTATION:
            await self._store.get_matter(tenant, checked_id)
        return checked_id

    async def _add(self, document: Document) -> UploadResult:
        is_new = False
        try:
            stored, is_new = await self._store.add_document(document)
        finally:
            if not is_new:
                await self._clearing.upload(document.tenant, document.document_id)
        if not stored.status.is_final:
            self.ingestion.add(stored)
        return UploadResult(stored, already_existed=not is_new)

    async def _delete_matter(self, tenant: str, matter_id: str) -> str:
        deletion_id = await self._store.delete_matter(tenant, matter_id)
        await self._clearing.matter(tenant, matter_id)
        return deletion_id

    async def _delete_document(self, document: Document) -> str:
        """Deletes the rows first: from then on the document is invisible, whatever happens to the rest."""
        tenant, matter_id, document_id = document.tenant, document.matter_id, document.document_id
        deletion_id = await self._store.delete_document(tenant, matter_id, document_id)
        await self._clearing.document(Leftover(tenant, matter_id, document_id, matter_deleted=False))
        return deletion_id

    async def _finish(self, work: Coroutine[object, object, T]) -> T:
        """Runs work to its end even when the caller is cancelled, because half of it would leave bytes that nobody
        owns."""
        task = asyncio.create_task(work)
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_log_failure)
            raise


def _checked_text(field: str, value: str, max_chars: int = MAX_NAME_CHARS) -> str:
    text = value.strip()
    if not 1 <= len(text) <= max_chars:
        raise InvalidRequest.of(field, f"must have 1 to {max_chars} characters")
    return text


def _ready(document: Document) -> Document:
    if document.status is not DocumentStatus.READY:
        raise unread_error(document)
    return document


def _log_failure(task: asyncio.Task[T]) -> None:
    if not task.cancelled() and (failure := task.exception()):
        _log.error("work went wrong after its caller had left", exc_info=failure)
