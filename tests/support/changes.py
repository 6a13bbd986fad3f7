"""Waiting for what a task does in a database, which tells nobody that it has come to an end."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from proviso_service.backends.sql.database import Database

LIMIT_S = 60.0


class Changes:
    """Wakes those who wait for something in the databases of this process, whenever one has been written to."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def announce(self) -> None:
        self._changed.set()

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Raises TimeoutError when it does not come to hold."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                self._changed.clear()
                if await holds():
                    return
                await self._changed.wait()


@contextmanager
def database_changes() -> Iterator[Changes]:
    """Those that are made inside the block."""
    changes = Changes()
    write = Database.write

    async def announced(
        database: Database, work: Callable[..., object], tenant: str | None = None, **how: bool
    ) -> object:
        try:
            return await write(database, work, tenant, **how)
        finally:
            changes.announce()

    with patch.object(Database, "write", announced):
        yield changes
