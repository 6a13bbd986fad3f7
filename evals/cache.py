"""Keeps vectors between runs, so that a second run takes seconds."""

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from proviso_service.models import Embedder, Vectors

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (model_id, sha256, vector BLOB, PRIMARY KEY (model_id, sha256))"


class CachedEmbedder:
    """An embedder that stores the vectors of all texts in a file. It has to be closed."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._kept = sqlite3.connect(path)
        self._kept.execute(_TABLE)

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        known = {text: vector for text in texts if (vector := self._known(text)) is not None}
        unknown = [text for text in dict.fromkeys(texts) if text not in known]
        if unknown:
            known |= zip(unknown, await self._embedder.embed_documents(unknown), strict=True)
            with self._kept:
                rows = [(self.model_id, _sha256(text), known[text].tobytes()) for text in unknown]
                self._kept.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)
        return np.stack([known[text] for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        vectors: Vectors = (await self.embed_documents([text]))[0]
        return vectors

    def close(self) -> None:
        self._kept.close()

    def _known(self, text: str) -> Vectors | None:
        query = "SELECT vector FROM vectors WHERE model_id = ? AND sha256 = ?"
        row = self._kept.execute(query, (self.model_id, _sha256(text))).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
