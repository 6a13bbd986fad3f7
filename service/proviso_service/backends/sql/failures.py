"""What SQLite and PostgreSQL say when they cannot do what is asked, in errors of the service."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from proviso_service.backends.sql.integrity import DAMAGE_CODES
from proviso_service.backends.storage_health import StorageFault, StorageFaultFound
from proviso_service.errors import TooBusy

BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
UNREADABLE_CODES = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
FAULTS = {
    sqlite3.SQLITE_FULL: StorageFault.FULL,
    **dict.fromkeys(UNREADABLE_CODES, StorageFault.UNREADABLE),
    **dict.fromkeys(DAMAGE_CODES, StorageFault.DAMAGED),
}

# By SQLSTATE: lock_not_available, query_canceled for its time limit, deadlock_detected, serialization_failure, and
# too_many_connections.
BUSY_STATES = ("55P03", "57014", "40P01", "40001", "53300")
FULL_STATES = ("53100",)
DAMAGED_STATES = ("XX001", "XX002")
# Also by class: connection_exception, operator_intervention, system_error, invalid_authorization; then a database that
# is not there, and a standby.
UNREADABLE_STATES = ("08", "57P", "58", "28", "3D000", "25006")

_CLOSED = re.compile("connection (is|was) closed|cannot switch to state")

LOST = (OSError,)
"""What the driver of PostgreSQL raises by itself when the server cannot be reached."""

_DRIVER = "asyncpg"


@contextmanager
def failures_named() -> Iterator[None]:
    """Turns exceptions for locks, disk failures and lost servers into errors of the service. Other database errors
    pass: they are bugs. The cause is the driver's own error, because SQLAlchemy's holds the values of the statement."""
    try:
        yield
    except Exception as error:  # a prepared statement meets the driver's own, of which SQLAlchemy does not know
        original = getattr(error, "orig", None) or error
        if isinstance(error, exc.TimeoutError) or _is_busy(original):
            raise busy() from error
        if fault := _fault_of(original):
            raise StorageFaultFound(fault) from original
        raise


def _is_busy(error: BaseException) -> bool:
    return _code_of(error) in BUSY_CODES or state_of(error) in BUSY_STATES


def _fault_of(error: BaseException) -> StorageFault | None:
    if fault := FAULTS.get(_code_of(error)):
        return fault
    state = state_of(error)
    if state in FULL_STATES:
        return StorageFault.FULL
    if state in DAMAGED_STATES:
        return StorageFault.DAMAGED
    is_lost = state.startswith(UNREADABLE_STATES) or isinstance(error, LOST) or _says_closed(error)
    return StorageFault.UNREADABLE if is_lost else None


def _code_of(error: BaseException) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def state_of(error: BaseException) -> str:
    """The SQLSTATE of an error of PostgreSQL; empty where it has none."""
    return getattr(error, "sqlstate", None) or ""


def _says_closed(error: BaseException) -> bool:
    """Whether the driver of PostgreSQL says that its connection is closed, for which it has no SQLSTATE. One that was
    cut amid an answer refuses to be used and to be rolled back."""
    is_of_driver = hasattr(error, "sqlstate") or type(error).__module__.startswith(_DRIVER)
    return is_of_driver and _CLOSED.search(str(error)) is not None


def is_full(failure: BaseException) -> bool:
    return isinstance(failure, StorageFaultFound) and failure.fault is StorageFault.FULL


def busy() -> TooBusy:
    return TooBusy("The service's storage is busy; try again shortly", retry_after_s=1.0)
