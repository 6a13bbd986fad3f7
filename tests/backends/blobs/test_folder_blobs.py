import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest

from proviso_service.backends.blobs.folder import FolderBlobStore
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
