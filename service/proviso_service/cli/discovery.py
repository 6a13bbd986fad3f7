"""Which files an ingest takes."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from proviso_service.cli.problems import UsageProblem

SUPPORTED = frozenset({".md", ".markdown", ".txt", ".text"})


@dataclass(frozen=True, slots=True)
class Found:
    """Files to upload and files passed over, each once and in order."""

    files: tuple[Path, ...]
    skipped: tuple[Path, ...]


def discover(paths: Iterable[Path]) -> Found:
    """Walks folders, without following links to folders or entering hidden ones. Raises UsageProblem."""
    files: dict[Path, Path] = {}
    skipped: dict[Path, Path] = {}
    for path in paths:
        for file in _files_of(path):
            target = files if file.suffix.lower() in SUPPORTED else skipped
            target.setdefault(file.resolve(), file)
    return Found(tuple(files.values()), tuple(skipped.values()))


def _files_of(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from _walk(path)
    else:
        raise UsageProblem(f"There is no file or folder {path}")


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(parent, name)
            if not name.startswith(".") and file.is_file():
                yield file


def _unreadable(error: OSError) -> None:
    raise UsageProblem(f"Folder {error.filename} cannot be read: {error.strerror}") from error
