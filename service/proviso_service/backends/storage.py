"""Keeps watch over the storage: its locks, its faults and their end, and the checks that run at night."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from datetime import datetime, timedelta
from pathlib import Path

import structlog
from sqlalchemy import Connection, text

from proviso_service.backends.folder_lock import BlobsLock, FolderLock, StateLock
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.integrity import UnusableState, damage_of
from proviso_service.backends.sql.snapshot import remove_forgotten_snapshot
from proviso_service.backends.storage_health import StorageFault, StorageHealth
from proviso_service.errors import ProvisoError, Unavailable
from proviso_service.matters import BlobStore, MatterStore, check_originals
from proviso_service.retrying import Backoff

PROBES = Backoff(first_s=1.0, longest_s=60.0)
"""How long to wait before looking whether a fault is over."""

NIGHT_HOUR = 3
"""The hour of the nightly checks, in local time."""

LONGEST_SLEEP_S = 600.0
"""The clock is looked at so often, because it may be set."""

ORIGINALS_BYTES_PER_S = 16e6
"""How fast originals are read at night, so that the disk stays free for others."""

SMALL_BYTES = 256 * 1024 * 1024
"""The largest state that is rewritten at any time of the day: it takes two or three seconds."""

COPIES = 2
"""While it is rewritten the state is there three times: as it was, as a copy, and in the write-ahead log."""

ROOM_BYTES = 64 * 1024 * 1024
"""What is left of the disk for others meanwhile."""

Tell = Callable[[bool], Awaitable[None]]

_log = structlog.get_logger(__name__)


@contextmanager
def locked(data_dir: Path, state: Path | None, blobs: Path | None = None) -> Iterator[None]:
    """Owns the data folder, the state where it is a file, and the folder of uploaded files where that lies elsewhere,
    while the context is open. Raises DataFolderError."""
    with (
        FolderLock(data_dir),
        StateLock(state) if state else nullcontext(),
        BlobsLock(blobs) if blobs else nullcontext(),
    ):
        if state:
            remove_forgotten_snapshot(state)
        yield


class StorageKeeper:
    """Tells whether the storage is sound, looks whether its faults are over, and checks it every night. `state` is the
    file of the state; None where a server has it, whose own affair its files are."""

    def __init__(
        self,
        state: Path | None,
        database: Database,
        store: MatterStore,
        blobs: BlobStore,
        health: StorageHealth,
    ) -> None:
        self._state = state
        self._database = database
        self._store = store
        self._blobs = blobs
        self.health = health

    @asynccontextmanager
    async def keeping(self, tell: Tell) -> AsyncIterator[None]:
        """Keeps watch while the context is open. `tell` is called with whether the storage is sound: once at the
        beginning, and whenever that changes."""
        reserve = self.health.reserve
        if reserve and not await asyncio.to_thread(reserve.make):
            self.health.found(StorageFault.FULL)
        await tell(not self.health.faults)
        tasks = [asyncio.create_task(work) for work in (self._watch(tell), self._check_nightly())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            if reserve:
                await asyncio.to_thread(reserve.release)

    async def check(self) -> None:
        """Reads every page of the state and every original, and says in one log line what is wrong."""
        try:
            damage = await asyncio.to_thread(damage_of, self._state) if self._state else ""
            found = await check_originals(self._store, self._blobs, ORIGINALS_BYTES_PER_S)
        except (sqlite3.Error, ProvisoError, OSError) as error:
            _log.warning("storage_check_failed", failure=repr(error))
            return
        if damage:
            self.health.found(StorageFault.DAMAGED, damage)
        if found.damaged:
            first = {one.document_id: one.problem for one in found.first}
            _log.error("originals_damaged", damaged=found.damaged, checked=found.checked, first=first)
        _log.info("storage_checked", originals=found.checked)

    async def compact(self) -> bool:
        """Rewrites the state, so that its file holds nothing but its rows. A large one is rewritten at night only,
        because writes wait for it: returns False at other times. Raises Unavailable when the disk has no room for
        it."""
        if self._state is None:
            return True
        size = self._state.stat().st_size
        if size > SMALL_BYTES and _now().hour != NIGHT_HOUR:
            return False
        if shutil.disk_usage(self._state.parent).free < COPIES * size + ROOM_BYTES:
            raise Unavailable("The disk has no room to rewrite the state")
        await self._database.compact()
        return True

    async def _watch(self, tell: Tell) -> None:
        tries = 0
        while True:
            if self.health.faults:
                tries += 1
                await asyncio.sleep(PROBES.pause_s(tries))
                for fault in self.health.faults:
                    await self._probe(fault)
            else:
                tries = 0
                await self.health.until_changed()
            await tell(not self.health.faults)

    async def _probe(self, fault: StorageFault) -> None:
        """Looks whether a fault is over."""
        try:
            match fault:
                case _ if self._state is None:
                    await self._database.hold_again()
                    await self._database.write(_write_anything)
                    self.health.over(fault)
                case StorageFault.FULL:
                    reserve = self.health.reserve
                    if not reserve or await asyncio.to_thread(reserve.make_with_room):
                        self.health.over(fault)
                case StorageFault.UNREADABLE:
                    await self._database.write(_write_anything)
                    self.health.over(fault)
                case StorageFault.DAMAGED:
                    if not await asyncio.to_thread(damage_of, self._state):
                        self.health.over(fault)
        except (sqlite3.Error, ProvisoError, UnusableState, OSError):
            return  # not over yet

    async def _check_nightly(self) -> None:
        due = next_night(_now())
        while True:
            left_s = (due - _now()).total_seconds()
            await asyncio.sleep(min(max(left_s, 0.0), LONGEST_SLEEP_S))
            if _now() >= due:
                await self.check()
                due = next_night(_now())


def _now() -> datetime:
    return datetime.now().astimezone()


def next_night(now: datetime) -> datetime:
    """The next moment at which the checks are due."""
    tonight = now.replace(hour=NIGHT_HOUR, minute=0, second=0, microsecond=0)
    return tonight if tonight > now else tonight + timedelta(days=1)


def _write_anything(transaction: Connection) -> None:
    transaction.execute(text("UPDATE alembic_version SET version_num = version_num"))
