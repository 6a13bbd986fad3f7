"""FolderLock lets only one process use a data folder, StateLock a state database, and BlobsLock a folder of uploaded
files, where these lie elsewhere.

Two processes that write the embedded vector index corrupt it (this was measured), and the second of two that share a
state ends the turns of the first, so a second process must not start.
"""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

LOCK_FILE = "proviso.lock"


class DataFolderError(Exception):
    """The data folder, or the state, cannot be used. The message tells the operator why."""


class FolderInUse(DataFolderError):
    """Another process uses what `place` names; `pid` is its process id, None when it has not written it into the file
    yet."""

    def __init__(self, place: str, pid: int | None) -> None:
        holder = f"process {pid}" if pid is not None else "another process"
        super().__init__(f"{place} is in use by {holder}; stop it or choose another")
        self.pid = pid


class FolderUnusable(DataFolderError):
    """What `place` names cannot be created, written or locked."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place} cannot be used: {reason}")


class FolderLock:
    """An exclusive lock on a folder, which is created when absent. The system releases it when the process dies."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / LOCK_FILE
        self._place = f"The data folder {folder}"
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Takes the lock without waiting. Raises FolderInUse or FolderUnusable."""
        try:
            self._make_folder()
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise FolderUnusable(self._place, error.strerror or str(error)) from error
        try:
            self._lock(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def release(self) -> None:
        """Releases the lock. The lock file stays: if it were deleted, two processes could hold locks on two files of
        one name."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _make_folder(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _lock(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        except BlockingIOError:
            raise FolderInUse(self._place, _holder(descriptor)) from None
        except OSError as error:
            raise FolderUnusable(self._place, error.strerror or str(error)) from error


class StateLock(FolderLock):
    """An exclusive lock on a state database, in a file beside it. The folder has to be there: one that is made in the
    place of a disk that is not mounted would hide the state that there is."""

    def __init__(self, state: Path) -> None:
        super().__init__(state.parent)
        file = state.resolve()
        self._file = file.with_name(f"{file.name}.lock")
        self._place = f"The state {state}"

    def _make_folder(self) -> None: ...


class BlobsLock(StateLock):
    """An exclusive lock on a folder of uploaded files, in a file beside it: a process clears away at its start what it
    finds unfinished there."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._place = f"The folder of uploaded files {folder}"


def _holder(descriptor: int) -> int | None:
    written = os.pread(descriptor, 20, 0)
    return int(written) if written.isdigit() else None
