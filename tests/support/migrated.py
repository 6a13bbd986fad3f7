"""State with its whole schema, made once in a process of tests and copied for each."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from proviso_service.backends.sql.database import Database

_FILE = "state.sqlite3"


def state_in(folder: Path) -> str:
    """The URL of the state in a folder. Both are made where they are not there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / _FILE
    if not file.exists():
        file.write_bytes(_empty_state())
    return f"sqlite:///{file}"


@cache
def _empty_state() -> bytes:
    with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:  # an event loop may run in this one
        file = Path(folder) / _FILE
        thread.submit(asyncio.run, _migrate(file)).result()
        return file.read_bytes()


async def _migrate(file: Path) -> None:
    database = Database(f"sqlite:///{file}")
    await database.migrate()
    await database.close()
