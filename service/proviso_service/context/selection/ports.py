"""Ports of selection, beside the embedder (models/ports.py)."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from proviso_service.models import Vectors


class VectorCache(Protocol):
    """Vectors of texts by the model that made them and the texts' SHA-256 in hexadecimal; bounded."""

    async def get(self, model_id: str, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        """Those that are kept, each of shape (dimensions,)."""
        ...

    async def put(self, model_id: str, vectors: Mapping[str, Vectors]) -> None: ...
