"""Says whether a file is a sound state: of this program, of no later version, and whole."""

import sqlite3
from contextlib import closing
from pathlib import Path

DAMAGE_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)

OWN_TABLES = {"alembic_version", "matters", "turns"}
"""Tables that the state has had from its first version on."""


class UnusableState(ValueError):
    """The URL of the state names none, or what it names is no sound state of this program. The text is for
    operators."""


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite says by this error that the file is damaged."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGE_CODES


def damage_of(file: Path, wait_s: float = 10.0) -> str:
    """Reads every page of the database, and returns in one line what is wrong with its structure; empty where it is
    whole. It takes about a second for each gigabyte. Letters that were changed inside a text are not noticed. Raises
    sqlite3.Error when the file cannot be read."""
    try:
        with closing(sqlite3.connect(file, timeout=wait_s)) as connection:
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        found = str(error)
    return "" if found == "ok" else " ".join(found.split())


def check_sound(file: Path, wait_s: float = 10.0) -> None:
    """Raises UnusableState for a database that is damaged, or is whole but belongs to another program; one without
    tables belongs to nobody yet. Raises sqlite3.Error when the file cannot be read."""
    if damage := damage_of(file, wait_s):
        raise UnusableState(f"The state {file} is damaged: {damage}; restore it from a backup")
    with closing(sqlite3.connect(file, timeout=wait_s)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and not tables >= OWN_TABLES:
        raise UnusableState(f"The database {file} belongs to another program: name another file by its state_url")
