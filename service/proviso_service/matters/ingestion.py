"""The workers that take uploaded documents to READY or FAILED, and the queue that they work on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog

from proviso_service.errors import (
    DocumentNotFound,
    FailureCause,
    ModelApiError,
    ModelApiUnavailable,
    ProvisoError,
    StorageFailed,
    TooBusy,
    Unavailable,
    UnsupportedDocument,
)
from proviso_service.matters.model import Document, DocumentProgress
from proviso_service.matters.pipeline import Pipeline
from proviso_service.matters.progress import ProgressBoard
from proviso_service.matters.rotation import Limits, Rotation
from proviso_service.matters.shared_embedding import SharedEmbedding
from proviso_service.matters.stores import ClaimLost, MatterStore, WorkQueue
from proviso_service.notices import ALONE, OWNER_ALONE, About, Notices, What
from proviso_service.retrying import Backoff, RetryPolicy

AGEING_BYTES_PER_S = 100_000
"""Small documents of a matter come first, but a document is passed by smaller ones only while they are uploaded within
so many seconds for each of these bytes: one of 6 MB by those of the next minute."""


class Backlog:
    """The queue of documents that wait for ingestion. The rows of documents are the whole queue; at most `capacity` of
    those that wait are in memory. What does not fit is read from its row again when there is room."""

    def __init__(self, store: WorkQueue, limits: Limits, capacity: int, owner: str) -> None:
        self._store = store
        self._owner = owner
        self._rotation = Rotation(limits)
        self._capacity = capacity
        self._incomplete: set[str] = set()  # tenants who may have documents in rows that are not here
        self._again: set[str] = set()
        self._changed = asyncio.Event()
        self._reading = asyncio.Lock()

    def __len__(self) -> int:
        """How many documents wait here."""
        return len(self._rotation)

    async def load(self) -> None:
        """Adds documents that are neither READY nor FAILED, and that no other process is at work on, as many as there
        is room for, of all matters alike."""
        incomplete, self._incomplete = self._incomplete, set()
        try:
            unfinished = await self._store.unfinished_documents(self._capacity, self._owner)
        except BaseException:
            self._incomplete |= incomplete
            raise
        if len(unfinished) == self._capacity:
            self._incomplete |= {document.tenant for document in unfinished}
        for document in unfinished:
            if document not in self._rotation:
                self.add(document)

    def add(self, document: Document) -> None:
        """Adds a document. It is not lost even if the document is being worked on: its row is read again after that."""
        if document in self._rotation:
            self._again.add(document.document_id)
            return
        self._rotation.add(document, document.upload_time.timestamp() + document.size_bytes / AGEING_BYTES_PER_S)
        if len(self._rotation) > self._capacity:
            last = self._rotation.last()
            self._rotation.discard(last)
            self._incomplete.add(last.tenant)
        self._changed.set()

    @asynccontextmanager
    async def next(self) -> AsyncIterator[Document]:
        """Waits for a document, which nobody else gets until the end of the block. Its row may have changed since it
        was added. Where the block raises an exception, the row is read again."""
        document = await self._take()
        try:
            yield document
        except Exception:
            self._again.add(document.document_id)
            raise
        finally:
            self._rotation.discard(document)
            if document.document_id in self._again:
                self._again.discard(document.document_id)
                self._incomplete.add(document.tenant)
            self._changed.set()

    async def _take(self) -> Document:
        while True:
            await self._refill()
            if document := self._rotation.take():
                return document
            self._changed.clear()
            await self._changed.wait()

    async def _refill(self) -> None:
        """Reads the rows again where a tenant has nothing here any more that waits, and may have something there."""
        async with self._reading:
            if not all(map(self._rotation.waiting_of, self._incomplete)):
                await self.load()


BACKLOG_CAPACITY = 1_000
ATTEMPTS = 4
STORAGE_PAUSE_S = 30.0
"""How long a worker waits while the storage fails before it reads a document again."""

_LONGEST_RETRY_S = 60.0
LEASE_S = 30.0
"""A process that has not renewed its claims for so long is gone, and others take up its documents."""

_RENEWALS_PER_LEASE = 3

MAX_LOSSES = 5
"""How many processes may end while they are at work on the same document until it has FAILED. Each may have been at
work on others, too."""

ENDS_PROCESSES = (
    "The service has ended several times while it processed this document. Upload it again to retry, or split it."
)
CANCELLED = "An operator has ended the processing of this document. Upload it again to retry."
FAULT = "The document could not be processed because of a fault in the service. Upload it again to retry."

_log = structlog.get_logger(__name__)


class Ingestion:
    """As many workers over the queue as documents may be under way, which may be none. Stopping leaves unfinished rows
    as they are, and the next start ingests them anew, or another process that shares the state."""

    def __init__(
        self,
        store: MatterStore,
        pipeline: Pipeline,
        board: ProgressBoard,
        limits: Limits,
        retry_s: float = 1.0,
        owner: str = OWNER_ALONE,
        notices: Notices = ALONE,
        together: SharedEmbedding | None = None,
    ) -> None:
        """`retry_s` is the longest first wait after a transient failure; it doubles. `owner` names this process among
        those that share the state, which tell each other by `notices` of documents that wait, and embed large ones
        `together`."""
        self._store = store
        self._pipeline = pipeline
        self._board = board
        self._worker_count = limits.every
        self._retry_s = retry_s
        self._retries = RetryPolicy(ATTEMPTS - 1, Backoff(retry_s, _LONGEST_RETRY_S))
        self._backlog = Backlog(store, limits, BACKLOG_CAPACITY, owner)
        self._owner = owner
        self._notices = notices
        self._together = together
        self._workers: list[asyncio.Task[None]] = []
        self._running: dict[str, asyncio.Task[None]] = {}

    @property
    def waiting(self) -> int:
        """How many documents wait in the queue of this process."""
        return len(self._backlog)

    @property
    def under_way(self) -> int:
        """How many documents this process is at work on."""
        return len(self._running)

    async def open(self) -> None:
        """Starts the workers, beginning with the documents that earlier ones have left unfinished."""
        await self._store.release_claims(self._owner, lost=True)
        if self._worker_count:
            await self._backlog.load()
            self._workers = [asyncio.create_task(self._work()) for _ in range(self._worker_count)]
            if self._notices is not ALONE:
                self._notices.hear(About.WORK, self._heard, self._backlog.load)
                self._workers.append(asyncio.create_task(self._keep_claims(), name="claims of documents"))
            if self._together:
                helping = self._together.help(lambda: not self._running)
                self._workers.append(asyncio.create_task(helping, name="batches of other processes"))

    async def close(self) -> None:
        """Stops the workers where they are, and leaves their documents to other processes."""
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        self._workers = []
        with suppress(ProvisoError):  # without storage the claims expire
            await self._store.release_claims(self._owner)

    def add(self, document: Document) -> None:
        """Adds a PENDING document whose bytes are stored."""
        if self._worker_count:
            self._backlog.add(document)
        place = {"tenant": document.tenant, "matter_id": document.matter_id, "document_id": document.document_id}
        self._notices.tell(About.WORK, **place)

    async def cancel(self, document: Document) -> Document:
        """Ends the ingestion of a document, here or in another process: it is FAILED. Returns the document, which stays
        as it is where it is READY or FAILED already. Raises DocumentNotFound."""
        document = await self._store.fail(document, CANCELLED, FailureCause.CANCELLED, cancelled=True)
        self._end(document.document_id)
        self._board.publish(DocumentProgress(document))
        return document

    async def abandon(self, document_id: str) -> None:
        """Ends the work on a document whose row is deleted. Nothing more is written for it once this returns."""
        if running := self._running.get(document_id):
            running.cancel()
            await asyncio.wait([running])

    async def _work(self) -> None:
        while True:
            try:
                async with self._backlog.next() as document:
                    await self._run(document)
            except StorageFailed:  # the storage's keeper tells of it
                await asyncio.sleep(STORAGE_PAUSE_S)
            except Exception:
                _log.exception("ingestion of a document was left unfinished")
                await asyncio.sleep(self._retry_s)

    async def _heard(self, what: What) -> None:
        """Adds a document that another process has taken in. Whoever comes first works on it."""
        with suppress(DocumentNotFound):
            document = await self._store.get_document(**what)
            if not document.status.is_final:
                self._backlog.add(document)

    async def _keep_claims(self) -> None:
        """Renews the claims, ends the work on documents that have come to their end elsewhere, and looks for documents
        whose process is gone."""
        while True:
            await asyncio.sleep(LEASE_S / _RENEWALS_PER_LEASE)
            try:
                if claimed := list(self._running):
                    for document_id in await self._store.renew_claims(self._owner, claimed, LEASE_S):
                        self._end(document_id)
                await self._backlog.load()
            except Exception as failure:
                _log.warning("claims_not_renewed", failure=repr(failure))

    def _end(self, document_id: str) -> None:
        if running := self._running.get(document_id):
            running.cancel()

    async def _run(self, document: Document) -> None:
        running = self._running[document.document_id] = asyncio.create_task(self._ingest(document))
        try:
            await asyncio.wait([running])
            if not running.cancelled():
                running.result()
        finally:
            running.cancel()
            await asyncio.wait([running])
            del self._running[document.document_id]
            self._board.forget(document.document_id)

    async def _ingest(self, document: Document) -> None:
        try:
            claim = await self._store.claim(document, self._owner, LEASE_S)
            if claim is None:
                return  # another process has it, or it has come to its end
            if claim.losses >= MAX_LOSSES:
                await self._fail(claim.document, ENDS_PROCESSES, FailureCause.FAILED)
            else:
                await self._ingest_patiently(claim.document)
        except (DocumentNotFound, ClaimLost):
            pass  # A deletion has left a record of what is to be cleared.
        except StorageFailed:
            raise  # the document stays as it is until there is storage for it
        except UnsupportedDocument as failure:
            await self._fail(document, failure.message, failure.cause)
        except ModelApiError as failure:
            await self._fail(document, f"{failure.message}. Upload the document again to retry.", failure.cause)
        except Exception:
            _log.exception("a document could not be ingested", document_id=document.document_id)
            await self._fail(document, FAULT, FailureCause.FAILED)

    async def _ingest_patiently(self, document: Document) -> None:
        """Ingests the document, again where something that it needs is busy or away for the moment."""

        def tell(failure: BaseException) -> None:
            _log.warning("ingestion waits", document_id=document.document_id, failure=type(failure).__name__)

        async for attempt in self._retries.attempts(_is_transient, before_retry=tell):
            with attempt:
                await self._pipeline.ingest(document, self._board.publish)

    async def _fail(self, document: Document, reason: str, cause: FailureCause) -> None:
        with suppress(DocumentNotFound):
            failed = await self._store.fail(document, reason, cause)
            self._board.publish(DocumentProgress(failed))


def _is_transient(error: BaseException) -> bool:
    """Whether something that ingestion needs was busy or away for the moment."""
    is_transient = isinstance(error, (ModelApiUnavailable, TooBusy, Unavailable, TimeoutError))
    return is_transient and not isinstance(error, StorageFailed)
