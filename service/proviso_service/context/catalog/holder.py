"""The catalog in use."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from proviso_service.context.catalog.catalog import AgentDefinition, Catalog

_log = structlog.get_logger(__name__)


class CatalogHolder:
    """Holds the catalog and exchanges it as a whole: who takes `current` keeps one that does not change."""

    def __init__(self, load: Callable[[], Awaitable[Catalog]], current: Catalog | None = None) -> None:
        """`load` reads the catalog anew; it raises CatalogInvalid. `current` is held until the first `reload`, an empty
        one by default."""
        self._load = load
        self._loading = asyncio.Lock()
        self._current = current or Catalog(AgentDefinition("", ""))

    @property
    def current(self) -> Catalog:
        return self._current

    async def reload(self) -> Catalog:
        """The catalog as it is now. Whatever is raised, the old one stays. Raises CatalogInvalid."""
        async with self._loading:
            self._current = await self._load()
            _log.info("catalog_loaded", agent=self._current.agent.name, items=len(self._current))
            return self._current
