"""Holds the catalog in use, and replaces it."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from proviso_service.context.catalog.catalog import AgentDefinition, Catalog
from proviso_service.errors import ProvisoError

_log = structlog.get_logger(__name__)


class CatalogHolder:
    """Holds the catalog in use and replaces it as a whole. A caller that has taken `current` keeps a catalog that does
    not change."""

    def __init__(self, load: Callable[[], Awaitable[Catalog]], current: Catalog | None = None) -> None:
        """`load` reads the catalog anew and raises CatalogInvalid. `current` is held until the first `reload`; it is
        empty by default."""
        self._load = load
        self._loading = asyncio.Lock()
        self._asked = 0
        self._answered = 0
        self._failure: Exception | None = None
        self._current = Catalog(AgentDefinition("", "")) if current is None else current
        self._changed = asyncio.Event()

    @property
    def current(self) -> Catalog:
        return self._current

    def exchange(self, catalog: Catalog) -> None:
        """Replaces the catalog by another one of the same agent."""
        self._current = catalog
        self._changed.set()

    async def changed(self) -> Catalog:
        """Returns the catalog as soon as it is another one than at the last call. Only one caller may use this."""
        await self._changed.wait()
        self._changed.clear()
        return self._current

    async def reload(self) -> Catalog:
        """Reads the catalog anew and returns it. When this raises anything, the old catalog stays. Raises
        CatalogInvalid.

        Callers that ask while a reading is under way share the next reading and its result, because the current one may
        have read a file before they changed it."""
        self._asked += 1
        asked = self._asked
        async with self._loading:
            if self._answered < asked:
                await self._read()
            if self._failure:
                raise self._failure
            return self._current

    async def _read(self) -> None:
        """Reads the catalog for all who have asked until now. When it is cancelled, they are not answered."""
        asked, self._failure = self._asked, None
        try:
            self.exchange(await self._load())
        except Exception as error:
            self._failure = error
        else:
            _log.info("catalog_loaded", agent=self._current.agent.name, items=len(self._current))
        self._answered = asked


async def reload_when(asked: asyncio.Event, catalog: CatalogHolder) -> None:
    """Reloads the catalog each time `asked` is set, and never returns. Failures are logged, and the catalog stays as it
    is."""
    while True:
        await asked.wait()
        asked.clear()
        try:
            await catalog.reload()
        except ProvisoError as error:
            _log.error("catalog_not_reloaded", reason=error.message)
        except Exception:
            _log.exception("catalog_not_reloaded")
