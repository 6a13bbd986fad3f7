"""FolderBlobStore keeps the bytes of uploaded documents as files in a folder."""

import asyncio
import hashlib
import os
import re
import shutil
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import IO, ParamSpec, TypeVar
from uuid import uuid4

from proviso_service.backends.storage_health import NO_ROOM, StorageFault, StorageFaultFound, StorageHealth
from proviso_service.concurrency import run_to_end
from proviso_service.errors import Unavailable
from proviso_service.matters import PIECE_BYTES

P = ParamSpec("P")
T = TypeVar("T")

WRITE_BYTES = 1024 * 1024
"""Pieces of an upload are collected up to this size before they are written."""

_INCOMING = ".incoming"
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}")
_SAFE_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class FolderBlobStore:
    """A BlobStore in a folder, with one file `root/<tenant>/<key>` for each blob.

    A key has 1 to 200 ASCII letters, digits, `_` and `-`, and starts with a letter or digit. Keys must differ in more
    than their case, since some file systems ignore it. All methods raise ValueError for other keys, and Unavailable
    when the disk fails."""

    def __init__(self, root: Path, health: StorageHealth | None = None) -> None:
        """That the disk is full is told to `health`."""
        self._root = root
        self._incoming = root / _INCOMING
        self._health = health or StorageHealth()

    def __str__(self) -> str:
        return str(self._root)

    async def open(self) -> None:
        """Creates the folder and deletes the unfinished files of an earlier process."""
        await in_thread(_make_empty, self._incoming)

    async def put(self, tenant: str, key: str, pieces: AsyncIterator[bytes]) -> None:
        target = self._path(tenant, key)
        part = self._incoming / uuid4().hex
        try:
            async with aclosing(blocks_of(pieces)) as blocks:
                async for block in blocks:
                    await in_thread(_append, part, block)
            await in_thread(sync, part)
            await _publish(part, target)
        except StorageFaultFound as failure:
            self._health.found(failure.fault, "uploaded files")
            raise
        finally:
            await in_thread(part.unlink, missing_ok=True)

    async def get(self, tenant: str, key: str) -> bytes:
        try:
            return await in_thread(self._path(tenant, key).read_bytes)
        except FileNotFoundError:
            raise KeyError(key) from None

    async def pieces(
        self, tenant: str, key: str, start: int = 0, end: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        path, left = self._path(tenant, key), sys.maxsize if end is None else end - start
        while left > 0:
            try:
                piece = await in_thread(_read, path, start, min(PIECE_BYTES, left))
            except FileNotFoundError:
                raise KeyError(key) from None
            if not piece:
                return
            start, left = start + len(piece), left - len(piece)
            yield piece

    async def opened(self, tenant: str, key: str) -> IO[bytes]:
        try:
            return await in_thread(self._path(tenant, key).open, "rb")
        except FileNotFoundError:
            raise KeyError(key) from None

    async def holds(self, tenant: str, key: str) -> bool:
        return await in_thread(self._path(tenant, key).is_file)

    async def delete(self, tenant: str, key: str) -> None:
        await in_thread(self._path(tenant, key).unlink, missing_ok=True)

    async def is_empty(self) -> bool:
        return not await in_thread(lambda: self._root.is_dir() and any(self._root.iterdir()))

    def folders_with(self, suffix: str, besides: set[str]) -> set[str]:
        if not self._root.is_dir():
            return set()
        folders = [folder for folder in self._root.iterdir() if folder.name not in {_INCOMING, *besides}]
        return {folder.name for folder in folders if any(file.name.endswith(suffix) for file in folder.iterdir())}

    @asynccontextmanager
    async def filled(self) -> AsyncIterator["FolderBlobStore"]:
        """Fills another folder, which then takes the place of this one."""
        other = self._root.with_name(f"{self._root.name}.restored")
        await asyncio.to_thread(shutil.rmtree, other, ignore_errors=True)
        try:
            store = FolderBlobStore(other, self._health)
            await store.open()
            yield store
            await asyncio.to_thread(move, other, self._root)
        finally:
            await asyncio.to_thread(shutil.rmtree, other, ignore_errors=True)

    def _path(self, tenant: str, key: str) -> Path:
        return self._root / blob_path(tenant, key)


def blob_path(tenant: str, key: str) -> str:
    """The place of a blob in its store: the folder of its tenant, and its key. Raises ValueError."""
    if not _KEY.fullmatch(key):
        raise ValueError("a blob key has 1 to 200 letters, digits, '_' and '-'")
    return f"{folder_of(tenant)}/{key}"


def folder_of(tenant: str) -> str:
    """The folder's name for a tenant: the tenant's own name when that is safe as a file name, else `~` and a hash."""
    if _SAFE_TENANT.fullmatch(tenant):
        return tenant
    return "~" + hashlib.sha256(tenant.encode()).hexdigest()


async def blocks_of(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """The same bytes in blocks of at least WRITE_BYTES; the last block may be shorter."""
    gathered = bytearray()
    async for piece in pieces:
        gathered += piece
        if len(gathered) >= WRITE_BYTES:
            yield bytes(gathered)
            gathered.clear()
    yield bytes(gathered)


async def _publish(part: Path, target: Path) -> None:
    try:
        await in_thread(_rename, part, target)
    except asyncio.CancelledError:
        # The cancelled caller assumes that there is no blob, so there must be none.
        await in_thread(target.unlink, missing_ok=True)
        raise


def _make_empty(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for unfinished in folder.iterdir():
        unfinished.unlink()


def _append(part: Path, block: bytes) -> None:
    """Appends a block. The file is closed after each block, so that none stays open when an upload breaks off."""
    with part.open("ab") as file:
        file.write(block)


def _read(path: Path, start: int, size: int) -> bytes:
    """Reads a part. The file is closed after each, so that none stays open when a download breaks off."""
    with path.open("rb") as file:
        file.seek(start)
        return file.read(size)


def _rename(part: Path, target: Path) -> None:
    """Moves the finished file to its place, and syncs the folder: only then does the rename survive a power failure. A
    new folder in turn needs its parent to be synced."""
    if not target.parent.exists():
        target.parent.mkdir(exist_ok=True, mode=0o700)
        sync(target.parent.parent)
    part.replace(target)
    sync(target.parent)


def move(source: Path, target: Path) -> None:
    """Renames a file or folder; an empty folder may be in its place. It is durable when this returns."""
    for folder in (source, target.parent):
        sync(folder)
    source.replace(target)
    sync(target.parent)


def sync(path: Path) -> None:
    """Waits until the contents of a file or folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs the function in a thread, and waits for its end even when cancelled: no two threads may use one file.

    Raises Unavailable when the disk fails, and FileNotFoundError."""
    try:
        return await run_to_end(asyncio.to_thread(function, *args, **kwargs))
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StorageFaultFound(StorageFault.FULL) from error
        raise Unavailable("The service cannot reach its storage") from error
