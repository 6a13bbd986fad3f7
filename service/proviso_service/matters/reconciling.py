"""Making an index hold what the database says: the vectors of READY documents and no others.

It is one operation for three occasions: the comparison after a start, the filling of a new index, and the last check of
one before it is used.

Documents are uploaded, deleted and ingested meanwhile. Nothing is lost or brought back by that, because all writing to
an index goes through one lock, and what is written here is decided while the lock is held:

- A vector is written only if the database has its chunk at that moment. A deletion removes rows first and then asks the
  index, under the lock; so either the rows are gone already and nothing is written, or the deletion comes to the index
  after the writing.
- A vector is removed only if its document is gone, FAILED, or READY without that chunk. An ingestion sets PROCESSING
  before it writes its first vector, under the lock; so a document whose vectors are there already is seen as under way
  and left alone, and the vectors of one that begins later are written after the removal.
- What is missing is judged by the database's state before the survey of the index. Vectors are written before their
  document becomes READY; so a chunk that was there before the survey and is not in it is really missing, or deleted
  since. What became READY after the reading is in the survey only, and stays by the rule above.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from proviso_service.errors import ProvisoError
from proviso_service.matters.indexes import IndexedVector, IndexFailed, OpenIndex, VectorSource
from proviso_service.matters.model import document_of
from proviso_service.models import Vectors

BATCH_READ = 2_000
BATCH_WRITTEN = 256
"""Vectors written under the lock at once; other writes wait for a quarter of a second."""

ROUNDS = 3
TOLERANCE = 1e-3
"""Of a cosine that the index and the database compute from the same vector."""

T = TypeVar("T")
Progress = Callable[[int], None]
"""Is told the number of vectors that are known to be there so far."""


@dataclass(frozen=True, slots=True)
class IndexDifference:
    """Vectors that were missing or wrong and are written, and those that nothing claims and are removed."""

    written: int = 0
    removed: int = 0

    def __add__(self, other: "IndexDifference") -> "IndexDifference":
        return IndexDifference(self.written + other.written, self.removed + other.removed)


class Reconciler:
    """Compares vectors by what a search can see of them: every vector of the index is asked for its cosine with one
    fixed vector. So a vector that is listed but cannot be found, or whose values are damaged, counts as missing."""

    def __init__(self, source: VectorSource, model_id: str, dimensions: int, writing: asyncio.Lock) -> None:
        """`writing` is held by whoever writes to the index."""
        self._source = source
        self._model_id = model_id
        self._writing = writing
        self._probe = probe_vector(dimensions)

    async def reconcile(self, index: OpenIndex, progress: Progress) -> IndexDifference:
        """Returns once nothing is missing. Raises IndexFailed when the index does not keep what is written to it."""
        total = IndexDifference()
        for _ in range(ROUNDS):
            found = await self._compare(index, progress)
            total += found
            if not found.written:
                return total
        raise IndexFailed("does not keep what is written to it")

    async def _compare(self, index: OpenIndex, progress: Progress) -> IndexDifference:
        total, done = IndexDifference(), 0
        matters = _by_part(index, await self._source.indexed_matters(self._model_id))
        for part in index.parts:
            expected = await self._expected(matters[part])
            held = await index.survey(part, self._probe)
            missing, strays = await asyncio.to_thread(_differences, expected, held)
            progress(done := done + len(expected) - len(missing))
            for tenant, chunk_ids in _by_tenant(missing).items():
                for batch in _slices(chunk_ids, BATCH_WRITTEN):
                    total += IndexDifference(written=await self._write(index, tenant, batch))
                    progress(done := done + len(batch))
            for tenant, chunk_ids in _by_tenant(strays).items():
                for batch in _slices(chunk_ids, BATCH_WRITTEN):
                    total += IndexDifference(removed=await self._remove(index, part, tenant, batch))
        return total

    async def _expected(self, matters: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
        """Cosines with the probe, by tenant and chunk."""
        expected: dict[tuple[str, str], float] = {}
        for tenant, matter_id in matters:
            async for records in self._source.matter_vectors(tenant, matter_id, self._model_id, BATCH_READ):
                cosines = (np.stack([record.vector for record in records]) @ self._probe).tolist()
                expected |= {(tenant, record.chunk_id): cosine for record, cosine in zip(records, cosines, strict=True)}
        return expected

    async def _write(self, index: OpenIndex, tenant: str, chunk_ids: Sequence[str]) -> int:
        async with self._writing:
            records = await self._source.vectors_of_chunks(tenant, self._model_id, chunk_ids)
            if records:
                await index.upsert(tenant, records)
        return len(records)

    async def _remove(self, index: OpenIndex, part: str, tenant: str, chunk_ids: Sequence[str]) -> int:
        documents = {chunk_id: document_of(chunk_id) for chunk_id in chunk_ids}
        async with self._writing:
            unclaimed = await self._source.unclaimed_chunks(tenant, self._model_id, documents)
            if unclaimed:
                await index.remove(part, [(tenant, chunk_id) for chunk_id in unclaimed])
        return len(unclaimed)


def _differences(
    expected: Mapping[tuple[str, str], float], found: Sequence[IndexedVector]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """What is missing or wrong, and what nothing had claimed when the database was read."""
    held = {(vector.tenant, vector.chunk_id): vector.similarity for vector in found}
    missing = [chunk for chunk, cosine in expected.items() if not abs(held.get(chunk, np.inf) - cosine) <= TOLERANCE]
    return missing, [chunk for chunk in held if chunk not in expected]


def probe_vector(dimensions: int) -> Vectors:
    """A vector in no particular direction; the same each time, so that what is found can be found again."""
    vector = np.random.default_rng(0).normal(size=dimensions).astype(np.float32)
    unit: Vectors = vector / np.linalg.norm(vector)
    return unit


def _by_part(index: OpenIndex, matters: Mapping[tuple[str, str], int]) -> Mapping[str, list[tuple[str, str]]]:
    parts = defaultdict[str, list[tuple[str, str]]](list)
    for matter in matters:
        parts[index.part_of(*matter)].append(matter)
    return parts


def _by_tenant(chunks: Sequence[tuple[str, str]]) -> Mapping[str, list[str]]:
    tenants = defaultdict[str, list[str]](list)
    for tenant, chunk_id in chunks:
        tenants[tenant].append(chunk_id)
    return tenants


def _slices(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


@dataclass(frozen=True, slots=True)
class RebuildProgress:
    """Vectors that are in the new index, of those that the database had at the start."""

    done: int
    total: int


class IndexRebuild:
    """Goes on when its one watcher goes away; a slow watcher sees the latest state."""

    def __init__(self) -> None:
        self._progress = RebuildProgress(0, 0)
        self._changed = asyncio.Event()
        self._ended = False
        self._failure: ProvisoError | None = None

    @property
    def ended(self) -> bool:
        return self._ended

    def begin(self, total: int) -> None:
        self._set(RebuildProgress(0, total))

    def advance(self, done: int) -> None:
        """Never back: the last comparison counts from the start again."""
        if done > self._progress.done:
            self._set(RebuildProgress(done, max(done, self._progress.total)))

    def end(self, failure: ProvisoError | None = None) -> None:
        self._ended, self._failure = True, failure
        self._set(self._progress if failure else RebuildProgress(self._progress.total, self._progress.total))

    async def watch(self) -> AsyncGenerator[RebuildProgress, None]:
        """Each state until the end. Raises what the rebuilding has failed with."""
        while not self._ended:
            await self._changed.wait()
            self._changed.clear()
            if not self._failure:
                yield self._progress
        if self._failure:
            raise self._failure

    def _set(self, progress: RebuildProgress) -> None:
        self._progress = progress
        self._changed.set()
