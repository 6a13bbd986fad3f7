"""Erasure carries deletions out to their end: until no file of the storage has a byte of what was deleted."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol

import structlog

from proviso_service.concurrency import with_timeout
from proviso_service.erasure.deletions import Deletion, DeletionKind, DeletionStore
from proviso_service.errors import Unavailable
from proviso_service.notices import ALONE, About, Notices, What
from proviso_service.retrying import Backoff

BACKOFF = Backoff(first_s=1.0, longest_s=60.0)

LOOK_S = 60.0
"""How often to look for deletions whose callers went away before they could tell of them."""

SHARE_OF_TIME = 0.1
"""The most of the time that rewriting the storage takes, because writes wait for it."""

SLICE_TURNS = 500
"""Turns that the store is asked about at once."""

_log = structlog.get_logger(__name__)


class LiveTurns(Protocol):
    """The turns of this process."""

    @property
    def ended(self) -> Sequence[str]:
        """The ids of those that have ended and are kept for readers that come back."""
        ...

    async def end(self, turn_ids: Sequence[str]) -> bool:
        """Ends those of the turns that run, and returns when they have ended. Returns whether there were any."""
        ...

    def forget(self, turn_ids: Sequence[str]) -> None:
        """Drops the logs of those of the turns that have ended."""
        ...


class Erasure:
    """Finishes deletions in a task between `open` and `close`. Their rows say what is to be done, so that the next
    process goes on where a killed one stopped.

    `forget_caches` drops what the caches hold of a tenant, or raises Unavailable. `compact` rewrites the files of the
    storage, so that they hold nothing that is not in their rows; it returns False where that has to wait for the night.
    `notices` have other processes end and forget turns with this one, and drop what their caches hold."""

    def __init__(
        self,
        store: DeletionStore,
        turns: LiveTurns,
        forget_caches: Callable[[str], Awaitable[None]],
        compact: Callable[[], Awaitable[bool]],
        notices: Notices = ALONE,
    ) -> None:
        self._store = store
        self._turns = turns
        self._forget_caches = forget_caches
        self._compact = compact
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._cleared: set[str] = set()
        self._notices = notices
        notices.hear(About.DELETED, self._heard, self._missed)

    async def open(self) -> None:
        """Starts the task, which begins with what an earlier process has left."""
        self._wanted.set()
        self._task = asyncio.create_task(self._work(), name="erasure")

    async def close(self) -> None:
        """Ends the task where it is."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    def begin(self, turn_ids: Sequence[str] = ()) -> None:
        """Tells that something was deleted, with these turns."""
        self._forget(turn_ids)
        self._wanted.set()

    async def _work(self) -> None:
        failures = 0
        while True:
            with suppress(TimeoutError):
                await with_timeout(LOOK_S, self._wanted.wait())
            self._wanted.clear()
            try:
                await self._round()
                failures = 0
            except Exception as failure:
                failures += 1
                _log.warning("erasure_waits", failure=repr(failure))
                with suppress(TimeoutError):
                    await with_timeout(BACKOFF.pause_s(failures), self._wanted.wait())
                self._wanted.set()

    async def _round(self) -> None:
        """Does everything that can be done. Raises Unavailable when something is left."""
        unfinished = await self._store.unfinished()
        cleared = [deletion for deletion in unfinished if await self._is_cleared(deletion)]
        self._cleared = {deletion.deletion_id for deletion in cleared}
        begun = time.monotonic()
        if cleared and await self._compact():
            for deletion in cleared:
                await self._store.complete(deletion.tenant, deletion.deletion_id)
            took_s = time.monotonic() - begun
            _log.info("deletions_complete", deletions=len(cleared), seconds=round(took_s, 2))
            await asyncio.sleep(took_s * (1 / SHARE_OF_TIME - 1))
        if len(cleared) < len(unfinished):
            raise Unavailable("some deletions are not cleared yet")

    async def _is_cleared(self, deletion: Deletion) -> bool:
        if deletion.deletion_id in self._cleared:
            return True
        if deletion.kind is DeletionKind.MATTER:
            open_turns = await self._store.open_turns(deletion.tenant, deletion.matter_id)
            if open_turns:
                self._notices.tell(About.DELETED, end=list(open_turns))
            await self._turns.end(open_turns)
            while purged := await self._store.purge_turns(deletion.tenant, deletion):
                self._forget(purged)
        # Last, because turns that were running may have filled them.
        self._notices.tell(About.DELETED, tenant=deletion.tenant)
        await self._forget_caches(deletion.tenant)
        return await self._store.is_cleared(deletion.tenant, deletion)

    def _forget(self, turn_ids: Sequence[str]) -> None:
        self._turns.forget(turn_ids)
        if turn_ids:
            self._notices.tell(About.DELETED, forget=list(turn_ids))

    async def _heard(self, what: What) -> None:
        """Does with what is in this process what another one asks for that carries out a deletion."""
        self._turns.forget(what.get("forget", ()))
        if await self._turns.end(what.get("end", ())):
            self._notices.tell(About.DELETED, ended=True)
        if tenant := what.get("tenant"):
            await self._forget_caches(tenant)
        if "ended" in what:
            self._wanted.set()

    async def _missed(self) -> None:
        ended = self._turns.ended
        for start in range(0, len(ended), SLICE_TURNS):
            self._turns.forget(await self._store.deleted_turns(ended[start : start + SLICE_TURNS]))
