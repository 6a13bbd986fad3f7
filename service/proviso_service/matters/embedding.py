"""Vectors of a document's chunks, computed once for each text."""

from collections.abc import Mapping, Sequence

import numpy as np

from proviso_service.matters.ports import MatterStore
from proviso_service.models import Embedder, Vectors
from proviso_service.reading.canonical import readable
from proviso_service.reading.model import Chunk


class ChunkEmbedder:
    """For one document. A text that the tenant has had embedded before, or that stands twice in the document, is not
    embedded again. The model reads it without ligatures and invisible characters, as queries are typed."""

    def __init__(self, tenant: str, store: MatterStore, embedder: Embedder) -> None:
        self._tenant = tenant
        self._store = store
        self._embedder = embedder
        self._seen: dict[str, Vectors] = {}

    async def embed(self, chunks: Sequence[Chunk]) -> Vectors:
        """Shape (len(chunks), dimensions), in order; `chunks` is one batch and not empty."""
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
