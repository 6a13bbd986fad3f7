"""Embeds again, in place, what another model has embedded."""

from proviso_service.matters.model import Document, DocumentStatus
from proviso_service.matters.originals import every_document
from proviso_service.matters.pipeline import ChunkEmbedder
from proviso_service.matters.rebuilding import IndexRebuild
from proviso_service.matters.resident_indexes import ResidentIndexes
from proviso_service.matters.stores import MatterStore
from proviso_service.models import Embedder


class Reembedding:
    """The documents of all tenants get vectors of the model in use, one document at a time. What is done stays done:
    documents that have them are passed over. The vectors of the earlier model stay beside them, so that a process that
    still works with it goes on finding by them."""

    def __init__(self, store: MatterStore, embedder: Embedder, indexes: ResidentIndexes) -> None:
        self._store = store
        self._embedder = embedder
        self._indexes = indexes

    async def run(self, rebuild: IndexRebuild, *, forgets_others: bool) -> None:
        """Embeds the documents that are READY. With `forgets_others`, the vectors of other models are deleted once all
        is done."""
        ready = [d async for d in every_document(self._store) if d.status is DocumentStatus.READY]
        rebuild.begin(sum(document.chunk_count for document in ready))
        for document in ready:
            await self._embed(document)
            rebuild.advance(document.chunk_count)
        if forgets_others:
            for document in ready:
                await self._store.forget_other_vectors(document.tenant, document.document_id, self._embedder.model_id)

    async def _embed(self, document: Document) -> None:
        model_id = self._embedder.model_id
        chunks = await self._store.chunks_not_embedded(document.tenant, document.document_id, model_id)
        if chunks:
            embedder = ChunkEmbedder(document.tenant, self._store, self._embedder)
            await embedder.recall(chunks)
            vectors = await embedder.embed_all(chunks, _go_on)
            await self._store.keep_vectors(document, model_id, vectors)
            self._indexes.follow(document.tenant, document.matter_id)


async def _go_on() -> None:
    """Gives way to nothing: the model takes queries before the texts of documents."""
