"""What is wrong with the storage at present, and the room that is kept for the work that makes room."""

import asyncio
import errno
import os
import shutil
from enum import StrEnum
from pathlib import Path
from typing import Self

import structlog

from proviso_service.errors import StorageFailed

RESERVE_BYTES = 32 * 1024 * 1024
"""Enough for the write-ahead log of deletions, and of many turns."""

ROOM_BYTES = 64 * 1024 * 1024
"""A disk that was full has to have so much room again before documents are added: that of the largest one."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

_log = structlog.get_logger(__name__)


class StorageFault(StrEnum):
    """What is wrong with the storage."""

    FULL = "full"
    UNREADABLE = "unreadable"
    DAMAGED = "damaged"


_MESSAGES = {
    StorageFault.FULL: "The service's disk is full: nothing can be added until documents are deleted or it gets room",
    StorageFault.UNREADABLE: "The service cannot reach its storage",
    StorageFault.DAMAGED: "The service's storage is damaged: its operator has to restore a backup",
}


class StorageFaultFound(StorageFailed):
    """A read or write failed by a fault of the storage."""

    def __init__(self, fault: StorageFault) -> None:
        super().__init__(_MESSAGES[fault])
        self.fault = fault


class StorageHealth:
    """The faults of the storage. Each is logged once when it begins and once when it is over. For the event loop, but
    for the reserve. `reserve` is None where nothing is kept free."""

    def __init__(self, reserve: "DiskReserve | None" = None) -> None:
        self.reserve = reserve
        self._faults: set[StorageFault] = set()
        self._changed = asyncio.Event()

    @classmethod
    def beside(cls, state: Path) -> Self:
        """The health of a state, with room that is kept for it on its disk."""
        return cls(DiskReserve(state.with_name(f"{state.name}.reserve")))

    @property
    def faults(self) -> frozenset[StorageFault]:
        return frozenset(self._faults)

    def found(self, fault: StorageFault, details: str = "") -> None:
        """Notes a fault; one that is known already changes nothing."""
        if fault not in self._faults:
            self._faults.add(fault)
            _log.error(f"storage_{fault}", details=details)
            self._changed.set()

    def over(self, fault: StorageFault) -> None:
        """Notes the end of a fault, if there was one."""
        if fault in self._faults:
            self._faults.remove(fault)
            _log.warning("storage_recovered", fault=str(fault))
            self._changed.set()

    async def until_changed(self) -> None:
        """Waits for a fault that begins or ends after the last call."""
        await self._changed.wait()
        self._changed.clear()


class DiskReserve:
    """A file that takes room on the disk and is given up when the disk is full, so that documents can be deleted and
    turns can end. Its methods may be called in any thread."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def make(self) -> bool:
        """Makes the file, if it is not there. Returns whether the disk has room for it."""
        try:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
            finally:
                os.close(descriptor)
        except OSError as error:
            self.release()
            return error.errno not in NO_ROOM  # where no file can be reserved, the disk need not be full
        return True

    def make_with_room(self) -> bool:
        """Makes the file, and returns whether there is room for documents beside it."""
        return self.make() and shutil.disk_usage(self._file.parent).free >= ROOM_BYTES

    def release(self) -> bool:
        """Gives the room up. Returns whether there was any."""
        try:
            self._file.unlink()
        except OSError:
            return False
        return True
