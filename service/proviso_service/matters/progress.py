"""What is known about documents under way, and the watching of documents until they are READY, FAILED or deleted."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from proviso_service.concurrency import with_timeout
from proviso_service.errors import DocumentNotFound, Draining, MatterNotFound
from proviso_service.matters.model import Document, DocumentProgress
from proviso_service.matters.stores import MatterStore
from proviso_service.notices import ALONE, About, Notices, What


class DocumentChanges:
    """The changes of some documents since a watcher last asked. Only the latest change of each document is held, so
    that a slow watcher costs no memory and still sees every final state."""

    def __init__(self, document_ids: Collection[str]) -> None:
        self._document_ids = frozenset(document_ids)
        self._latest: dict[str, DocumentProgress | None] = {}
        self._wake = asyncio.Event()
        self._closed = False

    def offer(self, document_id: str, progress: DocumentProgress | None) -> None:
        """Takes the latest progress of a document, None for a deletion; changes of other documents are ignored."""
        if document_id in self._document_ids:
            self._latest[document_id] = progress
            self._wake.set()

    def waits_for(self, document_id: str) -> bool:
        """Whether the changes of a document are asked for."""
        return document_id in self._document_ids

    def end_silence(self) -> None:
        """Ends the waiting, because something may have changed that was not told here."""
        self._wake.set()

    def close(self) -> None:
        """Ends waiting with Draining."""
        self._closed = True
        self._wake.set()

    async def next(self, timeout_s: float) -> Mapping[str, DocumentProgress | None]:
        """Returns the changes by document id, None for a document that was deleted. Empty when nothing changes within
        `timeout_s`. Raises Draining when the service stops."""
        try:
            await with_timeout(timeout_s, self._wake.wait())
        except TimeoutError:
            return {}
        if self._closed:
            raise Draining
        self._wake.clear()
        latest, self._latest = self._latest, {}
        return latest


class ProgressBoard:
    """The board to which ingestion reports its progress. It holds the counts of documents that are being ingested here,
    and of no others. `notices` tell other processes of it."""

    def __init__(self, notices: Notices = ALONE) -> None:
        self._notices = notices
        self._under_way: dict[str, DocumentProgress] = {}
        self._watchers: set[DocumentChanges] = set()
        self._closed = False

    def publish(self, progress: DocumentProgress) -> None:
        """Takes the progress of a document and passes it to the watchers."""
        document = progress.document
        if document.status.is_final:
            self._under_way.pop(document.document_id, None)
        else:
            self._under_way[document.document_id] = progress
        self.show(document.document_id, progress)
        self._notices.tell(
            About.DOCUMENT,
            tenant=document.tenant,
            matter_id=document.matter_id,
            document_id=document.document_id,
            done=progress.chunks_done,
            total=progress.chunks_total,
        )

    def forget(self, document_id: str) -> None:
        """Drops the counts of a document that is no longer being ingested."""
        self._under_way.pop(document_id, None)

    def deleted(self, document_id: str) -> None:
        """Passes the deletion of a document to the watchers."""
        self.forget(document_id)
        self.show(document_id, None)
        self._notices.tell(About.DOCUMENT, document_id=document_id)

    def progress_of(self, document: Document) -> DocumentProgress:
        """Returns the document's row with the counts that the board knows."""
        if document.status.is_final:
            return DocumentProgress(document, document.chunk_count, document.chunk_count)
        known = self._under_way.get(document.document_id)
        return (
            DocumentProgress(document, known.chunks_done, known.chunks_total) if known else DocumentProgress(document)
        )

    @contextmanager
    def changes(self, document_ids: Collection[str]) -> Iterator[DocumentChanges]:
        """Opens a subscription to the changes from now on."""
        changes = DocumentChanges(document_ids)
        if self._closed:
            changes.close()
        self._watchers.add(changes)
        try:
            yield changes
        finally:
            self._watchers.discard(changes)

    def close(self) -> None:
        """Ends all watching with Draining."""
        self._closed = True
        for watcher in self._watchers:
            watcher.close()

    def is_watched(self, document_id: str) -> bool:
        """Whether a watcher waits for changes of a document."""
        return any(watcher.waits_for(document_id) for watcher in self._watchers)

    def show(self, document_id: str, progress: DocumentProgress | None) -> None:
        """Passes progress to the watchers, None for a deletion."""
        for watcher in self._watchers:
            watcher.offer(document_id, progress)

    def end_silence(self) -> None:
        """Has all watchers look at the rows."""
        for watcher in self._watchers:
            watcher.end_silence()


class ProgressElsewhere:
    """Shows the watchers of this process how documents come along that other processes ingest."""

    def __init__(self, store: MatterStore, board: ProgressBoard, notices: Notices) -> None:
        self._store = store
        self._board = board
        notices.hear(About.DOCUMENT, self._heard, self._missed)

    async def _heard(self, what: What) -> None:
        document_id = what["document_id"]
        if self._board.is_watched(document_id):
            self._board.show(document_id, await self._progress(**what) if "tenant" in what else None)

    async def _progress(
        self, document_id: str, tenant: str, matter_id: str, done: int, total: int
    ) -> DocumentProgress | None:
        try:
            return DocumentProgress(await self._store.get_document(tenant, matter_id, document_id), done, total)
        except (DocumentNotFound, MatterNotFound):
            return None

    async def _missed(self) -> None:
        self._board.end_silence()


REREAD_S = 5.0
"""The rows are read again after so many seconds of silence, because what a failed worker did is not reported, and what
another process did may not be."""


class DocumentWatch:
    """Watches some documents of a matter."""

    def __init__(
        self, store: MatterStore, board: ProgressBoard, tenant: str, matter_id: str, reread_s: float = REREAD_S
    ) -> None:
        self._store = store
        self._board = board
        self._tenant = tenant
        self._matter_id = matter_id
        self._reread_s = reread_s

    async def watch(self, document_ids: Sequence[str]) -> AsyncGenerator[DocumentProgress, None]:
        """Yields the state of each document, then each change, and ends when all states are final. Raises
        DocumentNotFound at once for an unknown id, and at the end when a document was deleted meanwhile; Draining when
        the service stops."""
        # The subscription comes before the rows are read, so that no change falls between.
        with self._board.changes(document_ids) as changes:
            waiting: dict[str, DocumentProgress] = {}
            for progress in await self._states(document_ids):
                yield progress
                if not progress.document.status.is_final:
                    waiting[progress.document.document_id] = progress
            deleted = ""
            while waiting:
                for document_id, changed in (await self._changed(changes, waiting)).items():
                    if document_id not in waiting:
                        continue
                    if changed is not None:
                        yield changed
                    if changed is None or changed.document.status.is_final:
                        del waiting[document_id]
                        deleted = deleted or (document_id if changed is None else "")
                    else:
                        waiting[document_id] = changed
            if deleted:
                raise DocumentNotFound(deleted)

    async def _states(self, document_ids: Sequence[str]) -> Sequence[DocumentProgress]:
        documents = await self._documents()
        for document_id in document_ids:
            if document_id not in documents:
                raise DocumentNotFound(document_id)
        return [self._board.progress_of(documents[document_id]) for document_id in document_ids]

    async def _changed(
        self, changes: DocumentChanges, waiting: Mapping[str, DocumentProgress]
    ) -> Mapping[str, DocumentProgress | None]:
        if announced := await changes.next(self._reread_s):
            return announced
        documents = await self._documents()
        states = {
            document_id: self._board.progress_of(documents[document_id]) if document_id in documents else None
            for document_id in waiting
        }
        return {document_id: state for document_id, state in states.items() if state != waiting[document_id]}

    async def _documents(self) -> Mapping[str, Document]:
        documents = await self._store.all_documents(self._tenant, self._matter_id)
        return {document.document_id: document for document in documents}
