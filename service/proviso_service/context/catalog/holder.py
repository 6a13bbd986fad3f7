"""The catalog in use."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from proviso_service.context.catalog.catalog import AgentDefinition, Catalog
from proviso_service.errors import ProvisoError

_log = structlog.get_logger(__name__)


class CatalogHolder:
    """Holds the catalog and exchanges it as a whole: who takes `current` keeps one that does not change."""

    def __init__(self, load: Callable[[], Awaitable[Catalog]], current: Catalog | None = None) -> None:
        """`load` reads the catalog anew; it raises CatalogInvalid. `current` is held until the first `reload`, an empty
        one by default."""
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
        """Puts another in its place, of the same agent."""
        self._current = catalog
        self._changed.set()

    async def changed(self) -> Catalog:
        """The catalog, as soon as it is another than at the last call. For one caller."""
        await self._changed.wait()
        self._changed.clear()
        return self._current

    async def reload(self) -> Catalog:
        """The catalog as it is now. Whatever is raised, the old one stays. Raises CatalogInvalid.

        All who ask while it is being read share the next reading, and what comes of it: the one that is under way may
        have passed by what they have changed."""
        self._asked += 1
        asked = self._asked
        async with self._loading:
            if self._answered < asked:
                await self._read()
            if self._failure:
                raise self._failure
            return self._current

    async def _read(self) -> None:
        """Answers all who have asked until now; nobody where it is cancelled."""
        asked, self._failure = self._asked, None
        try:
            self.exchange(await self._load())
        except Exception as error:
            self._failure = error
        else:
            _log.info("catalog_loaded", agent=self._current.agent.name, items=len(self._current))
        self._answered = asked


async def reload_when(asked: asyncio.Event, catalog: CatalogHolder) -> None:
    """Reloads whenever `asked` is set, for ever. What fails is logged, and the catalog stays as it is."""
    while True:
        await asked.wait()
        asked.clear()
        try:
            await catalog.reload()
        except ProvisoError as error:
            _log.error("catalog_not_reloaded", reason=error.message)
        except Exception:
            _log.exception("catalog_not_reloaded")
