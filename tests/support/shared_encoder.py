"""The embedding model, loaded once in a process of tests."""

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from proviso_service.embedded import MiniLmEncoder, ModelNotPrepared
from proviso_service.embedded.minilm import Encoding
from proviso_service.models import Vectors

_KEPT_BATCHES = 1_000


class RecallingEncoder(MiniLmEncoder):
    """The encoder, which recalls the vectors of whole batches: each start of the service embeds the same examples of
    intents and the same items of the agent."""

    def __init__(self, encoding: Encoding) -> None:
        super().__init__(encoding)
        self._encoded = lru_cache(_KEPT_BATCHES)(self._encode)

    def encode(self, batch: Sequence[list[int]]) -> Vectors:
        return self._encoded(tuple(tuple(ids) for ids in batch)).copy()

    def _encode(self, batch: tuple[tuple[int, ...], ...]) -> Vectors:
        return super().encode([list(ids) for ids in batch])


@cache
def shared_encoder(models_dir: Path) -> MiniLmEncoder | None:
    """Usable from any thread. None of a folder in which no model is prepared."""
    try:
        return RecallingEncoder.load(models_dir)
    except ModelNotPrepared:
        return None
