"""Takes one document from its bytes to READY."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from proviso_service.concurrency import with_timeout
from proviso_service.errors import KeyDestroyed, UnsupportedDocument
from proviso_service.matters.files import FileReader
from proviso_service.matters.model import Document, DocumentProgress, DocumentStatus
from proviso_service.matters.resident_indexes import ResidentIndexes
from proviso_service.matters.stores import BlobDamaged, BlobStore, MatterStore
from proviso_service.models import Embedder, Vectors
from proviso_service.reading import Chunk, ReadDocument, readable


class ChunkEmbedder:
    """Embeds the chunks of one document. A text that the tenant has had embedded before, or that stands twice in the
    document, is not embedded again. The model gets the text without ligatures and invisible characters, as people type
    queries."""

    def __init__(self, tenant: str, store: MatterStore, embedder: Embedder) -> None:
        self._tenant = tenant
        self._store = store
        self._embedder = embedder
        self._seen: dict[str, Vectors] = {}

    async def embed(self, chunks: Sequence[Chunk]) -> Vectors:
        """Returns vectors of shape (len(chunks), dimensions), in order; `chunks` is one batch and not empty."""
        hashes = [chunk.content_sha256 for chunk in chunks]
        await self._see({sha256: chunk.text for sha256, chunk in zip(hashes, chunks, strict=True)})
        return np.stack([self._seen[sha256] for sha256 in hashes])

    async def _see(self, texts: Mapping[str, str]) -> None:
        unseen = [sha256 for sha256 in texts if sha256 not in self._seen]
        self._seen |= await self._store.known_embeddings(self._tenant, self._embedder.model_id, unseen)
        new = [sha256 for sha256 in unseen if sha256 not in self._seen]
        if new:
            vectors = await self._embedder.embed_documents([readable(texts[sha256]) for sha256 in new])
            self._seen |= zip(new, vectors, strict=True)


BATCH_CHUNKS = 64
STEP_TIME_LIMIT_S = 300.0
"""The time limit of one batch of chunks in the model; ordinary batches take a second."""

Report = Callable[[DocumentProgress], None]


class Pipeline:
    """The steps of ingestion. Every step can be repeated after a crash: all that a document is searched by is written
    in the one transaction that makes it READY."""

    def __init__(
        self,
        store: MatterStore,
        blobs: BlobStore,
        indexes: ResidentIndexes,
        embedder: Embedder,
        files: FileReader,
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._indexes = indexes
        self._embedder = embedder
        self._files = files

    async def ingest(self, document: Document, report: Report) -> None:
        """Ingests a document and reports each state and the chunks embedded; the last report is READY. `report` may
        raise to stop the work.

        Raises UnsupportedDocument with the reason of a failure that a person can mend, and DocumentNotFound when the
        document is deleted meanwhile."""
        document = await self._store.set_status(document, DocumentStatus.PROCESSING)
        report(DocumentProgress(document))
        read = await self._read(document)
        parsed, chunks = read.parsed, read.chunks
        vectors = await self._embed(document, chunks, report)
        ready = await self._store.commit_ready(document, parsed, chunks, self._embedder.model_id, vectors)
        self._indexes.follow(document.tenant, document.matter_id)
        report(DocumentProgress(ready, len(chunks), len(chunks)))

    async def _read(self, document: Document) -> ReadDocument:
        try:
            content = await self._blobs.get(document.tenant, document.document_id)
        except KeyError as error:
            raise UnsupportedDocument(
                "The file is no longer stored. Delete the document and upload it again."
            ) from error
        except BlobDamaged as error:
            raise UnsupportedDocument("The stored file is damaged. Delete the document and upload it again.") from error
        except KeyDestroyed as error:
            raise UnsupportedDocument(error.message) from error
        return await self._files.read(document.media_type, content)

    async def _embed(self, document: Document, chunks: Sequence[Chunk], report: Report) -> Vectors:
        """Returns the vectors of the chunks, shape (len(chunks), dimensions)."""
        vectors = np.empty((len(chunks), self._embedder.dimensions), dtype=np.float32)
        report(DocumentProgress(document, 0, len(chunks)))
        embedder = ChunkEmbedder(document.tenant, self._store, self._embedder)
        for start in range(0, len(chunks), BATCH_CHUNKS):
            batch = chunks[start : start + BATCH_CHUNKS]
            vectors[start : start + len(batch)] = await with_timeout(STEP_TIME_LIMIT_S, embedder.embed(batch))
            report(DocumentProgress(document, start + len(batch), len(chunks)))
        return vectors
