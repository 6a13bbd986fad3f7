"""SealedBlobs keeps uploaded bytes sealed, by Tink's streaming AEAD: AES-256-GCM in segments of 1 MB, whose keys are
derived for each file from the key of its tenant. A file opens only in the place of its tenant and key."""

import io
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import IO

import structlog
import tink

from proviso_service.backends.blobs.folder import WRITE_BYTES, blocks_of, in_thread
from proviso_service.backends.blobs.port import PlainBlobs
from proviso_service.backends.sealing.tenant_keys import TenantKeys
from proviso_service.errors import UnusableKeys
from proviso_service.matters import PIECE_BYTES, BlobDamaged

SEALED = "_sealed"
"""What the key of a sealed blob ends in, in the store below."""

_log = structlog.get_logger(__name__)


class SealedBlobs:
    """A BlobStore that seals what it puts into another, and also yields what lies there unsealed, from the time before
    originals were sealed. `unsealed` is the other one alone."""

    def __init__(self, store: PlainBlobs, keys: TenantKeys) -> None:
        self.unsealed = store
        self._keys = keys

    async def open(self) -> None:
        """Makes the other store ready; it must be called first."""
        await self.unsealed.open()

    async def put(self, tenant: str, key: str, pieces: AsyncIterator[bytes]) -> None:
        await self.unsealed.put(tenant, key + SEALED, self._sealed(tenant, key, pieces))

    async def get(self, tenant: str, key: str) -> bytes:
        return b"".join([piece async for piece in self.pieces(tenant, key)])

    async def pieces(
        self, tenant: str, key: str, start: int = 0, end: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        try:
            sealed = await self.unsealed.opened(tenant, key + SEALED)
        except KeyError:
            try:
                async for piece in self.unsealed.pieces(tenant, key, start, end):
                    start += len(piece)
                    yield piece
            except KeyError:
                sealed = await self.unsealed.opened(tenant, key + SEALED)  # sealed meanwhile
            else:
                return
        try:
            opened = await self._opened(tenant, key, sealed)
            left = sys.maxsize if end is None else end - start
            await in_thread(_skip, opened, start)
            while left > 0 and (piece := await in_thread(_read, opened, min(PIECE_BYTES, left))):
                left -= len(piece)
                yield piece
        finally:
            await in_thread(sealed.close)

    async def delete(self, tenant: str, key: str) -> None:
        await self.unsealed.delete(tenant, key + SEALED)
        await self.unsealed.delete(tenant, key)

    async def is_unsealed(self, tenant: str, key: str) -> bool:
        """Whether there are bytes that lie unsealed under a key."""
        return await self.unsealed.holds(tenant, key)

    async def _sealed(self, tenant: str, key: str, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        made = _Gathered()
        try:
            sealer = await in_thread(self._keys.for_sealing, tenant)
        except UnusableKeys as error:
            _log.error("keys_unusable", details=error.details)
            raise
        sealing = await in_thread(sealer.new_encrypting_stream, made, _place(tenant, key))
        async with aclosing(blocks_of(pieces)) as blocks:
            async for block in blocks:
                await in_thread(sealing.write, block)
                yield made.taken()
        await in_thread(sealing.close)
        yield made.taken()

    async def _opened(self, tenant: str, key: str, sealed: IO[bytes]) -> IO[bytes]:
        try:
            opener = await in_thread(self._keys.for_opening, tenant)
        except UnusableKeys as error:
            _log.error("keys_unusable", details=error.details)
            raise
        opened: IO[bytes] = await in_thread(opener.new_decrypting_stream, sealed, _place(tenant, key))
        return opened


class _Gathered(io.RawIOBase):
    """A file in memory of which the content is taken from time to time."""

    def __init__(self) -> None:
        super().__init__()
        self.content = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.content += data
        return len(data)

    def taken(self) -> bytes:
        content = bytes(self.content)
        self.content.clear()
        return content


def _place(tenant: str, key: str) -> bytes:
    return f"{tenant}\0{key}".encode()


def _skip(opened: IO[bytes], size: int) -> None:
    while size > 0 and (piece := _read(opened, min(WRITE_BYTES, size))):
        size -= len(piece)


def _read(opened: IO[bytes], size: int) -> bytes:
    try:
        return opened.read(size)
    except tink.TinkError as error:
        raise BlobDamaged from error
