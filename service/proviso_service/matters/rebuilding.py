"""The rebuilding of all search indexes, as its caller sees it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from dataclasses import dataclass

import structlog

from proviso_service.errors import Draining, ProvisoError, Unavailable

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RebuildProgress:
    """The passages that are done, out of those that there were at the start."""

    done: int
    total: int


class IndexRebuild:
    """It goes on when its one watcher goes away; a slow watcher sees the latest state."""

    def __init__(self) -> None:
        self._progress = RebuildProgress(0, 0)
        self._changed = asyncio.Event()
        self._ended = False
        self._failure: ProvisoError | None = None

    def begin(self, total: int) -> None:
        """Reports the number of passages that there are to do."""
        self._set(RebuildProgress(0, total))

    def advance(self, more: int) -> None:
        """Reports that so many more passages are done."""
        self._set(RebuildProgress(self._progress.done + more, self._progress.total))

    async def run(self, work: Awaitable[None]) -> None:
        """Does the work, and tells the watcher how it ended."""
        try:
            await work
        except asyncio.CancelledError:
            self._failure = Draining()
            raise
        except Exception:
            _log.exception("search_index_rebuild_failed")
            self._failure = Unavailable("The search index could not be rebuilt; the service's log says why")
        finally:
            self._ended = True
            self._changed.set()

    async def watch(self) -> AsyncGenerator[RebuildProgress, None]:
        """Yields each state until the end. Raises the error that the rebuilding failed with."""
        while not self._ended:
            await self._changed.wait()
            self._changed.clear()
            if not self._failure:
                yield self._progress
        if self._failure:
            raise self._failure

    def _set(self, progress: RebuildProgress) -> None:
        self._progress = progress
        self._changed.set()
