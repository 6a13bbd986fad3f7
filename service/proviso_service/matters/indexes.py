"""What keeping a vector index needs from outside: the vectors that are the truth, an index that is open, and the place
that keeps its generations."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from proviso_service.matters.stores import VectorHit, VectorIndex, VectorRecord
from proviso_service.models import Vectors


class IndexFailed(Exception):
    """The index is missing, damaged, of another model, or did not do what was asked; the message says which."""


class VectorSource(Protocol):
    """Vectors of the chunks of READY documents, in the database."""

    async def nearest_chunks(
        self,
        tenant: str,
        matter_id: str,
        model_id: str,
        vector: Vectors,
        limit: int,
        document_ids: Sequence[str] = (),
    ) -> Sequence[VectorHit]:
        """The nearest of the matter (and documents, when given), best first, by comparing with every vector."""
        ...

    async def count_vectors(self, tenant: str, matter_id: str, document_ids: Sequence[str] = ()) -> int:
        """Those that `nearest_chunks` would compare, give or take those of another model."""
        ...

    async def indexed_matters(self, model_id: str) -> Mapping[tuple[str, str], int]:
        """Number of vectors by tenant and matter, of those that have any."""
        ...

    def matter_vectors(
        self, tenant: str, matter_id: str, model_id: str, batch_size: int
    ) -> AsyncIterator[Sequence[VectorRecord]]:
        """Every vector of a matter once, if its document stays as it is meanwhile."""
        ...

    async def vectors_of_chunks(self, tenant: str, model_id: str, chunk_ids: Sequence[str]) -> Sequence[VectorRecord]:
        """Of those chunks that there are."""
        ...

    async def unclaimed_chunks(self, tenant: str, model_id: str, document_of: Mapping[str, str]) -> Sequence[str]:
        """Those of the chunks, given with the ids of their documents, that are not there while nobody is about to make
        them: their document is gone, FAILED, or READY without them."""
        ...

    async def unfinished(self, tenant: str, document_ids: Sequence[str]) -> Sequence[str]:
        """Those of the documents that are neither gone nor READY nor FAILED."""
        ...


@dataclass(frozen=True, slots=True)
class IndexedVector:
    """A vector that the index holds; `similarity` is its cosine with the vector that was asked about."""

    tenant: str
    chunk_id: str
    similarity: float


class OpenIndex(VectorIndex, Protocol):
    """A vector index of one model. Every method raises IndexFailed, also when there is no answer in time, and TooBusy
    at the bound of its calls. Writes keep their order, also when the caller of one is cancelled."""

    @property
    def parts(self) -> Sequence[str]:
        """Names of the parts that matters are spread over."""
        ...

    def part_of(self, tenant: str, matter_id: str) -> str: ...

    async def survey(self, part: str, vector: Vectors) -> Sequence[IndexedVector]:
        """Every vector of a part; infinitely unlike the one given are those that a search cannot reach."""
        ...

    async def remove(self, part: str, chunks: Sequence[tuple[str, str]]) -> None:
        """Chunks by tenant and id; those that are absent change nothing."""
        ...

    async def close(self) -> None:
        """Waits for calls that have begun, but not for ever."""
        ...


class IndexStore(Protocol):
    """Keeps generations of the index, one of which is current. Methods raise IndexFailed and OSError."""

    async def open_current(self) -> OpenIndex: ...

    async def build(self) -> OpenIndex:
        """A new empty generation, which is not current yet."""
        ...

    async def make_current(self, index: OpenIndex) -> None:
        """Makes a generation that this store has built the current one, for good."""
        ...

    async def remove_others(self) -> None:
        """Removes all generations but the current one; none of them may be open."""
        ...
