"""Copies of the state as it is at one moment, also while a service writes to it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from proviso_service.backends.folder_lock import FolderInUse, StateLock
from proviso_service.backends.sql.integrity import UnusableState, check_sound, is_damage


@contextmanager
def snapshot_of(state: Path) -> Iterator[Path]:
    """Makes a copy beside the state, checks it, and deletes it at the end of the context. Nobody waits for it but the
    write-ahead log, which grows meanwhile. What was deleted is not in the copy. Raises UnusableState for a damaged
    state, FolderInUse while another copy is in use, and sqlite3.Error."""
    copy = _copy_of(state)
    with StateLock(copy):
        remove_database(copy)
        try:
            _vacuum_into(state, copy)
            check_sound(copy)
            yield copy
        finally:
            remove_database(copy)


def remove_forgotten_snapshot(state: Path) -> None:
    """Deletes the copy that a killed process has left."""
    copy = _copy_of(state)
    if copy.exists():
        with suppress(FolderInUse), StateLock(copy):
            remove_database(copy)
            remove_database(part_of(copy))


def part_of(state: Path) -> Path:
    """Where a part of a state lies while it is copied."""
    return state.with_name(f"{state.name}.part")


def remove_database(file: Path) -> None:
    """Deletes a database with the files that SQLite keeps beside it."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


def _copy_of(state: Path) -> Path:
    return state.with_name(f"{state.name}.snapshot")


def _vacuum_into(state: Path, copy: Path) -> None:
    try:
        with closing(sqlite3.connect(state)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            raise UnusableState(f"The state {state} is damaged: {error}; restore it from a backup") from error
        raise
