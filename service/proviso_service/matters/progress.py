"""What is known about documents under way, and who waits to hear of it."""

import asyncio
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from proviso_service.errors import Draining
from proviso_service.matters.model import Document, DocumentProgress


class Changes:
    """The changes of some documents since they were last asked for. Only the latest of each document is held, so a slow
    watcher costs no memory and misses no final state."""

    def __init__(self, document_ids: Collection[str]) -> None:
        self._document_ids = frozenset(document_ids)
        self._latest: dict[str, DocumentProgress | None] = {}
        self._wake = asyncio.Event()
        self._closed = False

    def offer(self, document_id: str, progress: DocumentProgress | None) -> None:
        if document_id in self._document_ids:
            self._latest[document_id] = progress
            self._wake.set()

    def close(self) -> None:
        self._closed = True
        self._wake.set()

    async def next(self, timeout_s: float) -> Mapping[str, DocumentProgress | None]:
        """By document id; None for one that was deleted. Empty when nothing changes within `timeout_s`. Raises Draining
        when the service stops."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._wake.wait()
        except TimeoutError:
            return {}
        if self._closed:
            raise Draining
        self._wake.clear()
        latest, self._latest = self._latest, {}
        return latest


class ProgressBoard:
    """Where ingestion tells how far it is. Holds the counts of the documents being ingested, and nothing of others."""

    def __init__(self) -> None:
        self._under_way: dict[str, DocumentProgress] = {}
        self._watchers: set[Changes] = set()
        self._closed = False

    def publish(self, progress: DocumentProgress) -> None:
        document = progress.document
        if document.status.is_final:
            self._under_way.pop(document.document_id, None)
        else:
            self._under_way[document.document_id] = progress
        self._offer(document.document_id, progress)

    def forget(self, document_id: str) -> None:
        """Drops the counts of a document that is no longer being ingested."""
        self._under_way.pop(document_id, None)

    def deleted(self, document_id: str) -> None:
        self.forget(document_id)
        self._offer(document_id, None)

    def progress_of(self, document: Document) -> DocumentProgress:
        """The document's row with the counts known here."""
        if document.status.is_final:
            return DocumentProgress(document, document.chunk_count, document.chunk_count)
        known = self._under_way.get(document.document_id)
        return (
            DocumentProgress(document, known.chunks_done, known.chunks_total) if known else DocumentProgress(document)
        )

    @contextmanager
    def changes(self, document_ids: Collection[str]) -> Iterator[Changes]:
        """The changes from now on."""
        changes = Changes(document_ids)
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

    def _offer(self, document_id: str, progress: DocumentProgress | None) -> None:
        for watcher in self._watchers:
            watcher.offer(document_id, progress)
