"""Backups: a folder with the state, the originals, and a manifest of the hashes of both.

```
manifest.json             what there is, with its hashes
manifest.json.sha256      the manifest's own hash, as `sha256sum` writes it
state/service/sqlite3     the state at one moment
originals/<tenant>/<id>   the uploaded bytes of each document of that state
```
All bytes go through the two blob stores that `BackupFiles` opens. Vectors are left out: the service builds the index
from the state.
"""

import asyncio
import hashlib
import os
import shutil
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from proviso_service.backends.blobs.folder import FolderBlobStore
from proviso_service.backends.folder_lock import DataFolderError
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.integrity import UnusableState
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.snapshot import remove_database, snapshot_of
from proviso_service.backends.sql.tables import UnknownSchema
from proviso_service.errors import DocumentNotFound, OriginalDamaged, ProvisoError
from proviso_service.matters import BlobStore, Document, every_document, original_pieces

MANIFEST = "manifest.json"
MANIFEST_HASH = "manifest.json.sha256"
STATE = ("service", "sqlite3")
"""Tenant and key of the state among the files of a backup."""

MAX_SNAPSHOTS = 5
PIECE_BYTES = 1024 * 1024


class BackupFailed(Exception):
    """The backup could not be made or restored; the message says why in one line."""


class Entry(BaseModel):
    """A file of a backup. The hash is that of its contents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tenant: str
    key: str
    sha256: str
    size_bytes: int


class Manifest(BaseModel):
    """What a backup holds. `damaged` are the ids of documents whose original was missing or damaged already."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    create_time: datetime
    state: Entry
    originals: tuple[Entry, ...]
    damaged: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int:
        return self.state.size_bytes + sum(entry.size_bytes for entry in self.originals)


@dataclass(frozen=True, slots=True)
class BackupFiles:
    """The files of the backup in a folder. Every byte of a backup is written and read by these two stores."""

    state: FolderBlobStore
    originals: FolderBlobStore

    @classmethod
    def of(cls, folder: Path) -> Self:
        return cls(FolderBlobStore(folder / "state"), FolderBlobStore(folder / "originals"))

    async def open(self) -> None:
        """Makes the folders; only for a backup that is being made."""
        await self.state.open()
        await self.originals.open()


async def back_up(state: Path, blobs: BlobStore, destination: Path) -> Manifest:
    """Copies the state and its originals into a new folder, also while a service uses them. Raises BackupFailed; then
    the destination is as it was."""
    if await asyncio.to_thread(_holds_something, destination):
        raise BackupFailed(f"{destination} is not empty: name a new folder")
    unfinished = destination.with_name(f"{destination.name}.unfinished")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        await asyncio.to_thread(unfinished.mkdir, parents=True, mode=0o700)
        files = BackupFiles.of(unfinished)
        await files.open()
        manifest = await _Copying(state, blobs, files).copy()
        await asyncio.to_thread(_finish, unfinished, destination, manifest)
    except (OSError, sqlite3.Error, ProvisoError, DataFolderError, UnusableState) as error:
        raise BackupFailed(str(error)) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return manifest


class _Copying:
    """Copies until a state and all of its originals are in the backup.

    The state is copied first, because the bytes of a document are stored before its row. A document that is deleted
    before its bytes are copied is not in the next copy of the state; one that is still there has lost its bytes."""

    def __init__(self, state: Path, blobs: BlobStore, files: BackupFiles) -> None:
        self._state = state
        self._blobs = blobs
        self._files = files
        self._copied: dict[tuple[str, str], Entry] = {}
        self._damaged: set[tuple[str, str]] = set()

    async def copy(self) -> Manifest:
        for _ in range(MAX_SNAPSHOTS):
            with snapshot_of(self._state) as copy:
                create_time = datetime.now(UTC)
                known = self._damaged
                self._damaged = set()
                wanted = await self._copy_originals(copy)
                if self._damaged <= known:
                    await self._forget_others(wanted)
                    return Manifest(
                        create_time=create_time,
                        state=await _put(self._files.state, *STATE, _file_pieces(copy)),
                        originals=tuple(self._copied.values()),
                        damaged=tuple(sorted(key for _, key in self._damaged)),
                    )
        raise BackupFailed("Documents were deleted all the time while they were copied: try again")

    async def _copy_originals(self, copy: Path) -> set[tuple[str, str]]:
        """Copies what is not copied yet. Returns what the copy of the state names."""
        wanted: set[tuple[str, str]] = set()
        database = Database(f"sqlite:///{copy}")
        try:
            store = SqlMatterStore(database)
            async for document in every_document(store):
                name = (document.tenant, document.document_id)
                wanted.add(name)
                if name not in self._copied:
                    await self._copy_original(store, document)
        finally:
            await database.close()
        return wanted

    async def _copy_original(self, store: SqlMatterStore, document: Document) -> None:
        name = (document.tenant, document.document_id)
        pieces = original_pieces(store, self._blobs, document, 0, document.size_bytes)
        try:
            self._copied[name] = await _put(self._files.originals, *name, pieces)
        except (OriginalDamaged, DocumentNotFound):
            self._damaged.add(name)

    async def _forget_others(self, wanted: set[tuple[str, str]]) -> None:
        for tenant, key in self._copied.keys() - wanted:
            del self._copied[tenant, key]
            await self._files.originals.delete(tenant, key)


async def restore(source: Path, state: Path, blobs_folder: Path) -> Manifest:
    """Puts the state and the originals of a backup in their places, which have to be empty and locked by the caller.
    Every hash is compared, and the state is brought up to date. Raises BackupFailed; then nothing was put there."""
    for place in (state, state.with_name(f"{state.name}-wal"), blobs_folder):
        if await asyncio.to_thread(_holds_something, place):
            raise BackupFailed(f"{place} is there already: restore into a new data folder")
    manifest = await asyncio.to_thread(_manifest_of, source)
    files = BackupFiles.of(source)
    new_state, new_blobs = (place.with_name(f"{place.name}.restored") for place in (state, blobs_folder))
    try:
        shutil.rmtree(new_blobs, ignore_errors=True)
        blobs = FolderBlobStore(new_blobs)
        await blobs.open()
        for entry in manifest.originals:
            await _put(blobs, entry.tenant, entry.key, _checked(files.originals, entry))
        await _write_file(new_state, _checked(files.state, manifest.state))
        await _check_state(new_state, manifest)
        await asyncio.to_thread(_move, new_blobs, blobs_folder)
        await asyncio.to_thread(_move, new_state, state)
    except (OSError, sqlite3.Error, ProvisoError, UnusableState, UnknownSchema, ValueError) as error:
        raise BackupFailed(str(error)) from error
    finally:
        shutil.rmtree(new_blobs, ignore_errors=True)
        remove_database(new_state)
    return manifest


async def _check_state(state: Path, manifest: Manifest) -> None:
    """Checks a restored state, brings it up to date, and compares its documents with the originals that came."""
    database = Database(f"sqlite:///{state}")
    try:
        await database.migrate()
        named = {(document.tenant, document.document_id) async for document in every_document(SqlMatterStore(database))}
    finally:
        await database.close()
    kept = {(entry.tenant, entry.key) for entry in manifest.originals}
    lacking = {key for _, key in named - kept} - set(manifest.damaged)
    if lacking or kept - named:
        raise BackupFailed("The backup's originals are not those of its state")


async def _put(store: BlobStore, tenant: str, key: str, pieces: AsyncGenerator[bytes, None]) -> Entry:
    """Stores the pieces, and returns their hash and size."""
    sha256, size = hashlib.sha256(), 0

    async def counted() -> AsyncIterator[bytes]:
        nonlocal size
        async for piece in pieces:
            sha256.update(piece)
            size += len(piece)
            yield piece

    await store.put(tenant, key, counted())
    return Entry(tenant=tenant, key=key, sha256=sha256.hexdigest(), size_bytes=size)


async def _checked(store: BlobStore, entry: Entry) -> AsyncGenerator[bytes, None]:
    """Yields a file of a backup. Raises BackupFailed at its end when it is not what was written."""
    sha256 = hashlib.sha256()
    try:
        async for piece in store.pieces(entry.tenant, entry.key):
            sha256.update(piece)
            yield piece
    except KeyError:
        raise BackupFailed(f"The backup lacks its file {entry.key}") from None
    if sha256.hexdigest() != entry.sha256:
        raise BackupFailed(f"The backup's file {entry.key} is damaged")


async def _file_pieces(file: Path) -> AsyncGenerator[bytes, None]:
    with await asyncio.to_thread(file.open, "rb") as opened:
        while piece := await asyncio.to_thread(opened.read, PIECE_BYTES):
            yield piece


async def _write_file(file: Path, pieces: AsyncGenerator[bytes, None]) -> None:
    with await asyncio.to_thread(file.open, "wb") as opened:
        async for piece in pieces:
            await asyncio.to_thread(opened.write, piece)
        opened.flush()
        await asyncio.to_thread(os.fsync, opened.fileno())


def _holds_something(place: Path) -> bool:
    """Whether there is a file, or a folder that is not empty."""
    return place.is_file() or (place.is_dir() and any(place.iterdir()))


def _manifest_of(source: Path) -> Manifest:
    try:
        written = (source / MANIFEST).read_bytes()
        expected = (source / MANIFEST_HASH).read_bytes()
    except FileNotFoundError as error:
        raise BackupFailed(f"{source} is not a whole backup: it has no {Path(str(error.filename)).name}") from None
    if expected != _hash_line(written):
        raise BackupFailed("The backup's manifest is damaged")
    try:
        return Manifest.model_validate_json(written)
    except ValidationError as error:
        raise BackupFailed("The backup was made by a newer version of the service") from error


def _hash_line(manifest: bytes) -> bytes:
    return f"{hashlib.sha256(manifest).hexdigest()}  {MANIFEST}\n".encode()


def _finish(unfinished: Path, destination: Path, manifest: Manifest) -> None:
    """Writes the manifest and gives the folder its name, each durably."""
    written = manifest.model_dump_json(indent=1).encode()
    for name, content in ((MANIFEST, written), (MANIFEST_HASH, _hash_line(written))):
        (unfinished / name).write_bytes(content)
        _sync(unfinished / name)
    _move(unfinished, destination)


def _move(source: Path, target: Path) -> None:
    """Renames a file or folder; an empty folder may be in its place. It is durable when this returns."""
    for folder in (source, target.parent):
        _sync(folder)
    source.replace(target)
    _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
