"""Takes one document from its bytes to READY."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from proviso_service.concurrency import with_timeout
from proviso_service.errors import KeyDestroyed, UnsupportedDocument
from proviso_service.matters.files import FileReader
from proviso_service.matters.model import Document, DocumentProgress
from proviso_service.matters.resident_indexes import ResidentIndexes
from proviso_service.matters.rotation import Gate, Limits
from proviso_service.matters.shared_embedding import (
    FEWEST_TEXTS,
    STEP_TIME_LIMIT_S,
    TEXTS_AT_ONCE,
    SharedEmbedding,
)
from proviso_service.matters.stores import BlobDamaged, BlobStore, MatterStore
from proviso_service.models import Embedder, ModelPassage, PassageWords, ReadingClassifier, Vectors
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

    async def recall(self, chunks: Sequence[Chunk]) -> None:
        """Finds out which of the chunks the tenant has had embedded before."""
        hashes = {chunk.content_sha256 for chunk in chunks}
        self._seen |= await self._store.known_embeddings(self._tenant, self._embedder.model_id, list(hashes))

    async def embed(self, chunks: Sequence[Chunk]) -> Vectors:
        """Returns vectors of shape (len(chunks), dimensions), in order; `chunks` is one batch and not empty."""
        hashes = [chunk.content_sha256 for chunk in chunks]
        texts = {sha256: chunk.text for sha256, chunk in zip(hashes, chunks, strict=True) if sha256 not in self._seen}
        if texts:
            vectors = await self._embedder.embed_documents([readable(text) for text in texts.values()])
            self._seen |= zip(texts, vectors, strict=True)
        return np.stack([self._seen[sha256] for sha256 in hashes])

    async def embed_all(
        self,
        chunks: Sequence[Chunk],
        give_way: Callable[[], Awaitable[None]],
        report: Callable[[int], None] | None = None,
    ) -> Vectors:
        """As `embed`, for any number of chunks, of which those of like length are embedded together, so that the model
        has little padding to read. `give_way` is awaited between batches, and the number of those done is reported."""
        vectors = np.empty((len(chunks), self._embedder.dimensions), dtype=np.float32)
        by_length = sorted(range(len(chunks)), key=lambda ordinal: len(chunks[ordinal].text))
        for start in range(0, len(chunks), TEXTS_AT_ONCE):
            if start:
                await give_way()
            batch = by_length[start : start + TEXTS_AT_ONCE]
            vectors[batch] = await with_timeout(STEP_TIME_LIMIT_S, self.embed([chunks[ordinal] for ordinal in batch]))
            if report:
                report(start + len(batch))
        return vectors

    async def embed_together(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        shared: SharedEmbedding,
        give_way: Callable[[], Awaitable[None]],
        report: Callable[[int], None],
    ) -> None:
        """Has other processes help with the chunks of a large document, so that none of them is left for `embed`."""
        by_hash = {c.content_sha256: readable(c.text) for c in chunks if c.content_sha256 not in self._seen}
        if len(by_hash) >= FEWEST_TEXTS:
            vectors = await shared.embed(document, list(by_hash.values()), give_way, report)
            self._seen |= zip(by_hash, vectors, strict=True)


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
        at_once: int,
        classifier: ReadingClassifier | None = None,
        shared: SharedEmbedding | None = None,
    ) -> None:
        """`at_once` documents are embedded at once, and as many large ones read. One more place is for reading small
        ones. Very large ones are embedded with the help of other processes, where there are some."""
        self._shared = shared
        self._reading = Gate(Limits(at_once + 1, at_once, at_once, at_once))
        self._embedding = Gate(Limits(at_once, at_once, at_once, at_once))
        self._store = store
        self._blobs = blobs
        self._indexes = indexes
        self._embedder = embedder
        self._files = files
        self._classifier = classifier

    async def ingest(self, document: Document, report: Report) -> None:
        """Ingests a document, which is PROCESSING, and reports each state and the chunks embedded; the last report is
        READY. `report` may raise to stop the work.

        Raises UnsupportedDocument with the reason of a failure that a person can mend, DocumentNotFound when the
        document is deleted meanwhile, and ClaimLost when it has come to its end otherwise."""
        report(DocumentProgress(document))
        async with self._reading.admit(document):
            read = await self._read(document)
        parsed, chunks = read.parsed, read.chunks
        vectors = await self._embed(document, chunks, report)
        words_id, words = await self._words(chunks)
        model_id = self._embedder.model_id
        ready = await self._store.commit_ready(document, parsed, chunks, model_id, vectors, words_id, words)
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

    async def _words(self, chunks: Sequence[Chunk]) -> tuple[str, PassageWords | None]:
        """Has a classifier read the passages now, so that the first statement on them need not wait for it."""
        if self._classifier is None:
            return "", None
        passages = [ModelPassage(chunk.text, chunk.section_path) for chunk in chunks]
        return self._classifier.words_id, await asyncio.to_thread(self._classifier.read, passages)

    async def _embed(self, document: Document, chunks: Sequence[Chunk], report: Report) -> Vectors:
        """Returns the vectors of the chunks, shape (len(chunks), dimensions)."""

        async def give_way() -> None:
            await self._embedding.give_way(document)

        def tell(done: int) -> None:
            report(DocumentProgress(document, min(done, len(chunks)), len(chunks)))

        tell(0)
        embedder = ChunkEmbedder(document.tenant, self._store, self._embedder)
        await embedder.recall(chunks)
        async with self._embedding.admit(document):
            if self._shared:
                in_order = sorted(chunks, key=lambda chunk: len(chunk.text))
                await embedder.embed_together(document, in_order, self._shared, give_way, tell)
            return await embedder.embed_all(chunks, give_way, tell)
