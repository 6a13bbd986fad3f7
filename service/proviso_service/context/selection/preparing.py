"""Keeps the search of agent items ahead of messages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog

from proviso_service.context.catalog.holder import CatalogHolder
from proviso_service.context.selection.search import ItemSearch

_log = structlog.get_logger(__name__)


@asynccontextmanager
async def kept_prepared(catalog: CatalogHolder, search: ItemSearch) -> AsyncIterator[None]:
    """Inside, what is new in the catalog is embedded whenever it changes, so that no message has to wait for it. A
    failure is logged: the next message tries again."""
    task = asyncio.create_task(_prepare(catalog, search), name="agent items")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _prepare(catalog: CatalogHolder, search: ItemSearch) -> None:
    while True:
        current = await catalog.changed()
        try:
            await search.prepare(current.items)
        except Exception as error:
            _log.warning("agent_items_not_prepared", error=type(error).__name__)
