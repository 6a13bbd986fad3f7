"""Declares what keeping a vector index needs from outside: the vectors in the database, which are the truth; an index
that is open; and the store of its generations."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from proviso_service.matters.stores import VectorHit, VectorIndex, VectorRecord
from proviso_service.models import Vectors


class IndexFailed(Exception):
    """The index is missing, damaged or of another model, or did not do what was asked; the message says which."""


class VectorSource(Protocol):
    """The vectors of the chunks of READY documents, in the database."""

    async def nearest_chunks(
        self,
        tenant: str,
        matter_id: str,
        model_id: str,
        vector: Vectors,
        limit: int,
        document_ids: Sequence[str] = (),
    ) -> Sequence[VectorHit]:
        """Returns the nearest chunks of the matter (and of the documents, when given), best first, by comparing with
        every vector."""
        ...

    async def count_vectors(self, tenant: str, matter_id: str, document_ids: Sequence[str] = ()) -> int:
        """Returns how many vectors `nearest_chunks` would compare; vectors of another model may be counted too."""
        ...

    async def indexed_matters(self, model_id: str) -> Mapping[tuple[str, str], int]:
        """Returns the number of vectors by tenant and matter, for matters that have any."""
        ...

    def matter_vectors(
        self, tenant: str, matter_id: str, model_id: str, batch_size: int
    ) -> AsyncIterator[Sequence[VectorRecord]]:
        """Yields every vector of a matter once, if its documents stay as they are meanwhile."""
        ...

    async def vectors_of_chunks(self, tenant: str, model_id: str, chunk_ids: Sequence[str]) -> Sequence[VectorRecord]:
        """Returns the vectors of those chunks that exist."""
        ...

    async def unclaimed_chunks(self, tenant: str, model_id: str, document_of: Mapping[str, str]) -> Sequence[str]:
        """Returns those of the chunks, given with the ids of their documents, that do not exist and that nobody is
        about to make: their document is gone, FAILED, or READY without them."""
        ...

    async def unfinished(self, tenant: str, document_ids: Sequence[str]) -> Sequence[str]:
        """Returns those of the documents that exist and are neither READY nor FAILED."""
        ...


@dataclass(frozen=True, slots=True)
class IndexedVector:
    """A vector that the index holds; `similarity` is its cosine with the vector that was asked about."""

    tenant: str
    chunk_id: str
    similarity: float


class OpenIndex(VectorIndex, Protocol):
    """A vector index of one model. Every method raises IndexFailed, also when there is no answer in time, and TooBusy
    when too many calls are under way. Writes keep their order, even when the caller of one is cancelled."""

    @property
    def parts(self) -> Sequence[str]:
        """The names of the parts that matters are spread over."""
        ...

    def part_of(self, tenant: str, matter_id: str) -> str:
        """Returns the name of the part that holds a matter."""
        ...

    async def survey(self, part: str, vector: Vectors) -> Sequence[IndexedVector]:
        """Returns every vector of a part with its similarity; it is minus infinity for a vector that a search cannot
        reach."""
        ...

    async def remove(self, part: str, chunks: Sequence[tuple[str, str]]) -> None:
        """Removes chunks, given by tenant and id; absent ones change nothing."""
        ...

    async def close(self) -> None:
        """Closes the index once calls that have begun are done, but does not wait for them for ever."""
        ...


class IndexStore(Protocol):
    """Keeps generations of the index, of which one is current. Methods raise IndexFailed and OSError."""

    async def open_current(self) -> OpenIndex:
        """Opens the current generation."""
        ...

    async def build(self) -> OpenIndex:
        """Makes a new empty generation, which is not current yet."""
        ...

    async def make_current(self, index: OpenIndex) -> None:
        """Makes a generation that this store has built the current one, for good."""
        ...

    async def remove_others(self) -> None:
        """Removes all generations but the current one; none of them may be open."""
        ...
