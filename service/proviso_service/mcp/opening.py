"""Opening sessions, without the protocol's package until there is one to open: it takes seconds to import."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from proviso_service.mcp.model import Connect, Connection, McpServerConfig


@asynccontextmanager
async def open_session(config: McpServerConfig) -> AsyncIterator[Connection]:
    """As `connecting.connect`, which is imported in a thread."""
    connect = await asyncio.to_thread(_connect)
    async with connect(config) as connection:
        yield connection


def _connect() -> Connect:
    from proviso_service.mcp.connecting import connect

    return connect
