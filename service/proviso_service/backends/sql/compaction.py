"""Rewrites a state, so that its file holds nothing but its rows.

SQLite overwrites what is deleted (`secure_delete`), but leaves copies in the gaps of pages whose rows it has moved."""

import sqlite3
from contextlib import closing
from typing import cast

from sqlalchemy import Engine

from proviso_service.errors import TooBusy

READER_WAIT_MS = 500
"""Longest wait for those who read an older state. Writes wait as long."""


def rewrite(engine: Engine) -> None:
    """Writes the file anew and empties the write-ahead log. Raises TooBusy while somebody reads an older state, and
    sqlite3.Error."""
    with closing(engine.raw_connection()) as connection:
        _rewrite(cast(sqlite3.Connection, connection.driver_connection))


def _rewrite(state: sqlite3.Connection) -> None:
    (wait_ms,) = state.execute("PRAGMA busy_timeout").fetchone()
    state.execute(f"PRAGMA busy_timeout = {READER_WAIT_MS}")
    try:
        _empty_log(state)  # first, because beside a long read the log would grow with each try
        vacuum(state)
        _empty_log(state)
    finally:
        state.execute(f"PRAGMA busy_timeout = {wait_ms}")


def vacuum(state: sqlite3.Connection) -> None:
    """Writes the file anew from its rows."""
    state.execute("VACUUM")


def _empty_log(state: sqlite3.Connection) -> None:
    is_busy, *_ = state.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if is_busy:
        raise TooBusy("Somebody reads an older state; try again shortly", retry_after_s=1.0)
