"""Ports of the models that are not chat models (those are LangChain's BaseChatModel)."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. Implementations never block the event loop and bound their queue."""

    @property
    def model_id(self) -> str:
        """Identifies model and settings: vectors of another id are not comparable."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions), float32, L2-normalised rows, in order. Raises NotReady when closed, TooBusy
        when the queue is full."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """Shape (dimensions,), float32, L2-normalised. Served before waiting documents."""
        ...
