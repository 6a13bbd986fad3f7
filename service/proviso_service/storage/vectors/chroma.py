"""Vector index in an embedded Chroma database, which one process may own at a time."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from proviso_service.matters.ports import VectorHit, VectorRecord
from proviso_service.models.ports import Vectors
from proviso_service.storage.vectors.chroma_database import ChromaDatabase
from proviso_service.storage.vectors.lane import Lane
from proviso_service.storage.vectors.layout import VectorLayout

_BATCH_RECORDS = 16
"""Records of one write. Chroma's native code keeps Python's interpreter lock while it writes, so the event loop stands
still meanwhile: about 10 ms at this size, 0.7 s for a thousand. Reading gives the lock back."""

_MAX_CALLS = 256
_READ_LIMIT_S = 10.0
_WRITE_LIMIT_S = 120.0  # waiting for the batches of other documents included
_OPEN_LIMIT_S = 60.0


class ChromaVectorIndex:
    """VectorIndex port. Methods raise VectorIndexFailed, TooBusy, TimeoutError, and NotReady when closed.

    Writes share one thread and so keep their order, also when the caller of one is cancelled: a deletion never
    overtakes the writing before it.
    """

    def __init__(self, database: ChromaDatabase) -> None:
        self._database = database
        self._reads = Lane("vector index", threads=2, max_calls=_MAX_CALLS, time_limit_s=_READ_LIMIT_S)
        self._writes = Lane("vector index", threads=1, max_calls=_MAX_CALLS, time_limit_s=_WRITE_LIMIT_S)

    @classmethod
    async def open(cls, folder: Path, collections: int, dimensions: int) -> Self:
        """Makes the folder when it is missing; raises the process's limit of open files. Raises VectorIndexCorrupt.

        Takes one to three seconds, nearly all of it for importing Chroma, in a thread.
        """
        layout = VectorLayout(collections=collections, dimensions=dimensions)
        async with asyncio.timeout(_OPEN_LIMIT_S):
            return cls(await asyncio.to_thread(ChromaDatabase, folder, layout))

    async def close(self) -> None:
        """Waits for the calls that have begun."""
        await self._reads.close()
        await self._writes.close()
        await asyncio.to_thread(self._database.close)

    async def upsert(self, tenant: str, records: Sequence[VectorRecord]) -> None:
        """Raises ValueError for vectors of the wrong size."""
        by_matter: dict[str, list[VectorRecord]] = {}
        for record in records:
            by_matter.setdefault(record.matter_id, []).append(record)
        for matter_id, group in by_matter.items():
            for start in range(0, len(group), _BATCH_RECORDS):
                batch = group[start : start + _BATCH_RECORDS]
                await self._writes.run(self._database.upsert, tenant, matter_id, batch)

    async def search(
        self, tenant: str, matter_id: str, vector: Vectors, limit: int, document_ids: Sequence[str] = ()
    ) -> Sequence[VectorHit]:
        return await self._reads.run(self._database.search, tenant, matter_id, vector, limit, document_ids)

    async def delete_document(self, tenant: str, matter_id: str, document_id: str) -> None:
        await self._writes.run(self._database.delete, tenant, matter_id, [document_id])

    async def delete_matter(self, tenant: str, matter_id: str) -> None:
        await self._writes.run(self._database.delete, tenant, matter_id)

    async def count(self) -> int:
        return await self._reads.run(self._database.count)
