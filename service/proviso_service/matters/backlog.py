"""Documents that wait for ingestion. The rows are the queue; this holds the next of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from proviso_service.matters.model import Document
from proviso_service.matters.ports import MatterStore


class Backlog:
    """At most `capacity` documents in memory. What does not fit stays in its row and is read again when there is
    room."""

    def __init__(self, store: MatterStore, capacity: int) -> None:
        self._store = store
        self._waiting: asyncio.Queue[Document] = asyncio.Queue(capacity)
        self._held: set[str] = set()
        self._more_in_store = False
        self._reading = asyncio.Lock()

    async def load(self) -> None:
        """Takes up the rows that are neither READY nor FAILED."""
        self._more_in_store = False
        for document in await self._store.unfinished_documents():
            self.add(document)

    def load_again(self) -> None:
        """Has the rows read again before the next document, because one may have been left unfinished."""
        self._more_in_store = True

    def add(self, document: Document) -> None:
        """Not lost when the document is being worked on: its row is read again after that."""
        if document.document_id in self._held or self._waiting.full():
            self._more_in_store = True
            return
        self._held.add(document.document_id)
        self._waiting.put_nowait(document)

    @asynccontextmanager
    async def next(self) -> AsyncIterator[Document]:
        """Waits for a document, which is nobody else's until the end of the block. Its row may have changed since."""
        await self._refill()
        document = await self._waiting.get()
        try:
            yield document
        finally:
            self._held.discard(document.document_id)

    async def _refill(self) -> None:
        async with self._reading:
            if self._more_in_store and self._waiting.empty():
                await self.load()
