"""How close texts are to a message."""

from collections.abc import Sequence

from proviso_service.context.selection.embedding import cosines, embedded
from proviso_service.context.selection.ports import VectorCache
from proviso_service.models import Embedder, Scores


class TextSimilarity:
    """By meaning; the texts' vectors are kept, the messages' are not."""

    def __init__(self, embedder: Embedder, vectors: VectorCache) -> None:
        self._embedder = embedder
        self._vectors = vectors

    async def scores(self, message: str, texts: Sequence[str]) -> Scores:
        """Shape (len(texts),), in order, each in [0, 1]. `texts` are not empty. Without a time limit; raises what the
        embedder and the cache raise."""
        vector = await self._embedder.embed_query(message)
        return cosines(await embedded(texts, self._embedder, self._vectors), vector)
