"""Leases: how replicas know that a turn's owner is alive."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from proviso_service.turns.ports import TurnStore
from proviso_service.turns.store_calls import within

_logger = logging.getLogger(__name__)

_RENEWALS_PER_LEASE = 3
_NOBODY = ""


class LeaseKeeper:
    """Renews the leases of this process's turns three times in each lease, and once in each lease closes the turns of
    owners that no longer renew theirs."""

    def __init__(self, store: TurnStore, owner: str, lease_s: float, running: Callable[[], list[str]]) -> None:
        self._store = store
        self._owner = owner
        self._lease_s = lease_s
        self._running = running
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Closes what an earlier life of this owner left, and starts the keeper's task."""
        await within(self._lease_s, self._close_interrupted(self._owner))
        self._task = asyncio.create_task(self._keep(), name="turn leases")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        period_s = self._lease_s / _RENEWALS_PER_LEASE
        due, renewals = loop.time(), 0
        while True:
            due = max(due + period_s, loop.time())
            await asyncio.sleep(due - loop.time())
            await self._attempt(self._renew())
            renewals += 1
            if renewals % _RENEWALS_PER_LEASE == 0:
                await self._attempt(self._close_interrupted(_NOBODY))

    async def _attempt(self, work: Awaitable[None]) -> None:
        """A failure is logged and met again, or not, at the next round."""
        try:
            await within(self._lease_s / _RENEWALS_PER_LEASE, work)
        except Exception:
            _logger.exception("turn leases could not be kept")

    async def _renew(self) -> None:
        if turn_ids := self._running():
            await self._store.renew(self._owner, turn_ids, self._lease_s)

    async def _close_interrupted(self, owner: str) -> None:
        closed = await self._store.close_interrupted(owner)
        if closed:
            _logger.warning("closed %d turns whose process is gone", closed)
