"""Vectors of texts that are compared with messages."""

from collections.abc import Sequence

import numpy as np

from proviso_service.context.contents import content_sha256
from proviso_service.context.selection.ports import VectorCache
from proviso_service.models import Embedder, Scores, Vectors

_BATCH = 32
"""Texts embedded at a time: what is done of many is kept when a turn's time is over."""


async def embedded(texts: Sequence[str], embedder: Embedder, cache: VectorCache) -> Vectors:
    """Shape (len(texts), dimensions), in order; each text is embedded once for its hash. `texts` are not empty. Raises
    what the embedder and the cache raise."""
    by_hash = {content_sha256(text): text for text in texts}
    known = dict(await cache.get(embedder.model_id, list(by_hash)))
    new = [sha256 for sha256 in by_hash if sha256 not in known]
    for start in range(0, len(new), _BATCH):
        batch = new[start : start + _BATCH]
        made = await embedder.embed_documents([by_hash[sha256] for sha256 in batch])
        vectors = dict(zip(batch, made, strict=True))
        await cache.put(embedder.model_id, vectors)
        known |= vectors
    return np.stack([known[content_sha256(text)] for text in texts])


def cosines(vectors: Vectors, vector: Vectors) -> Scores:
    """Of each row with the vector, shape (rows,), from 0: the opposite of a text is as far from it as any other.

    Not `vectors @ vector`: BLAS shares even this little among threads, and where the processors are busy waiting for
    them takes twenty times as long as the work."""
    found: Scores = np.clip(np.einsum("ij,j->i", vectors, vector), 0.0, 1.0)
    return found
