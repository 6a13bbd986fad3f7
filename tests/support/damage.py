"""Pages of a SQLite file, overwritten as a failing disk does."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path


def compacted(file: Path) -> int:
    """Leaves the database without free pages, whose damage would harm nobody, and all of it in one file. Returns the
    number of pages."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return int(connection.execute("PRAGMA page_count").fetchone()[0])


def overwrite_page(file: Path, number: int, chance: random.Random) -> None:
    """Fills a page, counted from 1, with random bytes. The first keeps its header of 100 bytes, without which the file
    would not even look like a database."""
    header = file.read_bytes()[:100]
    size = int.from_bytes(header[16:18], "big") or 1
    size = 65_536 if size == 1 else size
    kept = header if number == 1 else b""
    with file.open("r+b") as opened:
        opened.seek((number - 1) * size)
        opened.write(kept + chance.randbytes(size - len(kept)))
