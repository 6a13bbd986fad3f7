"""Finds the files that an ingest takes, and the matters that they go to."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proviso_service.cli.connection import DOCUMENTATION
from proviso_service.cli.output import CommandError, UsageProblem

MAX_NAME_CHARS = 512

SUPPORTED = frozenset({".pdf", ".docx", ".html", ".htm", ".md", ".markdown", ".txt", ".text"})


@dataclass(frozen=True, slots=True)
class DiscoveredFiles:
    """The files to upload, by the name of their matter, and the files passed over. Each file is there once."""

    files: Mapping[str, tuple[Path, ...]]
    skipped: tuple[Path, ...]

    @property
    def all_files(self) -> tuple[Path, ...]:
        return tuple(path for paths in self.files.values() for path in paths)


def find_files(paths: Sequence[Path], matter: str, *, per_folder: bool, documentation: bool) -> DiscoveredFiles:
    """Finds files for one matter, for a matter for each folder, or for the documentation.

    Raises UsageProblem unless exactly one of the three is asked for, and CommandError when there is no file to upload.
    """
    if [bool(matter), per_folder, documentation].count(True) != 1:
        raise UsageProblem("Give either --matter NAME or --matter-per-folder or --documentation")
    if matter and not 1 <= len(matter.strip()) <= MAX_NAME_CHARS:
        raise UsageProblem(f"--matter must be a name of 1 to {MAX_NAME_CHARS} characters")
    if documentation:
        found = discover_documentation(paths)
    else:
        found = discover_matters(paths) if per_folder else discover(paths, matter.strip())
    if not found.files:
        types = " ".join(sorted(SUPPORTED))
        raise CommandError(
            f"Nothing to ingest: of {len(found.skipped)} files, none is of a type that can be read ({types})"
        )
    return found


def discover(paths: Iterable[Path], matter: str) -> DiscoveredFiles:
    """Finds all files for one matter. Raises UsageProblem.

    It goes through folders, without following links to folders and without entering hidden ones.
    """
    return _found((matter, file) for path in paths for file in _files_of(path))


def discover_matters(folders: Sequence[Path]) -> DiscoveredFiles:
    """Finds the files of each folder inside `folders`, for a matter of the folder's name. Raises UsageProblem.

    Folders of one name are one matter. Files that lie beside the folders are passed over.
    """
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


def discover_documentation(paths: Iterable[Path]) -> DiscoveredFiles:
    """Finds all files for the documentation, where a file replaces the earlier one of its name.

    Raises UsageProblem, also for two files of the same name.
    """
    found = discover(paths, DOCUMENTATION)
    by_name: dict[str, Path] = {}
    for file in found.all_files:
        first = by_name.setdefault(file.name.casefold(), file)
        if first is not file:
            raise UsageProblem(
                f"{first} and {file} have the same name, so that one would replace the other; rename one of them"
            )
    return found


def _found(candidates: Iterable[tuple[str, Path]]) -> DiscoveredFiles:
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
    return DiscoveredFiles({matter: tuple(paths) for matter, paths in files.items()}, tuple(skipped))


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
