"""A service of its own process whose model calls a tool that needs an approval, and that kills itself where an erasure
has come to the point that ERASING_DIES_AT names: `python -m tests.support.erasing_service DATA MODELS`.

Prints its port when it is SERVING."""

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from proviso_service.backends.sql import compaction
from proviso_service.backends.sql.deletions import SqlDeletionStore
from proviso_service.backends.sql.matters import SqlMatterStore
from tests.support import asking_service
from tests.support.marked_tools import needing_approval

STEPS_OF_VACUUM = 100


def die(*_args: Any, **_kwargs: Any) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def die_while_rewriting(state: sqlite3.Connection) -> None:
    state.set_progress_handler(die, STEPS_OF_VACUUM)
    state.execute("VACUUM")


POINTS: Mapping[str, tuple[object, str, object]] = {
    "before any row is removed": (SqlMatterStore, "delete_documents", die),
    "before the turns are removed": (SqlDeletionStore, "purge_turns", die),
    "before the file is rewritten": (compaction, "vacuum", die),
    "while the file is rewritten": (compaction, "vacuum", die_while_rewriting),
    "before the receipt is complete": (SqlDeletionStore, "complete", die),
}


if __name__ == "__main__":
    if point := os.environ.get("ERASING_DIES_AT"):
        setattr(*POINTS[point])
    with needing_approval(asking_service.TOOL):
        asyncio.run(asking_service.main(Path(sys.argv[1]), Path(sys.argv[2])))
