"""Backups: a folder with the state, the originals, and a manifest of the hashes of both (see `backup_files.py`).

Vectors are left out: the service builds the index from the state.
"""

import asyncio
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from proviso_service.backends.backup_files import (
    STATE,
    BackupFailed,
    BackupFiles,
    Entry,
    Manifest,
    checked,
    file_pieces,
    finish,
    manifest_of,
    put,
    write_file,
)
from proviso_service.backends.blobs.folder import move
from proviso_service.backends.blobs.port import PlainBlobs
from proviso_service.backends.folder_lock import DataFolderError
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.integrity import UnusableState
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.snapshot import part_of, remove_database, snapshot_of
from proviso_service.backends.sql.tables import UnknownSchema
from proviso_service.backends.sql.tenant_parts import add_part, tenants_in, write_part
from proviso_service.errors import DocumentNotFound, KeyDestroyed, OriginalDamaged, ProvisoError, UnusableKeys
from proviso_service.matters import BlobDamaged, BlobStore, Document, every_document, original_pieces

if TYPE_CHECKING:
    from proviso_service.backends.sealing.tenant_keys import TenantKeys

MAX_SNAPSHOTS = 5


async def back_up(state: Path, blobs: BlobStore, destination: Path, keys: "TenantKeys | None" = None) -> Manifest:
    """Copies the state and its originals into a new folder, also while a service uses them, and seals them where there
    are keys. Raises BackupFailed; then the destination is as it was."""
    if await asyncio.to_thread(_holds_something, destination):
        raise BackupFailed(f"{destination} is not empty: name a new folder")
    unfinished = destination.with_name(f"{destination.name}.unfinished")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        await asyncio.to_thread(unfinished.mkdir, parents=True, mode=0o700)
        files = BackupFiles.of(unfinished, keys)
        await files.open()
        manifest = await _Copying(state, blobs, files).copy()
        await asyncio.to_thread(finish, unfinished, destination, manifest)
    except UnusableKeys as error:
        raise BackupFailed(error.details) from error
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
        self._without_key: set[str] = set()

    async def copy(self) -> Manifest:
        for _ in range(MAX_SNAPSHOTS):
            with snapshot_of(self._state) as copy:
                create_time = datetime.now(UTC)
                known = self._damaged
                self._damaged = set()
                wanted = await self._copy_originals(copy)
                if self._damaged <= known:
                    await self._forget_others(wanted)
                    sealed = self._files.keys is not None
                    return Manifest(
                        create_time=create_time,
                        state=None if sealed else await put(self._files.state, *STATE, file_pieces(copy)),
                        parts=await self._put_parts(copy) if sealed else (),
                        originals=tuple(self._copied.values()),
                        damaged=tuple(sorted(key for _, key in self._damaged)),
                        without_key=tuple(sorted(self._without_key)),
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
            self._copied[name] = await self._files.put(self._files.originals, *name, pieces)
        except KeyDestroyed:
            self._without_key.add(document.tenant)
        except (OriginalDamaged, DocumentNotFound):
            self._damaged.add(name)

    async def _put_parts(self, copy: Path) -> tuple[Entry, ...]:
        """Seals the rows of each tenant with its key."""
        entries, part = [], part_of(copy)
        for tenant in await asyncio.to_thread(tenants_in, copy):
            try:
                await asyncio.to_thread(write_part, copy, tenant, part)
                entries.append(await self._files.put(self._files.state, tenant, STATE[1], file_pieces(part)))
            except KeyDestroyed:
                self._without_key.add(tenant)
            finally:
                remove_database(part)
        return tuple(entries)

    async def _forget_others(self, wanted: set[tuple[str, str]]) -> None:
        for name in self._copied.keys() - wanted:
            entry = self._copied.pop(name)
            await self._files.originals.delete(entry.tenant, entry.key)


async def restore(source: Path, state: Path, blobs: PlainBlobs, keys: "TenantKeys | None" = None) -> Manifest:
    """Puts the state and the originals of a backup in their places, which have to be empty and locked by the caller.
    Every hash is compared, and the state is brought up to date. What is sealed with a key that was destroyed is left
    out, and the manifest that is returned says so. Raises BackupFailed; then nothing was put there."""
    for place in (state, state.with_name(f"{state.name}-wal")):
        if await asyncio.to_thread(_holds_something, place):
            raise BackupFailed(f"{place} is there already: restore into a new data folder")
    manifest = await asyncio.to_thread(manifest_of, source)
    files = BackupFiles.of(source, keys)
    new_state = state.with_name(f"{state.name}.restored")
    try:
        if not await blobs.is_empty():
            raise BackupFailed(f"{blobs} holds uploaded files already: restore into an empty place")
        remove_database(new_state)
        async with blobs.filled() as new_blobs:
            if manifest.state:
                await write_file(new_state, checked(files.state, manifest.state))
            else:
                manifest = await _put_together(new_state, files, manifest)
            for entry in manifest.originals:
                await put(new_blobs, entry.tenant, entry.key, checked(files.originals, entry))
            await _check_state(new_state, manifest)
        await asyncio.to_thread(move, new_state, state)
    except UnusableKeys as error:
        raise BackupFailed(error.details) from error
    except (OSError, sqlite3.Error, ProvisoError, UnusableState, UnknownSchema, ValueError) as error:
        raise BackupFailed(str(error)) from error
    finally:
        remove_database(new_state)
    return manifest


async def _put_together(state: Path, files: BackupFiles, manifest: Manifest) -> Manifest:
    """Makes a state of the parts that can be read. Returns what the backup holds without the others."""
    await _migrate(state)
    part, without_key = part_of(state), set(manifest.without_key)
    for entry in manifest.parts:
        try:
            await write_file(part, files.part(entry))
            await _migrate(part)
            await asyncio.to_thread(add_part, part, entry.tenant, state)
        except KeyDestroyed:
            without_key.add(entry.tenant)
        except BlobDamaged:
            raise BackupFailed(f"The part of tenant {entry.tenant!r} was sealed with another key") from None
        finally:
            remove_database(part)
    return manifest.model_copy(
        update={
            "parts": tuple(entry for entry in manifest.parts if entry.tenant not in without_key),
            "originals": tuple(entry for entry in manifest.originals if entry.tenant not in without_key),
            "without_key": tuple(sorted(without_key)),
        }
    )


async def _migrate(state: Path) -> None:
    database = Database(f"sqlite:///{state}")
    try:
        await database.migrate()
    finally:
        await database.close()


async def _check_state(state: Path, manifest: Manifest) -> None:
    """Checks a restored state, brings it up to date, and compares its documents with the originals that came."""
    database = Database(f"sqlite:///{state}")
    try:
        await database.migrate()
        named = {(document.tenant, document.document_id) async for document in every_document(SqlMatterStore(database))}
    finally:
        await database.close()
    kept = {manifest.original_of(entry) for entry in manifest.originals}
    lacking = {key for _, key in named - kept} - set(manifest.damaged)
    if lacking or kept - named:
        raise BackupFailed("The backup's originals are not those of its state")


def _holds_something(place: Path) -> bool:
    """Whether there is a file, or a folder that is not empty."""
    return place.is_file() or (place.is_dir() and any(place.iterdir()))
