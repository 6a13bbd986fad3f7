"""ResidentIndexes keeps the indexes of the matters in use in memory, each as its matter's version is."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import ParamSpec, Protocol, TypeVar

import structlog

from proviso_service.errors import Draining, IndexRebuilding, MatterNotFound
from proviso_service.matters.model import DocumentStatus
from proviso_service.matters.originals import every_document
from proviso_service.matters.rebuilding import IndexRebuild, RebuildProgress
from proviso_service.matters.search_index import IndexAnswer, IndexQuery, MatterIndex, Rows
from proviso_service.matters.search_queue import SearchQueue
from proviso_service.matters.stores import MatterStore
from proviso_service.models import Vectors
from proviso_service.notices import ALONE, About, Notices, What

LARGE = 50_000
"""Matters of more passages are searched approximately, where there is an index for that. Comparing a vector with so
many takes some 4 ms."""

THREADS = 4
"""Loads, and looks for passages with a phrase, that compute at once; each takes one thread."""

PAUSE = 50
"""After an index was brought up to date in the background, that is not done again for so many times as long as it took:
putting a large matter together after each of the documents that come in would take as much time as reading them."""

Key = tuple[str, str]
"""A matter by tenant and id."""

P = ParamSpec("P")
T = TypeVar("T")

_log = structlog.get_logger(__name__)


class NearestPassages(Protocol):
    """An approximate index of the vectors of large matters. It is made of a MatterIndex, and never the truth."""

    def follow(self, tenant: str, matter_id: str, index: MatterIndex) -> None:
        """Begins to hold this version in place of an earlier one."""
        ...

    async def nearest(
        self, tenant: str, matter_id: str, index: MatterIndex, vector: Vectors, limit: int
    ) -> Rows | None:
        """Returns passages that are near the vector, the best first; None while it does not hold this very version."""
        ...

    async def forget(self, tenant: str, matter_id: str) -> None:
        """Deletes every byte that it holds of a matter."""
        ...

    async def close(self) -> None:
        """Ends what is under way."""
        ...


class ResidentIndexes:
    """Hands out the index of a matter at its version, and keeps those used last, of `max_bytes` together. One that is
    larger by itself stays until another is used.

    `follow` brings a matter's index up to date after each ingestion; so a search finds it ready, or waits for the one
    load that is under way, which puts together what ingestion has packed."""

    def __init__(
        self,
        store: MatterStore,
        model_id: str,
        dimensions: int,
        max_bytes: int,
        approximate: NearestPassages | None = None,
        large: int = LARGE,
        notices: Notices = ALONE,
        *,
        keeps: bool = True,
    ) -> None:
        """A process that never searches `keeps` none; other processes are told as ever."""
        self._store = store
        self._keeps = keeps
        self._model_id = model_id
        self._dimensions = dimensions
        self._max_bytes = max_bytes
        self._approximate = approximate
        self._large = large
        self._by_use: OrderedDict[Key, MatterIndex] = OrderedDict()
        self._loading: dict[Key, asyncio.Task[MatterIndex]] = {}
        self._behind: set[Key] = set()
        self._following: dict[Key, asyncio.Task[None]] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="index")
        self._searches = SearchQueue()
        self._rebuild: asyncio.Task[None] | None = None
        self._closed = False
        self._notices = notices
        notices.hear(About.MATTER, self._heard, self._missed)

    @property
    def held_bytes(self) -> int:
        """The memory of all indexes that are kept, about."""
        return sum(index.size_bytes for index in self._by_use.values())

    def __contains__(self, matter: Key) -> bool:
        return matter in self._by_use

    async def close(self) -> None:
        """Ends what is under way; nothing is lost by it."""
        self._closed = True
        tasks = [*self._following.values(), *self._loading.values(), *([self._rebuild] if self._rebuild else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._approximate:
            await self._approximate.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        await self._searches.close()
        self._by_use.clear()

    async def at(self, tenant: str, matter_id: str, version: int) -> MatterIndex:
        """Returns the index of a matter at this version or a later one. Raises MatterNotFound."""
        key = (tenant, matter_id)
        index = self._by_use.get(key)
        while index is None or index.version < version:
            index = await self._load(key)
        if key in self._by_use:
            self._by_use.move_to_end(key)
        return index

    async def search(self, tenant: str, matter_id: str, index: MatterIndex, query: IndexQuery) -> IndexAnswer:
        """Searches an index of this matter."""
        if self._approximate and query.inside is None and len(index) > self._large:
            near = await self._approximate.nearest(tenant, matter_id, index, query.vector, query.limit)
            query = replace(query, near=near)
        return await self._searches.search(index, query)

    async def compute(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs work on an index in one of a few threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: work(*args, **kwargs))

    def follow(self, tenant: str, matter_id: str) -> None:
        """Brings the index of a matter up to date in the background, because the matter's documents have changed. What
        changes while that is under way, or soon after it, is one more load, unless a search comes first."""
        self._bring_up_to_date((tenant, matter_id))
        self._notices.tell(About.MATTER, tenant=tenant, matter_id=matter_id)

    async def catch_up(self, tenant: str, matter_id: str) -> None:
        """Returns once nothing of a deleted document is held any more, here and in the approximate index; other
        processes are told."""
        self._notices.tell(About.MATTER, tenant=tenant, matter_id=matter_id, deleted=True)
        await self._catch_up((tenant, matter_id))

    async def forget(self, tenant: str, matter_id: str) -> None:
        """Drops all that is held of a deleted matter, here and in the approximate index; other processes are told. The
        packed rows go with its documents."""
        key = (tenant, matter_id)
        self._notices.tell(About.MATTER, tenant=tenant, matter_id=matter_id, deleted=True)
        while loading := self._loading.get(key):
            await asyncio.wait([loading])
        self._by_use.pop(key, None)
        if self._approximate:
            await self._approximate.forget(tenant, matter_id)

    async def rebuild(
        self, work: Callable[[IndexRebuild], Awaitable[None]] | None = None
    ) -> AsyncGenerator[RebuildProgress, None]:
        """Packs every document anew from its passages, and has the indexes loaded from that; or does other work on what
        documents are searched by. It goes on when its caller goes away. Raises IndexRebuilding; Unavailable when it
        failed; Draining when the service stops."""
        if self._closed:
            raise Draining
        if self._rebuild and not self._rebuild.done():
            raise IndexRebuilding
        rebuild = IndexRebuild()
        self._rebuild = asyncio.create_task(rebuild.run((work or self._pack_again)(rebuild)))
        async for progress in rebuild.watch():
            yield progress

    async def _heard(self, what: What) -> None:
        """Brings up to date what is held of a matter whose documents another process has changed."""
        key = what["tenant"], what["matter_id"]
        if "deleted" in what:
            await self._catch_up(key)
        elif key in self._by_use or key in self._loading:
            self._bring_up_to_date(key)

    async def _missed(self) -> None:
        for key in list(self._by_use):
            await self._renew(key)

    def _bring_up_to_date(self, key: Key) -> None:
        if not self._keeps:
            return
        self._behind.add(key)
        if key not in self._following and not self._closed:
            self._following[key] = asyncio.create_task(self._follow(key))

    async def _catch_up(self, key: Key) -> None:
        if self._approximate:
            await self._approximate.forget(*key)
        if key in self._by_use or key in self._loading:
            await self._renew(key)

    async def _pack_again(self, rebuild: IndexRebuild) -> None:
        ready = [d async for d in every_document(self._store) if d.status is DocumentStatus.READY]
        rebuild.begin(sum(document.chunk_count for document in ready))
        for document in ready:
            await self._store.pack_again(document.tenant, document.document_id)
            rebuild.advance(document.chunk_count)
        if self._approximate:
            for key in dict.fromkeys((document.tenant, document.matter_id) for document in ready):
                await self._approximate.forget(*key)
        kept = list(self._by_use)
        self._by_use.clear()
        for key in kept:
            with suppress(MatterNotFound):
                await self._load(key)

    async def _load(self, key: Key) -> MatterIndex:
        """Loads an index once for all who wait for it."""
        task = self._loading.get(key)
        if task is None:
            if self._closed:
                raise Draining
            task = self._loading[key] = asyncio.create_task(self._build(key))
            task.add_done_callback(_look_at_failure)
        return await asyncio.shield(task)

    async def _build(self, key: Key) -> MatterIndex:
        try:
            return await self._built(key)
        except MatterNotFound:
            self._by_use.pop(key, None)
            raise
        finally:
            del self._loading[key]

    async def _built(self, key: Key) -> MatterIndex:
        held = self._by_use.get(key)
        known = {document.document_id: document for document in held.documents} if held else {}
        version, documents = await self._store.packed_documents(*key, self._model_id, known)
        if held and held.version == version:
            return held
        index = await self.compute(MatterIndex.build, version, documents, self._dimensions)
        self._keep(key, index)
        return index

    def _keep(self, key: Key, index: MatterIndex) -> None:
        self._by_use[key] = index
        self._by_use.move_to_end(key)
        while self.held_bytes > self._max_bytes and len(self._by_use) > 1:
            self._by_use.popitem(last=False)
        if self._approximate and len(index) > self._large:
            self._approximate.follow(*key, index)

    async def _follow(self, key: Key) -> None:
        try:
            while key in self._behind:
                self._behind.discard(key)
                begun = time.monotonic()
                await self._renew(key)
                await asyncio.sleep(PAUSE * (time.monotonic() - begun))
        finally:
            self._behind.discard(key)
            del self._following[key]

    async def _renew(self, key: Key) -> None:
        """Loads the index as it is after a change."""
        try:
            if earlier := self._loading.get(key):  # it may have begun before the change
                await asyncio.wait([earlier])
            await self._load(key)
        except MatterNotFound:
            pass  # it was deleted meanwhile
        except Exception as failure:
            _log.warning("search_index_not_loaded", matter_id=key[1], failure=repr(failure))


def _look_at_failure(task: asyncio.Task[MatterIndex]) -> None:
    """Those who wait for a load raise its failure; where all of them have left, asyncio would complain."""
    if not task.cancelled():
        task.exception()
