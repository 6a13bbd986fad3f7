"""One document from its bytes to READY."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from proviso_service.errors import UnsupportedDocument
from proviso_service.matters.embedding import ChunkEmbedder
from proviso_service.matters.model import Document, DocumentProgress, DocumentStatus, chunk_id
from proviso_service.matters.ports import BlobStore, MatterStore, VectorIndex, VectorRecord
from proviso_service.models import Embedder, Vectors
from proviso_service.reading.model import Chunk, ReadDocument
from proviso_service.reading.reader import DocumentReader

BATCH_CHUNKS = 64
BATCH_VECTORS = 1_000
STEP_TIME_LIMIT_S = 300.0
"""Of one batch of chunks in the model or the index; ordinary batches take a second."""

Report = Callable[[DocumentProgress], None]


class Pipeline:
    """Steps of ingestion. Every step can be done again after a crash: vectors are written under ids that repeat, and
    the document becomes visible in the one transaction that makes it READY."""

    def __init__(
        self,
        store: MatterStore,
        blobs: BlobStore,
        vectors: VectorIndex,
        embedder: Embedder,
        reader: DocumentReader,
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._vectors = vectors
        self._embedder = embedder
        self._reader = reader

    async def ingest(self, document: Document, report: Report) -> None:
        """Reports each state and the chunks embedded; the last report is READY. `report` may raise to stop the work.

        Raises UnsupportedDocument with the reason of a failure that a person can mend, and DocumentNotFound when the
        document is deleted meanwhile."""
        document = await self._store.set_status(document, DocumentStatus.PROCESSING)
        report(DocumentProgress(document))
        read = await self._read(document)
        parsed, chunks = read.parsed, read.chunks
        vectors = await self._embed(document, chunks, report)
        await self._index(document, vectors)
        ready = await self._store.commit_ready(document, parsed, chunks, self._embedder.model_id, vectors)
        report(DocumentProgress(ready, len(chunks), len(chunks)))

    async def _read(self, document: Document) -> ReadDocument:
        try:
            content = await self._blobs.get(document.tenant, document.document_id)
        except KeyError as error:
            raise UnsupportedDocument(
                "The file is no longer stored. Delete the document and upload it again."
            ) from error
        return await self._reader.read(document.media_type, content)

    async def _embed(self, document: Document, chunks: Sequence[Chunk], report: Report) -> Vectors:
        """Shape (chunks, dimensions)."""
        vectors = np.empty((len(chunks), self._embedder.dimensions), dtype=np.float32)
        report(DocumentProgress(document, 0, len(chunks)))
        embedder = ChunkEmbedder(document.tenant, self._store, self._embedder)
        for start in range(0, len(chunks), BATCH_CHUNKS):
            batch = chunks[start : start + BATCH_CHUNKS]
            async with asyncio.timeout(STEP_TIME_LIMIT_S):
                vectors[start : start + len(batch)] = await embedder.embed(batch)
            report(DocumentProgress(document, start + len(batch), len(chunks)))
        return vectors

    async def _index(self, document: Document, vectors: Vectors) -> None:
        for start in range(0, len(vectors), BATCH_VECTORS):
            records = [
                VectorRecord(
                    chunk_id(document.document_id, start + row), document.matter_id, document.document_id, vector
                )
                for row, vector in enumerate(vectors[start : start + BATCH_VECTORS])
            ]
            async with asyncio.timeout(STEP_TIME_LIMIT_S):
                await self._vectors.upsert(document.tenant, records)
