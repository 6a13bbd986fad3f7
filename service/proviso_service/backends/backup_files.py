"""The files of a backup, and the manifest that names them with their hashes.

```
manifest.json             what there is, with its hashes
manifest.json.sha256      the manifest's own hash, as `sha256sum` writes it
state/service/sqlite3     the state at one moment
originals/<tenant>/<id>   the uploaded bytes of each document of that state
```
Where originals are sealed, the state is in parts, one for each tenant, and all is sealed with the key of its tenant:
```
state/<tenant>/sqlite3_sealed
originals/<tenant>/<id>_sealed
```
"""

import asyncio
import hashlib
import os
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from proviso_service.backends.blobs.folder import FolderBlobStore, move, sync
from proviso_service.matters import BlobStore

if TYPE_CHECKING:
    from proviso_service.backends.sealing.tenant_keys import TenantKeys

MANIFEST = "manifest.json"
MANIFEST_HASH = "manifest.json.sha256"
STATE = ("service", "sqlite3")
"""Tenant and key of the state among the files of a backup. A part of it has the tenant whose rows it holds."""

PIECE_BYTES = 1024 * 1024


class BackupFailed(Exception):
    """The backup could not be made or restored; the message says why in one line."""


class Entry(BaseModel):
    """A file of a backup. The hash and the size are those of the file, sealed or not."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tenant: str
    key: str
    sha256: str
    size_bytes: int


class Manifest(BaseModel):
    """What a backup holds: the state, or its parts where they are sealed. `damaged` are the ids of documents whose
    original was missing or damaged already, `without_key` the tenants of whom nothing is there, because their key was
    destroyed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    create_time: datetime
    state: Entry | None = None
    parts: tuple[Entry, ...] = ()
    originals: tuple[Entry, ...]
    damaged: tuple[str, ...] = ()
    without_key: tuple[str, ...] = ()

    @property
    def size_bytes(self) -> int:
        entries = (*self.originals, *self.parts, *([self.state] if self.state else []))
        return sum(entry.size_bytes for entry in entries)

    def original_of(self, entry: Entry) -> tuple[str, str]:
        """The tenant and the id of the document whose original this is."""
        return entry.tenant, entry.key if self.state else entry.key.removesuffix(sealed_key(""))


@dataclass(frozen=True, slots=True)
class BackupFiles:
    """The files of the backup in a folder. `keys` seal and open them; None where they are not sealed."""

    state: FolderBlobStore
    originals: FolderBlobStore
    keys: "TenantKeys | None"

    @classmethod
    def of(cls, folder: Path, keys: "TenantKeys | None") -> Self:
        return cls(FolderBlobStore(folder / "state"), FolderBlobStore(folder / "originals"), keys)

    async def open(self) -> None:
        """Makes the folders; only for a backup that is being made."""
        await self.state.open()
        await self.originals.open()

    async def put(self, store: FolderBlobStore, tenant: str, key: str, pieces: AsyncGenerator[bytes, None]) -> Entry:
        """Stores the pieces as a file of the backup. Raises KeyDestroyed."""
        if self.keys is None:
            return await put(store, tenant, key, pieces)
        from proviso_service.backends.sealing.blobs import SealedBlobs

        await SealedBlobs(store, self.keys).put(tenant, key, pieces)
        sha256, size = hashlib.sha256(), 0
        async for piece in store.pieces(tenant, sealed_key(key)):
            sha256.update(piece)
            size += len(piece)
        return Entry(tenant=tenant, key=sealed_key(key), sha256=sha256.hexdigest(), size_bytes=size)

    async def part(self, entry: Entry) -> AsyncGenerator[bytes, None]:
        """Yields what is in a sealed part of the state. Raises BackupFailed, KeyDestroyed and UnusableKeys."""
        from proviso_service.backends.sealing.blobs import SealedBlobs

        if self.keys is None:
            raise BackupFailed("The backup is sealed: PROVISO_STORAGE__SEAL_KEYS has to name its master key")
        if entry.tenant not in await asyncio.to_thread(self.keys.tenants):
            raise BackupFailed(f"The key of tenant {entry.tenant!r} is not in {self.keys}: put `secrets` back first")
        await asyncio.to_thread(self.keys.for_opening, entry.tenant)
        async for _ in checked(self.state, entry):
            pass
        async for piece in SealedBlobs(self.state, self.keys).pieces(entry.tenant, STATE[1]):
            yield piece


def sealed_key(key: str) -> str:
    """What a file of a backup is called once it is sealed."""
    from proviso_service.backends.sealing.blobs import SEALED

    return key + SEALED


async def put(store: BlobStore, tenant: str, key: str, pieces: AsyncGenerator[bytes, None]) -> Entry:
    """Stores the pieces as they are, and returns their hash and size."""
    sha256, size = hashlib.sha256(), 0

    async def counted() -> AsyncIterator[bytes]:
        nonlocal size
        async for piece in pieces:
            sha256.update(piece)
            size += len(piece)
            yield piece

    await store.put(tenant, key, counted())
    return Entry(tenant=tenant, key=key, sha256=sha256.hexdigest(), size_bytes=size)


async def checked(store: FolderBlobStore, entry: Entry) -> AsyncGenerator[bytes, None]:
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


async def file_pieces(file: Path) -> AsyncGenerator[bytes, None]:
    with await asyncio.to_thread(file.open, "rb") as opened:
        while piece := await asyncio.to_thread(opened.read, PIECE_BYTES):
            yield piece


async def write_file(file: Path, pieces: AsyncGenerator[bytes, None]) -> None:
    with await asyncio.to_thread(file.open, "wb") as opened:
        async for piece in pieces:
            await asyncio.to_thread(opened.write, piece)
        opened.flush()
        await asyncio.to_thread(os.fsync, opened.fileno())


def manifest_of(source: Path) -> Manifest:
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


def finish(unfinished: Path, destination: Path, manifest: Manifest) -> None:
    """Writes the manifest and gives the folder its name, each durably."""
    written = manifest.model_dump_json(indent=1).encode()
    for name, content in ((MANIFEST, written), (MANIFEST_HASH, _hash_line(written))):
        (unfinished / name).write_bytes(content)
        sync(unfinished / name)
    move(unfinished, destination)


def _hash_line(manifest: bytes) -> bytes:
    return f"{hashlib.sha256(manifest).hexdigest()}  {MANIFEST}\n".encode()
