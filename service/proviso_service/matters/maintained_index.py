"""The vector index as the service uses it: it always answers searches, and repairs itself."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress

import structlog

from proviso_service.concurrency import with_timeout
from proviso_service.errors import Draining, IndexRebuilding, ProvisoError, TooBusy, Unavailable
from proviso_service.matters.indexes import IndexFailed, IndexStore, OpenIndex, VectorSource
from proviso_service.matters.reconciling import IndexDifference, IndexRebuild, Progress, RebuildProgress, Reconciler
from proviso_service.matters.stores import VectorHit, VectorRecord
from proviso_service.models import Vectors
from proviso_service.retrying import Backoff

FEW_VECTORS = 1_000
"""So many vectors are compared one by one in 10 ms; an index that many matters share takes 30 ms."""

EXACT_SEARCHES = 2
"""The most exact searches at once; each takes a thread of the database."""

FAILURES_OF_A_GENERATION = 3
"""An index that has failed so often is built anew instead of opened again."""

REMEMBERED_S = 600.0
"""Failures within this time make the wait before the next opening longer."""

LONGEST_PAUSE_S = 300.0
MAX_UNDER_WAY = 256
UNFINISHED_CHECK_S = 0.25

Documents = set[tuple[str, str]]
"""Documents by tenant and id."""

_log = structlog.get_logger(__name__)


class MaintainedIndex:
    """VectorIndex port over the current generation, and its rebuilding.

    The index answers searches among more than `few` vectors, and only while it is known to hold every vector that the
    database has: after it was opened it is compared with the database (see reconciling.py). All other searches, and
    those that come when it is too busy, are answered from the database by comparing with every vector of the matter.

    A write that fails is not its caller's matter, because the vectors come into the database too. The index that failed
    is closed, and opened or built again. A document may be under way then, with some of its vectors written before and
    the others after; it is missing in the comparison while it is not READY. So the comparison that counts begins when
    every document has ended that was under way as the index was opened.

    One task opens, compares and rebuilds, one thing at a time; all writes go through one lock.
    """

    def __init__(
        self, source: VectorSource, index_store: IndexStore, model_id: str, dimensions: int, few: int = FEW_VECTORS
    ) -> None:
        self._source = source
        self._index_store = index_store
        self._model_id = model_id
        self._few = few
        self._writing = asyncio.Lock()
        self._reconciler = Reconciler(source, model_id, dimensions, self._writing)
        self._exact = asyncio.Semaphore(EXACT_SEARCHES)
        self._index: OpenIndex | None = None
        self._next: OpenIndex | None = None
        self._whole = asyncio.Event()
        self._under_way: Documents = set()
        self._failed: list[OpenIndex] = []
        self._failures_of_generation = 0
        self._failure_times = deque[float](maxlen=16)
        self._rebuild: IndexRebuild | None = None
        self._called = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Begins to open the index, or to build it when it is missing or damaged. Searches are answered meanwhile."""
        self._keeper = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """Stops what is under way; the next start removes a generation that is not finished."""
        if self._keeper:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        self._whole.clear()
        if self._rebuild:
            self._rebuild.end(Draining())
        for index in (self._index, *self._failed):
            if index:
                await index.close()
        self._index = None

    async def until_whole(self) -> None:
        """Waits until the index answers searches."""
        await self._whole.wait()

    async def search(
        self, tenant: str, matter_id: str, vector: Vectors, limit: int, document_ids: Sequence[str] = ()
    ) -> Sequence[VectorHit]:
        """Returns the nearest chunks, best first, from the index or, for few vectors and while the index is not whole,
        from the database."""
        if await self._source.count_vectors(tenant, matter_id, document_ids) <= self._few:
            return await self._source.nearest_chunks(tenant, matter_id, self._model_id, vector, limit, document_ids)
        index = self._index
        if index and self._whole.is_set():
            try:
                return await index.search(tenant, matter_id, vector, limit, document_ids)
            except TooBusy:
                _log.debug("vector_index_too_busy")
            except IndexFailed as failure:
                self._give_up(index, failure)
        async with self._exact:
            return await self._source.nearest_chunks(tenant, matter_id, self._model_id, vector, limit, document_ids)

    async def upsert(self, tenant: str, records: Sequence[VectorRecord]) -> None:
        """Raises ValueError for vectors of the wrong size."""
        self._under_way |= {(tenant, record.document_id) for record in records}
        if len(self._under_way) > MAX_UNDER_WAY:
            self._under_way -= await self._ended(self._under_way)
        await self._write(lambda index: index.upsert(tenant, records))

    async def delete_document(self, tenant: str, matter_id: str, document_id: str) -> None:
        """Deletes a document's vectors. Vectors that remain after a failure are shown by no search, and the next
        comparison removes them."""
        await self._write(lambda index: index.delete_document(tenant, matter_id, document_id))

    async def delete_matter(self, tenant: str, matter_id: str) -> None:
        """Deletes a matter's vectors, as `delete_document` does."""
        await self._write(lambda index: index.delete_matter(tenant, matter_id))

    async def count(self) -> int:
        """Returns the number of vectors once the index is whole. Raises IndexFailed."""
        await self.until_whole()
        if not self._index:
            raise IndexFailed("is closed")
        return await self._index.count()

    async def rebuild(self) -> AsyncGenerator[RebuildProgress, None]:
        """Builds a new generation while the old one answers, and ends when the new one is in use. The building goes on
        when its caller goes away. Raises IndexRebuilding; Unavailable when it failed; Draining when the service
        stops."""
        if not self._keeper or self._keeper.done():
            raise Draining
        if self._rebuild:
            raise IndexRebuilding
        self._rebuild = rebuild = IndexRebuild()
        self._called.set()
        async for progress in rebuild.watch():
            yield progress

    async def _write(self, write: Callable[[OpenIndex], Awaitable[None]]) -> None:
        async with self._writing:
            for index in (self._index, self._next):
                if index:
                    try:
                        await write(index)
                    except (IndexFailed, TooBusy) as failure:
                        self._give_up(index, failure)

    def _give_up(self, index: OpenIndex, failure: Exception) -> None:
        """Stops using an index that has failed; the maintaining task closes it and opens or builds another."""
        if index is self._index:
            _log.warning("vector_index_failed", reason=str(failure))
            self._whole.clear()
            self._index = None
            self._failures_of_generation += 1
            self._failure_times.append(time.monotonic())
        elif index is self._next:
            self._next = None
        else:
            return
        self._failed.append(index)
        self._called.set()

    async def _keep(self) -> None:
        while True:
            self._called.clear()
            try:
                await self._tend()
            except Exception as failure:
                self._failure_times.append(time.monotonic())
                is_fault = not isinstance(failure, (IndexFailed, ProvisoError, OSError))
                _log.error("vector_index_unavailable", reason=str(failure), exc_info=is_fault)
                await self._pause()
            else:
                await self._called.wait()

    async def _tend(self) -> None:
        while self._failed:
            await self._failed.pop().close()
        if self._rebuild:
            await self._build("asked for")
        elif not self._index:
            await self._pause()
            await self._open()

    async def _pause(self) -> None:
        """Waits 0, 1, 2, 4, ... seconds after failures in a row, or until somebody calls."""
        latest = [failed for failed in self._failure_times if failed > time.monotonic() - REMEMBERED_S]
        pause_s = Backoff(1.0, LONGEST_PAUSE_S).pause_s(len(latest) - 1) if len(latest) > 1 else 0.0
        with suppress(TimeoutError):
            await with_timeout(pause_s, self._called.wait())

    async def _open(self) -> None:
        if self._failures_of_generation >= FAILURES_OF_A_GENERATION:
            await self._build(f"has failed {self._failures_of_generation} times")
            return
        try:
            await self._open_current()
        except IndexFailed as failure:
            await self._build(str(failure))

    async def _open_current(self) -> None:
        index = await self._index_store.open_current()
        try:
            async with self._writing:
                self._index = index
                awaited = set(self._under_way)
            difference = await self._make_whole(index, awaited, _unwatched)
            _require(self._index is index)
        except BaseException:
            self._index = None
            if index not in self._failed:
                await index.close()
            raise
        self._whole.set()
        if difference.written or difference.removed:
            _log.warning("vector_index_repaired", written=difference.written, removed=difference.removed)
        await self._index_store.remove_others()

    async def _build(self, reason: str) -> None:
        """Builds a new generation in place of the current one, which answers until then if it is whole."""
        self._rebuild = rebuild = self._rebuild or IndexRebuild()
        begun = time.monotonic()
        try:
            total = sum((await self._source.indexed_matters(self._model_id)).values())
            rebuild.begin(total)
            if total:  # the first index of a new service needs no message
                _log.warning("vector_index_rebuilding", reason=reason, vectors=total)
            await self._index_store.remove_others()
            await self._replace(await self._index_store.build(), rebuild.advance)
        except Exception:
            rebuild.end(Unavailable("The vector index could not be rebuilt; the service's log says why"))
            raise
        else:
            if total:
                _log.warning("vector_index_rebuilt", vectors=total, seconds=round(time.monotonic() - begun, 1))
            rebuild.end()
        finally:
            if rebuild.ended:
                self._rebuild = None

    async def _replace(self, index: OpenIndex, progress: Progress) -> None:
        try:
            async with self._writing:
                self._next = index
                awaited = set(self._under_way)
            await self._make_whole(index, awaited, progress)
            async with self._writing:
                _require(self._next is index)
                await self._index_store.make_current(index)
                old, self._index, self._next = self._index, index, None
                self._failures_of_generation = 0
                self._whole.set()
        except BaseException:
            self._next = None
            if index not in self._failed:
                await index.close()
            raise
        if old:
            await old.close()
        await self._index_store.remove_others()

    async def _make_whole(self, index: OpenIndex, awaited: Documents, progress: Progress) -> IndexDifference:
        """Compares the index with the database until a comparison that began after the awaited documents had ended has
        found nothing missing."""
        awaited -= await self._ended(awaited)
        difference = await self._reconciler.reconcile(index, progress)
        while awaited:
            awaited -= await self._ended(awaited)
            if not awaited:
                return difference + await self._reconciler.reconcile(index, progress)
            await asyncio.sleep(UNFINISHED_CHECK_S)
        return difference

    async def _ended(self, documents: Documents) -> Documents:
        """Returns those of the documents that are READY, FAILED or gone."""
        tenants = {tenant for tenant, _ in documents}
        unfinished: Documents = set()
        for tenant in tenants:
            ids = [document_id for owner, document_id in documents if owner == tenant]
            unfinished |= {(tenant, document_id) for document_id in await self._source.unfinished(tenant, ids)}
        return documents - unfinished


def _require(in_use: bool) -> None:
    if not in_use:
        raise IndexFailed("has failed while it was compared with the database")


def _unwatched(_done: int) -> None:
    """Ignores the progress of a comparison that nobody watches."""
