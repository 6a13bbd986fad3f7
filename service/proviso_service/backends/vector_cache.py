"""Vectors kept in the memory of this process."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from proviso_service.models import Vectors


class MemoryVectorCache:
    """The VectorCache port. Bounded by `max_vectors`; what was used longest ago goes first."""

    def __init__(self, max_vectors: int) -> None:
        self._max_vectors = max_vectors
        self._by_use: OrderedDict[tuple[str, str], Vectors] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_use)

    async def get(self, model_id: str, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        found = {sha256: self._by_use[model_id, sha256] for sha256 in hashes if (model_id, sha256) in self._by_use}
        for sha256 in found:
            self._by_use.move_to_end((model_id, sha256))
        return found

    async def put(self, model_id: str, vectors: Mapping[str, Vectors]) -> None:
        """Copies, since a row of a matrix would keep the whole matrix in memory."""
        for sha256, vector in vectors.items():
            self._by_use[model_id, sha256] = vector.copy()
            self._by_use.move_to_end((model_id, sha256))
        while len(self._by_use) > self._max_vectors:
            self._by_use.popitem(last=False)
