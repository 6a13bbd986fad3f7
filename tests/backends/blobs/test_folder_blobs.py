import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest

from proviso_service.backends.blobs.folder import WRITE_BYTES, FolderBlobStore
from proviso_service.concurrency import run_to_end
from proviso_service.errors import Unavailable


@pytest.fixture
async def blobs(tmp_path: Path) -> FolderBlobStore:
    store = FolderBlobStore(tmp_path / "blobs")
    await store.open()
    return store


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root / "blobs")) for path in (root / "blobs").rglob("*") if path.is_file())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "parts",
    [(), (b"",), (b"a", b"", b"bc"), (b"x" * (WRITE_BYTES - 1), b"yz"), (b"x" * (3 * WRITE_BYTES + 7),)],
    ids=["nothing", "empty", "small", "around the buffer", "large"],
)
async def test_what_was_put_is_what_one_gets(blobs: FolderBlobStore, parts: tuple[bytes, ...]) -> None:
    await blobs.put("acme", "key-1", pieces(*parts))
    assert await blobs.get("acme", "key-1") == b"".join(parts)


async def test_a_part_of_a_blob_is_read(blobs: FolderBlobStore) -> None:
    await blobs.put("acme", "key", pieces(b"0123456789"))
    assert [piece async for piece in blobs.pieces("acme", "key", 3, 7)] == [b"3456"]
    assert [piece async for piece in blobs.pieces("acme", "key", 8, 100)] == [b"89"]
    assert [piece async for piece in blobs.pieces("acme", "key", 10, 11)] == []
    with pytest.raises(KeyError):
        await anext(blobs.pieces("other", "key"))


async def test_putting_again_replaces(blobs: FolderBlobStore, tmp_path: Path) -> None:
    await blobs.put("acme", "key", pieces(b"first"))
    await blobs.put("acme", "key", pieces(b"second"))
    assert await blobs.get("acme", "key") == b"second"
    assert files(tmp_path) == ["acme/key"]


async def test_a_blob_belongs_to_its_tenant(blobs: FolderBlobStore) -> None:
    await blobs.put("acme", "key", pieces(b"ours"))
    await blobs.put("other", "key", pieces(b"theirs"))
    await blobs.delete("other", "key")
    assert await blobs.get("acme", "key") == b"ours"
    with pytest.raises(KeyError):
        await blobs.get("other", "key")


async def test_deleting_what_is_absent_changes_nothing(blobs: FolderBlobStore) -> None:
    await blobs.put("acme", "key", pieces(b"kept"))
    await blobs.delete("acme", "absent")
    await blobs.delete("nobody", "key")
    assert await blobs.get("acme", "key") == b"kept"


TENANTS = ["acme", "ACME", "Acme", "..", ".", "", "a/b", "../acme", ".incoming", "~acme", "a\0b", "😀", "x" * 500, "a "]
KEYS = ["", ".", "..", "../key", "/etc/passwd", "a/b", "a\\b", ".hidden", "a.b", "key\n", "é", "a\0", "-a", "k" * 201]


async def test_any_tenant_has_a_folder_of_its_own_inside_the_root(blobs: FolderBlobStore, tmp_path: Path) -> None:
    for tenant in TENANTS:
        await blobs.put(tenant, "key", pieces(tenant.encode()))
    for tenant in TENANTS:
        assert await blobs.get(tenant, "key") == tenant.encode()
    folders = {name.partition("/")[0].lower() for name in files(tmp_path)}
    assert len(folders) == len(TENANTS)
    assert names(tmp_path) == ["blobs"]


@pytest.mark.parametrize(
    "key",
    ["", ".", "..", "../key", "/etc/passwd", "a/b", "a\\b", ".hidden", "a.b", "key\n", "é", "a\0", "-a", "k" * 201],
)
async def test_keys_that_could_leave_the_folder_are_refused(blobs: FolderBlobStore, tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="blob key"):
        await blobs.put("acme", key, pieces(b"evil"))
    with pytest.raises(ValueError, match="blob key"):
        await blobs.get("acme", key)
    with pytest.raises(ValueError, match="blob key"):
        await blobs.delete("acme", key)
    assert files(tmp_path) == []


async def test_an_upload_that_breaks_off_leaves_nothing(blobs: FolderBlobStore, tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * (2 * WRITE_BYTES)
        raise ConnectionError

    await blobs.put("acme", "earlier", pieces(b"kept"))
    with pytest.raises(ConnectionError):
        await blobs.put("acme", "key", broken())
    assert files(tmp_path) == ["acme/earlier"]


async def test_nothing_is_visible_while_an_upload_goes_on(blobs: FolderBlobStore, tmp_path: Path) -> None:
    async def watched() -> AsyncIterator[bytes]:
        yield b"x" * (2 * WRITE_BYTES)
        with pytest.raises(KeyError):
            await blobs.get("acme", "key")
        yield b"end"

    await blobs.put("acme", "key", watched())
    assert files(tmp_path) == ["acme/key"]


@pytest.mark.parametrize("step", range(1, 4))
async def test_a_cancelled_upload_leaves_nothing_whenever_it_is_cancelled(
    monkeypatch: pytest.MonkeyPatch, blobs: FolderBlobStore, tmp_path: Path, step: int
) -> None:
    """The steps of an upload are to write, to sync and to rename."""
    steps = 0

    async def settled_under_cancellation(work: Coroutine[Any, Any, Any]) -> Any:
        nonlocal steps
        steps += 1
        if steps == step:
            current = asyncio.current_task()
            assert current is not None
            current.cancel()
        return await run_to_end(work)

    monkeypatch.setattr("proviso_service.backends.blobs.folder.run_to_end", settled_under_cancellation)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.ensure_future(blobs.put("acme", "key", pieces(b"bytes")))
    assert files(tmp_path) == []


async def test_opening_clears_away_what_was_left_half_written(tmp_path: Path) -> None:
    store = FolderBlobStore(tmp_path / "blobs")
    await store.open()
    await store.put("acme", "key", pieces(b"kept"))
    (tmp_path / "blobs" / ".incoming" / "leftover").write_bytes(b"half")
    await FolderBlobStore(tmp_path / "blobs").open()
    assert files(tmp_path) == ["acme/key"]


async def test_a_disk_that_fails_is_unavailable_and_names_no_path(blobs: FolderBlobStore, tmp_path: Path) -> None:
    (tmp_path / "blobs" / "acme").write_text("a file where the tenant's folder should be")
    with pytest.raises(Unavailable) as failure:
        await blobs.put("acme", "key", pieces(b"bytes"))
    assert "acme" not in failure.value.message
    assert files(tmp_path) == ["acme"]


async def test_a_blob_is_synced_before_and_its_folder_after_it_gets_its_name(
    monkeypatch: pytest.MonkeyPatch, blobs: FolderBlobStore, tmp_path: Path
) -> None:
    synced: list[tuple[str, list[str]]] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().relative_to(tmp_path / "blobs")
        synced.append((str(name).partition("/")[0], files(tmp_path)))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    await blobs.put("acme", "key", pieces(b"bytes"))
    assert [place for place, _ in synced] == [".incoming", ".", "acme"]
    assert synced[-1][1] == ["acme/key"]
