"""The building of a new index as its caller sees it."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from proviso_service.errors import ProvisoError


@dataclass(frozen=True, slots=True)
class RebuildProgress:
    """Vectors that are in the new index, of those that the database had at the start."""

    done: int
    total: int


class Rebuild:
    """Goes on when its one watcher goes away; a slow watcher sees the latest state."""

    def __init__(self) -> None:
        self._progress = RebuildProgress(0, 0)
        self._changed = asyncio.Event()
        self._ended = False
        self._failure: ProvisoError | None = None

    @property
    def ended(self) -> bool:
        return self._ended

    def begin(self, total: int) -> None:
        self._set(RebuildProgress(0, total))

    def advance(self, done: int) -> None:
        """Never back: the last comparison counts from the start again."""
        if done > self._progress.done:
            self._set(RebuildProgress(done, max(done, self._progress.total)))

    def end(self, failure: ProvisoError | None = None) -> None:
        self._ended, self._failure = True, failure
        self._set(self._progress if failure else RebuildProgress(self._progress.total, self._progress.total))

    async def watch(self) -> AsyncGenerator[RebuildProgress, None]:
        """Each state until the end. Raises what the rebuilding has failed with."""
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
