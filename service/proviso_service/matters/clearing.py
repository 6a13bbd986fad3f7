"""Clears away what deleted documents leave behind."""

import asyncio
import time
from collections.abc import Awaitable, Iterable, Sequence
from contextlib import suppress

import structlog

from proviso_service.concurrency import with_timeout
from proviso_service.errors import Unavailable
from proviso_service.matters.ingestion import Ingestion
from proviso_service.matters.progress import ProgressBoard
from proviso_service.matters.resident_indexes import ResidentIndexes
from proviso_service.matters.stores import BlobStore, Leftover, MatterStore
from proviso_service.retrying import Backoff

BATCH_LEFTOVERS = 100
BACKOFF = Backoff(first_s=1.0, longest_s=60.0)

LOOK_S = 600.0
"""How often to look for uploads that nobody is at any more."""

LONGEST_UPLOAD_S = 3_600.0

ABANDONED_S = 2 * LONGEST_UPLOAD_S
"""An upload that is on record for so long has lost its process, which may have been another one than this."""

_log = structlog.get_logger(__name__)


class Clearing:
    """Removes the rows of deleted matters and the bytes of documents that have no row, and drops both from the indexes.
    Whatever else comes to keep something of a matter is to be erased here, too.

    The store holds all that is to be done, so nothing is lost with the process. What fails is logged and tried again by
    a task between `open` and `close`, which also does what an earlier process has left."""

    def __init__(
        self,
        store: MatterStore,
        indexes: ResidentIndexes,
        blobs: BlobStore,
        ingestion: Ingestion,
        board: ProgressBoard,
        *,
        is_alone: bool = True,
    ) -> None:
        """A process that `is_alone` shares its state with no other: who began an upload that it finds has ended."""
        self._store = store
        self._indexes = indexes
        self._blobs = blobs
        self._ingestion = ingestion
        self._board = board
        self._is_alone = is_alone
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._uploads_since: dict[tuple[str, str], float] = {}

    async def open(self) -> None:
        """Starts the task, before the first upload begins. It does not wait for the clearing."""
        if self._is_alone:
            await self._store.give_up_uploads(await self._store.uploads())
        self._wanted.set()
        self._task = asyncio.create_task(self._work())

    async def close(self) -> None:
        """Ends the task, and the clearing of matters between two steps; the next start continues it."""
        self._closed = True
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def document(self, leftover: Leftover) -> None:
        """Clears what a document leaves whose rows are gone. A failure is left to the task."""
        await self._or_later(self._clear([leftover]))

    async def matter(self, tenant: str, matter_id: str) -> None:
        """Clears a deleted matter with its rows. A failure is left to the task."""
        await self._or_later(self._clear_matter(tenant, matter_id))

    async def upload(self, tenant: str, document_id: str) -> None:
        """Clears the bytes of an upload that made no document. A failure is left to the task."""
        await self._or_later(self._clear_upload(tenant, document_id))

    async def _or_later(self, work: Awaitable[None]) -> None:
        if not await self._succeeds(work):
            self._wanted.set()

    async def _work(self) -> None:
        failures = 0
        while True:
            with suppress(TimeoutError):
                await with_timeout(LOOK_S, self._wanted.wait())
            self._wanted.clear()
            if await self._succeeds(self._round()):
                failures = 0
            else:
                failures += 1
                await asyncio.sleep(BACKOFF.pause_s(failures))
                self._wanted.set()

    async def _round(self) -> None:
        """Tries everything once; a failure does not keep the rest from being cleared. Raises Unavailable when something
        is left."""
        await self._give_up_abandoned()
        matters = await self._store.deleted_matters()
        failures = 0
        for tenant, matter_id in matters:
            failures += not await self._succeeds(self._clear_matter(tenant, matter_id))
        documents = 0
        last: Leftover | None = None
        while batch := await self._store.leftovers(BATCH_LEFTOVERS, last):
            last = batch[-1]
            for group in _by_matter(batch):
                failures += not await self._succeeds(self._clear(group))
            documents += len(batch)
        if matters or documents:
            _log.info("leftovers cleared", matters=len(matters), documents=documents, failures=failures)
        if failures:
            raise Unavailable("not all could be cleared")

    async def _give_up_abandoned(self) -> None:
        """Gives up the uploads that this process has seen on record for too long; for what it has seen itself the
        processes need not agree on the time."""
        now = time.monotonic()
        self._uploads_since = {one: self._uploads_since.get(one, now) for one in await self._store.uploads()}
        abandoned = [one for one, since in self._uploads_since.items() if now - since >= ABANDONED_S]
        if abandoned:
            await self._store.give_up_uploads(abandoned)

    async def _clear_upload(self, tenant: str, document_id: str) -> None:
        try:
            await self._blobs.delete(tenant, document_id)
        except Exception:
            await self._store.give_up_uploads([(tenant, document_id)])
            raise
        await self._store.forget_leftovers(tenant, [document_id])

    async def _clear_matter(self, tenant: str, matter_id: str) -> None:
        while not self._closed and (removed := await self._store.delete_documents(tenant, matter_id)):
            await self._clear(removed)

    async def _clear(self, leftovers: Sequence[Leftover]) -> None:
        """Clears leftovers of one matter, at least one. Each stays on record until nothing more can be written for its
        document and everything that was written is gone."""
        for leftover in leftovers:
            await self._ingestion.abandon(leftover.document_id)
            self._board.deleted(leftover.document_id)
        try:
            await self._clear_index(leftovers[0])
        finally:
            for leftover in leftovers:
                await self._blobs.delete(leftover.tenant, leftover.document_id)
        await self._store.forget_leftovers(leftovers[0].tenant, [leftover.document_id for leftover in leftovers])

    async def _clear_index(self, leftover: Leftover) -> None:
        if leftover.matter_deleted:
            await self._indexes.forget(leftover.tenant, leftover.matter_id)
        else:
            await self._indexes.catch_up(leftover.tenant, leftover.matter_id)

    async def _succeeds(self, work: Awaitable[None]) -> bool:
        try:
            await work
        except Exception as failure:
            _log.warning("leftovers wait", failure=repr(failure))
            return False
        return True


def _by_matter(leftovers: Sequence[Leftover]) -> Iterable[Sequence[Leftover]]:
    groups: dict[tuple[str, str], list[Leftover]] = {}
    for leftover in leftovers:
        groups.setdefault((leftover.tenant, leftover.matter_id), []).append(leftover)
    return groups.values()
