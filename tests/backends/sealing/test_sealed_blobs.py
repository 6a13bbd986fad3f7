"""SealedBlobs: what is put is what one gets, in any range, and nothing that was changed is taken for it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proviso_service.backends.blobs.folder import FolderBlobStore
from proviso_service.backends.sealing.blobs import SEALED, SealedBlobs
from proviso_service.backends.sealing.key_file import KeyFile
from proviso_service.backends.sealing.tenant_keys import TenantKeys
from proviso_service.errors import KeyDestroyed
from proviso_service.matters import BlobDamaged
from tests.support.matters_world import pieces

MIB = 1024 * 1024
CONTENT = bytes(number % 251 for number in range(2 * MIB + 12_345))


@pytest.fixture
async def blobs(tmp_path: Path) -> SealedBlobs:
    master = KeyFile(tmp_path / "master.key")
    master.make()
    store = SealedBlobs(FolderBlobStore(tmp_path / "blobs"), TenantKeys(tmp_path / "keys", master))
    await store.open()
    return store


async def read(blobs: SealedBlobs, tenant: str, key: str, start: int = 0, end: int | None = None) -> bytes:
    return b"".join([piece async for piece in blobs.pieces(tenant, key, start, end)])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(size=st.integers(0, len(CONTENT)), part=st.tuples(st.integers(0, len(CONTENT)), st.integers(0, len(CONTENT))))
async def test_any_range_of_any_content_is_what_was_put(blobs: SealedBlobs, size: int, part: tuple[int, int]) -> None:
    content = CONTENT[:size]
    await blobs.put("acme", "key", pieces(content, 300_000))
    assert await blobs.get("acme", "key") == content
    assert await read(blobs, "acme", "key", *part) == content[slice(*part)]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
async def test_a_file_that_was_changed_or_cut_anywhere_is_damaged(
    blobs: SealedBlobs, tmp_path: Path, data: st.DataObject
) -> None:
    await blobs.put("acme", "key", pieces(CONTENT, 300_000))
    file = tmp_path / "blobs" / "acme" / f"key{SEALED}"
    sealed = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(sealed) - 1))
    if data.draw(st.booleans()):
        sealed[place] ^= data.draw(st.integers(1, 255))
    else:
        del sealed[place:]
    file.write_bytes(sealed)
    with pytest.raises(BlobDamaged):
        await blobs.get("acme", "key")


async def test_a_file_opens_only_in_its_own_place(blobs: SealedBlobs, tmp_path: Path) -> None:
    folder = tmp_path / "blobs"
    for tenant, key in [("acme", "one"), ("acme", "two"), ("other", "one")]:
        await blobs.put(tenant, key, pieces(f"{tenant} {key}".encode()))
    (folder / "acme" / f"one{SEALED}").replace(folder / "acme" / f"two{SEALED}")
    (folder / "other" / f"one{SEALED}").replace(folder / "acme" / f"one{SEALED}")
    for key in ("one", "two"):
        with pytest.raises(BlobDamaged):
            await blobs.get("acme", key)
    with pytest.raises(KeyError):
        await blobs.get("other", "one")


async def test_an_original_that_is_sealed_while_it_is_read_is_read_to_its_end(
    blobs: SealedBlobs, tmp_path: Path
) -> None:
    await blobs.unsealed.put("acme", "key", pieces(CONTENT, 300_000))
    reading = blobs.pieces("acme", "key", 5)
    first = await anext(reading)
    await blobs.put("acme", "key", pieces(CONTENT, 300_000))
    await blobs.unsealed.delete("acme", "key")
    assert first + b"".join([piece async for piece in reading]) == CONTENT[5:]


async def test_an_upload_that_breaks_off_leaves_nothing(blobs: SealedBlobs, tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield CONTENT
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await blobs.put("acme", "key", broken())
    assert [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == []


async def test_a_key_that_was_destroyed_or_lost_seals_and_opens_nothing(blobs: SealedBlobs, tmp_path: Path) -> None:
    await blobs.put("acme", "key", pieces(b"words"))
    await blobs.put("other", "key", pieces(b"words"))
    keys = TenantKeys(tmp_path / "keys", KeyFile(tmp_path / "master.key"))
    keys.destroy("acme")
    for call in (blobs.get("acme", "key"), blobs.put("acme", "new", pieces(b"new"))):
        with pytest.raises(KeyDestroyed):
            await call
    assert await blobs.get("other", "key") == b"words"
    (tmp_path / "keys" / "other.json").unlink()
    for call in (blobs.get("other", "key"), blobs.put("other", "new", pieces(b"new"))):
        with pytest.raises(KeyDestroyed):
            await call
    assert not (tmp_path / "keys" / "other.json").exists()
