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
"""So many vectors are written under the lock at once; other writes wait for about a quarter of a second."""

ROUNDS = 3
TOLERANCE = 1e-3
"""How much a cosine that the index computes may differ from one that the database's vectors give."""

T = TypeVar("T")
Progress = Callable[[int], None]
"""Receives the number of vectors that are known to be in the index so far."""


@dataclass(frozen=True, slots=True)
class IndexDifference:
    """How many vectors were missing or wrong and have been written, and how many belonged to no document and have been
    removed."""

    written: int = 0
    removed: int = 0

    def __add__(self, other: "IndexDifference") -> "IndexDifference":
        return IndexDifference(self.written + other.written, self.removed + other.removed)


class Reconciler:
    """Compares vectors by what a search can see of them: the index gives the cosine of every vector with one fixed
    vector. So a vector that is listed but cannot be found, or whose values are damaged, counts as missing."""

    def __init__(self, source: VectorSource, model_id: str, dimensions: int, writing: asyncio.Lock) -> None:
        """`writing` is the lock that everybody who writes to the index holds."""
        self._source = source
        self._model_id = model_id
        self._writing = writing
        self._probe = probe_vector(dimensions)

    async def reconcile(self, index: OpenIndex, progress: Progress) -> IndexDifference:
        """Compares and repairs until nothing is missing. Raises IndexFailed when the index does not keep what is
        written to it."""
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
        """Returns the cosines with the fixed vector, by tenant and chunk."""
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
    """Returns the chunks whose vectors are missing or wrong, and those that were in the index but not in the database
    when it was read."""
    held = {(vector.tenant, vector.chunk_id): vector.similarity for vector in found}
    missing = [chunk for chunk, cosine in expected.items() if not abs(held.get(chunk, np.inf) - cosine) <= TOLERANCE]
    return missing, [chunk for chunk in held if chunk not in expected]


def probe_vector(dimensions: int) -> Vectors:
    """Returns a vector in no particular direction. It is always the same one, so that what is found can be found
    again."""
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
    """The vectors that are in the new index, out of those that the database had at the start."""

    done: int
    total: int


class IndexRebuild:
    """The building of a new index as its caller sees it. It goes on when its one watcher goes away; a slow watcher sees
    the latest state."""

    def __init__(self) -> None:
        self._progress = RebuildProgress(0, 0)
        self._changed = asyncio.Event()
        self._ended = False
        self._failure: ProvisoError | None = None

    @property
    def ended(self) -> bool:
        return self._ended

    def begin(self, total: int) -> None:
        """Reports the number of vectors that have to be written."""
        self._set(RebuildProgress(0, total))

    def advance(self, done: int) -> None:
        """Reports progress, which never goes back even though the last comparison counts from the start again."""
        if done > self._progress.done:
            self._set(RebuildProgress(done, max(done, self._progress.total)))

    def end(self, failure: ProvisoError | None = None) -> None:
        """Reports the end, with the failure if there was one."""
        self._ended, self._failure = True, failure
        self._set(self._progress if failure else RebuildProgress(self._progress.total, self._progress.total))

    async def watch(self) -> AsyncGenerator[RebuildProgress, None]:
        """Yields each state until the end. Raises the error that the rebuilding failed with."""
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
