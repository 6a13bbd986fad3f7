"""ChromaIndex, the vector index in a Chroma database, and VectorLayout, which assigns matters to its collections.

The database is owned by a process of its own (see process.py and worker.py)."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from proviso_service.backends.vectors.process import WorkerAnswer, WorkerProcess
from proviso_service.matters import IndexedVector, VectorHit, VectorRecord
from proviso_service.models import Vectors

VERSION = 2
COLLECTIONS = 16


@dataclass(frozen=True, slots=True)
class VectorLayout:
    """How an index is laid out: its number of collections, the dimensions of its vectors and the model that makes
    them."""

    collections: int
    dimensions: int
    model_id: str
    version: int = VERSION

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all collections."""
        return tuple(_name(number) for number in range(self.collections))

    def collection_of(self, tenant: str, matter_id: str) -> str:
        """The name of the collection that holds a matter; the same in every process and release."""
        digest = hashlib.blake2b(scope_of(tenant, matter_id).encode(), digest_size=8).digest()
        return _name(int.from_bytes(digest) % self.collections)


def scope_of(tenant: str, matter_id: str) -> str:
    """One text for tenant and matter. The length in it keeps pairs apart that would be equal when joined."""
    return f"{len(tenant)}:{tenant}:{matter_id}"


def index_id(tenant: str, chunk_id: str) -> str:
    """The id of a chunk in the index, which differs between tenants even for equal chunk ids."""
    return f"{len(tenant)}:{tenant}:{chunk_id}"


def tenant_and_chunk(index_id: str) -> tuple[str, str]:
    """The inverse of `index_id`. Raises ValueError for an id that it did not make."""
    length, _, rest = index_id.partition(":")
    size = int(length)
    return rest[:size], rest[size + 1 :]


def _name(number: int) -> str:
    return f"vectors-{number:03}"


BATCH_RECORDS = 16
"""Records of one write. Chroma holds the interpreter lock of its process while it writes, and a search waits for that:
15 ms at this size, 0.4 s for a thousand."""

BATCH_RECORDS_UNSEARCHED = 256
"""Records of one write while an index is being built and nobody searches it: this is three times as fast."""

OPEN_LIMIT_S = 60.0
READ_LIMIT_S = 5.0
WRITE_LIMIT_S = 120.0
SURVEY_LIMIT_S = 120.0

_SCOPE = "scope"
_DOCUMENT = "document"


class ChromaIndex:
    """An open generation of the index (see OpenIndex). `batch_records` is the number of records of one write."""

    def __init__(self, folder: Path, layout: VectorLayout, worker: WorkerProcess) -> None:
        self.folder = folder
        self.worker = worker
        self.batch_records = BATCH_RECORDS
        self._layout = layout

    @classmethod
    async def open(cls, folder: Path, layout: VectorLayout, time_limit_s: float = OPEN_LIMIT_S) -> Self:
        """Opens the index in an existing folder, which was written with this layout. Raises IndexFailed."""
        return cls(folder, layout, await WorkerProcess.start(folder, time_limit_s))

    async def close(self) -> None:
        await self.worker.close()

    @property
    def parts(self) -> Sequence[str]:
        return self._layout.names

    def part_of(self, tenant: str, matter_id: str) -> str:
        return self._layout.collection_of(tenant, matter_id)

    async def upsert(self, tenant: str, records: Sequence[VectorRecord]) -> None:
        """Adds or replaces the records. Raises ValueError for vectors of the wrong size."""
        if any(record.vector.shape != (self._layout.dimensions,) for record in records):
            raise ValueError(f"vectors of this index have {self._layout.dimensions} values")
        by_matter: dict[str, list[VectorRecord]] = {}
        for record in records:
            by_matter.setdefault(record.matter_id, []).append(record)
        for matter_id, group in by_matter.items():
            size = self.batch_records
            for start in range(0, len(group), size):
                await self._upsert(tenant, matter_id, group[start : start + size])

    async def search(
        self, tenant: str, matter_id: str, vector: Vectors, limit: int, document_ids: Sequence[str] = ()
    ) -> Sequence[VectorHit]:
        call = self._call("search", tenant, matter_id, limit=limit, where=_where(tenant, matter_id, document_ids))
        answer = await self.worker.call(call, _packed(vector), time_limit_s=READ_LIMIT_S)
        distances = np.frombuffer(answer.payload, dtype="<f4").tolist()
        return [
            VectorHit(tenant_and_chunk(found)[1], 1.0 - distance)
            for found, distance in zip(answer.header["ids"], distances, strict=True)
        ]

    async def delete_document(self, tenant: str, matter_id: str, document_id: str) -> None:
        where = _where(tenant, matter_id, [document_id])
        await self.worker.call(self._call("delete", tenant, matter_id, where=where), time_limit_s=WRITE_LIMIT_S)

    async def delete_matter(self, tenant: str, matter_id: str) -> None:
        where = _where(tenant, matter_id, ())
        await self.worker.call(self._call("delete", tenant, matter_id, where=where), time_limit_s=WRITE_LIMIT_S)

    async def count(self) -> int:
        return int((await self.worker.call({"call": "count"}, time_limit_s=SURVEY_LIMIT_S)).header["count"])

    async def survey(self, part: str, vector: Vectors) -> Sequence[IndexedVector]:
        call = {"call": "survey", "collection": part}
        answer = await self.worker.call(call, _packed(vector), time_limit_s=SURVEY_LIMIT_S)
        # A collection may hold tens of thousands of vectors.
        return await asyncio.to_thread(_surveyed, answer)

    async def remove(self, part: str, chunks: Sequence[tuple[str, str]]) -> None:
        call = {"call": "remove", "collection": part, "ids": [index_id(*chunk) for chunk in chunks]}
        await self.worker.call(call, time_limit_s=WRITE_LIMIT_S)

    async def _upsert(self, tenant: str, matter_id: str, records: Sequence[VectorRecord]) -> None:
        scope = scope_of(tenant, matter_id)
        call = self._call(
            "upsert",
            tenant,
            matter_id,
            ids=[index_id(tenant, record.chunk_id) for record in records],
            metadatas=[{_SCOPE: scope, _DOCUMENT: record.document_id} for record in records],
        )
        vectors = _packed(np.stack([record.vector for record in records]))
        await self.worker.call(call, vectors, time_limit_s=WRITE_LIMIT_S)

    def _call(self, name: str, tenant: str, matter_id: str, **arguments: Any) -> dict[str, Any]:
        return {"call": name, "collection": self._layout.collection_of(tenant, matter_id), **arguments}


def _surveyed(answer: WorkerAnswer) -> Sequence[IndexedVector]:
    similarities = (1.0 - np.frombuffer(answer.payload, dtype="<f4")).tolist()
    return [
        IndexedVector(*tenant_and_chunk(found), similarity)
        for found, similarity in zip(answer.header["ids"], similarities, strict=True)
    ]


def _packed(vectors: Vectors) -> bytes:
    return np.ascontiguousarray(vectors, dtype="<f4").tobytes()


def _where(tenant: str, matter_id: str, document_ids: Sequence[str]) -> dict[str, Any]:
    scope = {_SCOPE: scope_of(tenant, matter_id)}
    if not document_ids:
        return scope
    return {"$and": [scope, {_DOCUMENT: {"$in": list(document_ids)}}]}
