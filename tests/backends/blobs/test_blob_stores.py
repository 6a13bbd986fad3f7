"""What every BlobStore promises: a folder, an S3 store, and both sealed."""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from proviso_service.backends.blobs.folder import WRITE_BYTES, FolderBlobStore
from proviso_service.backends.blobs.s3 import PART_BYTES, READ_BYTES, S3BlobStore
from proviso_service.backends.sealing.blobs import SEALED, SealedBlobs
from proviso_service.backends.sealing.key_file import KeyFile
from proviso_service.backends.sealing.tenant_keys import TenantKeys
from proviso_service.matters import PIECE_BYTES
from tests.support.s3_server import PREFIX, Bucket


@dataclass
class Place:
    """A store, and what lies where it keeps its blobs."""

    blobs: FolderBlobStore | S3BlobStore | SealedBlobs
    paths: Callable[[], list[str]]

    def holds(self) -> list[str]:
        """The places of blobs; where they are sealed is not told."""
        return sorted(path.removesuffix(SEALED) for path in self.paths())


@pytest.fixture(params=["folder", "S3", "sealed folder", "sealed S3"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if "S3" in request.param:
        bucket: Bucket = request.getfixturevalue("bucket")
        plain: FolderBlobStore | S3BlobStore = S3BlobStore(bucket.url)
        found = Place(plain, lambda: [path.removeprefix(f"{PREFIX}/") for path in bucket.objects()])
    else:
        root = tmp_path / "blobs"
        plain = FolderBlobStore(root)
        found = Place(plain, lambda: [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()])
    if "sealed" in request.param:
        master = KeyFile(tmp_path / "master.key")
        master.make()
        found.blobs = SealedBlobs(plain, TenantKeys(tmp_path / "keys", master))
    await found.blobs.open()
    return found


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (b"",),
        (b"a", b"", b"bc"),
        (b"x" * (WRITE_BYTES - 1), b"yz"),
        (b"x" * READ_BYTES, b"y" * PART_BYTES, b"z" * (PART_BYTES - READ_BYTES)),
        (b"x" * (3 * PART_BYTES + 7),),
    ],
    ids=["nothing", "empty", "small", "around the buffer", "two parts", "large"],
)
async def test_what_was_put_is_what_one_gets(place: Place, parts: tuple[bytes, ...]) -> None:
    await place.blobs.put("acme", "key-1", pieces(*parts))
    assert await place.blobs.get("acme", "key-1") == b"".join(parts)
    read = [piece async for piece in place.blobs.pieces("acme", "key-1")]
    assert b"".join(read) == b"".join(parts)
    assert max(map(len, read), default=0) <= PIECE_BYTES


async def test_a_part_of_a_blob_is_read(place: Place) -> None:
    await place.blobs.put("acme", "key", pieces(b"0123456789"))
    assert [piece async for piece in place.blobs.pieces("acme", "key", 3, 7)] == [b"3456"]
    assert [piece async for piece in place.blobs.pieces("acme", "key", 8, 100)] == [b"89"]
    assert [piece async for piece in place.blobs.pieces("acme", "key", 10, 11)] == []
    assert [piece async for piece in place.blobs.pieces("acme", "key", 11)] == []
    with pytest.raises(KeyError):
        await anext(place.blobs.pieces("other", "key"))


async def test_putting_again_replaces(place: Place) -> None:
    await place.blobs.put("acme", "key", pieces(b"first"))
    await place.blobs.put("acme", "key", pieces(b"second"))
    assert await place.blobs.get("acme", "key") == b"second"
    assert place.holds() == ["acme/key"]


async def test_a_blob_belongs_to_its_tenant(place: Place) -> None:
    await place.blobs.put("acme", "key", pieces(b"ours"))
    await place.blobs.put("other", "key", pieces(b"theirs"))
    await place.blobs.delete("other", "key")
    assert await place.blobs.get("acme", "key") == b"ours"
    with pytest.raises(KeyError):
        await place.blobs.get("other", "key")


async def test_deleting_what_is_absent_changes_nothing(place: Place) -> None:
    await place.blobs.put("acme", "key", pieces(b"kept"))
    await place.blobs.delete("acme", "absent")
    await place.blobs.delete("nobody", "key")
    assert await place.blobs.get("acme", "key") == b"kept"


TENANTS = ["acme", "ACME", "Acme", "..", ".", "", "a/b", "../acme", ".incoming", "~acme", "a\0b", "😀", "x" * 500, "a "]
KEYS = ["", ".", "..", "../key", "/etc/passwd", "a/b", "a\\b", ".hidden", "a.b", "key\n", "é", "a\0", "-a", "k" * 201]


async def test_any_tenant_has_a_folder_of_its_own_inside_the_root(place: Place) -> None:
    for tenant in TENANTS:
        await place.blobs.put(tenant, "key", pieces(tenant.encode()))
    for tenant in TENANTS:
        assert await place.blobs.get(tenant, "key") == tenant.encode()
    folders = {name.partition("/")[0].lower() for name in place.holds()}
    assert len(folders) == len(TENANTS)
    assert all(re.fullmatch(r"[a-z0-9~][a-z0-9]*/key", name) for name in place.holds())


@pytest.mark.parametrize("key", KEYS)
async def test_keys_that_could_leave_the_folder_are_refused(place: Place, key: str) -> None:
    with pytest.raises(ValueError, match="blob key"):
        await place.blobs.put("acme", key, pieces(b"evil"))
    with pytest.raises(ValueError, match="blob key"):
        await place.blobs.get("acme", key)
    with pytest.raises(ValueError, match="blob key"):
        await place.blobs.delete("acme", key)
    assert place.holds() == []


async def test_an_upload_that_breaks_off_leaves_nothing(place: Place) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * (2 * PART_BYTES)
        raise ConnectionError

    await place.blobs.put("acme", "earlier", pieces(b"kept"))
    with pytest.raises(ConnectionError):
        await place.blobs.put("acme", "key", broken())
    assert place.holds() == ["acme/earlier"]


async def test_nothing_is_visible_while_an_upload_goes_on(place: Place) -> None:
    async def watched() -> AsyncIterator[bytes]:
        yield b"x" * (2 * PART_BYTES)
        with pytest.raises(KeyError):
            await place.blobs.get("acme", "key")
        yield b"end"

    await place.blobs.put("acme", "key", watched())
    assert place.holds() == ["acme/key"]
