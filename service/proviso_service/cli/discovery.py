"""Which files an ingest takes, and into which matters."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proviso_service.cli.client import DOCUMENTATION
from proviso_service.cli.problems import UsageProblem

SUPPORTED = frozenset({".pdf", ".docx", ".html", ".htm", ".md", ".markdown", ".txt", ".text"})


@dataclass(frozen=True, slots=True)
class Found:
    """Files to upload by the name of their matter, and files passed over: each once and in order."""

    files: Mapping[str, tuple[Path, ...]]
    skipped: tuple[Path, ...]

    @property
    def all_files(self) -> tuple[Path, ...]:
        return tuple(path for paths in self.files.values() for path in paths)


def discover(paths: Iterable[Path], matter: str) -> Found:
    """All files for one matter. Walks folders, without following links to folders or entering hidden ones. Raises
    UsageProblem."""
    return _found((matter, file) for path in paths for file in _files_of(path))


def discover_matters(folders: Sequence[Path]) -> Found:
    """A matter for each folder inside `folders`, named as it; files beside them are passed over. Folders of one name
    are one matter. Raises UsageProblem."""
    for folder in folders:
        if not folder.is_dir():
            raise UsageProblem(
                f"With --matter-per-folder, {folder} must be a folder that holds a folder for each matter"
            )
    return _found(
        (file.relative_to(folder).parts[0] if file.parent != folder else "", file)
        for folder in folders
        for file in _walk(folder)
    )


def discover_documentation(paths: Iterable[Path]) -> Found:
    """All files for the documentation, where a file's name says which earlier one it replaces. Raises UsageProblem,
    also for two files of the same name."""
    found = discover(paths, DOCUMENTATION)
    by_name: dict[str, Path] = {}
    for file in found.all_files:
        first = by_name.setdefault(file.name.casefold(), file)
        if first is not file:
            raise UsageProblem(
                f"{first} and {file} have the same name, so that one would replace the other; rename one of them"
            )
    return found


def _found(candidates: Iterable[tuple[str, Path]]) -> Found:
    files: dict[str, list[Path]] = {}
    skipped: list[Path] = []
    seen: set[Path] = set()
    for matter, file in candidates:
        resolved = file.resolve()
        if resolved in seen:
            continue
        seen.add(resolved)
        if matter and file.suffix.lower() in SUPPORTED:
            files.setdefault(matter, []).append(file)
        else:
            skipped.append(file)
    return Found({matter: tuple(paths) for matter, paths in files.items()}, tuple(skipped))


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
