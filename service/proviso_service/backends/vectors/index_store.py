"""ChromaIndexStore keeps generations of the index in one folder: each in a folder of its own, and a file names the
current one.

```
vectors/current           the name of the current generation
vectors/generation-3/     layout.json, and the files of Chroma
```
Earlier versions kept one index in `vectors` itself. It is not used any more: the index is rebuilt from the database.
"""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from uuid import UUID

from proviso_service.backends.vectors.chroma import BATCH_RECORDS, BATCH_RECORDS_UNSEARCHED, ChromaIndex, VectorLayout
from proviso_service.matters import IndexFailed, OpenIndex

CURRENT = "current"
LAYOUT = "layout.json"
PREFIX = "generation-"
_OLD_FILES = ("chroma.sqlite3", "chroma.sqlite3-wal", "chroma.sqlite3-shm", "chroma.sqlite3-journal", LAYOUT)


class ChromaIndexStore:
    """An IndexStore in a folder, which one process at a time may use."""

    def __init__(self, folder: Path, layout: VectorLayout) -> None:
        self._folder = folder.absolute()
        self._layout = layout

    async def open_current(self) -> ChromaIndex:
        return await ChromaIndex.open(await asyncio.to_thread(self.current), self._layout)

    async def build(self) -> ChromaIndex:
        index = await ChromaIndex.open(await asyncio.to_thread(self._make), self._layout)
        index.batch_records = BATCH_RECORDS_UNSEARCHED
        return index

    async def make_current(self, index: OpenIndex) -> None:
        if not isinstance(index, ChromaIndex):
            raise TypeError(f"{index!r} is not of this store")
        index.batch_records = BATCH_RECORDS
        await asyncio.to_thread(_write, self._folder / CURRENT, index.folder.name)

    async def remove_others(self) -> None:
        await asyncio.to_thread(self._clear)

    def current(self) -> Path:
        """The folder of the current generation. Raises IndexFailed when there is none of this layout."""
        name = _read(self._folder / CURRENT)
        if name is None:
            old = (self._folder / _OLD_FILES[0]).exists()
            raise IndexFailed("is of an earlier version" if old else "is missing")
        if not (name.startswith(PREFIX) and name.removeprefix(PREFIX).isdecimal()):
            raise IndexFailed("does not say which generation is the current one")
        layout = _read(self._folder / name / LAYOUT)
        if layout is None:
            raise IndexFailed("has lost its current generation")
        if layout != self._note():
            raise IndexFailed("was made by another model, or with other settings or another version")
        return self._folder / name

    def _make(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        numbers = [int(found.name.removeprefix(PREFIX)) for found in self._generations()]
        made = self._folder / f"{PREFIX}{max(numbers, default=0) + 1}"
        made.mkdir(mode=0o700)
        _write(made / LAYOUT, self._note())
        return made

    def _clear(self) -> None:
        """Removes the other generations and the files of earlier versions. Any other file stays: a person may have put
        it here."""
        current = _read(self._folder / CURRENT)
        for found in self._generations():
            if found.name != current:
                shutil.rmtree(found, ignore_errors=True)
        for found in self._folder.iterdir() if self._folder.is_dir() else ():
            if found.is_dir() and _is_uuid(found.name):
                shutil.rmtree(found, ignore_errors=True)
        for name in _OLD_FILES:
            (self._folder / name).unlink(missing_ok=True)

    def _generations(self) -> Iterator[Path]:
        for found in self._folder.glob(f"{PREFIX}*"):
            if found.name.removeprefix(PREFIX).isdecimal() and found.is_dir():
                yield found

    def _note(self) -> str:
        return json.dumps(asdict(self._layout))


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _write(path: Path, text: str) -> None:
    """Replaces the file atomically, and waits until it is on the disk."""
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _is_uuid(name: str) -> bool:
    try:
        UUID(name)
    except ValueError:
        return False
    return True
