"""The connections of a server that a test runs in its own loop."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


class Connections:
    """Serves each connection in a task and owns both: whenever the task ends, be it before its first step, the
    connection is closed. `accept` is for asyncio.start_server."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def __bool__(self) -> bool:
        """Whether one is open."""
        return bool(self._tasks)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closed:
            writer.transport.abort()
            return
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: writer.close())

    async def break_all(self) -> None:
        """Breaks every connection that is open."""
        broken = list(self._tasks)
        for task in broken:
            task.cancel()
        await asyncio.gather(*broken, return_exceptions=True)

    async def close(self) -> None:
        """Breaks every connection, and those that are still to come."""
        self._closed = True
        await self.break_all()
