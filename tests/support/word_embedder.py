"""An embedder that costs nothing."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from proviso_service.models import Vectors


class WordEmbedder:
    """The Embedder port by hashed words: equal texts have equal vectors, and texts that share words are near."""

    model_id = "words"
    dimensions = 32

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._embed(text) for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        return self._embed(text)

    def _embed(self, text: str) -> Vectors:
        vector = np.zeros(self.dimensions, dtype=np.float32)
        for word in re.findall(r"\w+", text.casefold()) or [""]:
            vector[hashlib.sha256(word.encode()).digest()[0] % self.dimensions] += 1
        unit: Vectors = vector / np.linalg.norm(vector)
        return unit
