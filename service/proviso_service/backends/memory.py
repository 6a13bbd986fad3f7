"""Caches in the memory of this process: MemoryCache for values of the agent, MemoryVectorCache for vectors of texts,
RecentQueries for those of queries."""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Generic, TypeVar

from proviso_service.agent.caching import CacheKey, CacheScope
from proviso_service.context.model import content_sha256
from proviso_service.models import Embedder, Vectors

V = TypeVar("V")

MAX_ENTRIES = 2_000
MAX_BYTES = 64 * 1024 * 1024
MAX_VECTORS = 20_000
MAX_QUERIES = 2_000
ENTRY_BYTES = 1_000
"""Estimated memory of an entry beside its value."""


@dataclass(frozen=True, slots=True)
class _Entry(Generic[V]):
    value: V
    size_bytes: int
    expires_s: float


class MemoryCache(Generic[V]):
    """A cache of at most `max_entries` entries and `max_bytes` bytes. Where there are more, the least recently used
    ones are dropped. Every entry is dropped `ttl_s` seconds after it was stored."""

    def __init__(
        self,
        ttl_s: float,
        max_entries: int = MAX_ENTRIES,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._ttl_s = ttl_s
        self._clock = clock
        self._by_use: OrderedDict[CacheKey, _Entry[V]] = OrderedDict()
        self._by_age: dict[CacheKey, float] = {}
        self._of_matter: dict[tuple[str, str], set[CacheKey]] = {}
        self._held_bytes = 0

    def __len__(self) -> int:
        return len(self._by_use)

    @property
    def held_bytes(self) -> int:
        """The estimated memory of all entries."""
        return self._held_bytes

    async def get(self, key: CacheKey) -> V | None:
        self._drop_expired()
        entry = self._by_use.get(key)
        if entry is None:
            return None
        self._by_use.move_to_end(key)
        return entry.value

    async def put(self, key: CacheKey, value: V, size_bytes: int) -> None:
        """Stores a value of `size_bytes`; one that is larger than the whole cache is not stored."""
        self._drop_expired()
        self._drop(key)
        entry = _Entry(value, size_bytes + ENTRY_BYTES, self._clock() + self._ttl_s)
        if entry.size_bytes > self._max_bytes:
            return
        self._by_use[key] = entry
        self._by_age[key] = entry.expires_s
        self._of_matter.setdefault(_matter(key.scope), set()).add(key)
        self._held_bytes += entry.size_bytes
        while len(self._by_use) > self._max_entries or self._held_bytes > self._max_bytes:
            self._drop(next(iter(self._by_use)))

    async def forget_other_versions(self, scope: CacheScope) -> None:
        self._drop_expired()
        for key in [key for key in self._of_matter.get(_matter(scope), ()) if key.scope != scope]:
            self._drop(key)

    async def forget_tenant(self, tenant: str) -> None:
        for key in [key for key in self._by_use if key.scope.tenant == tenant]:
            self._drop(key)

    def computing(self, key: CacheKey) -> AbstractAsyncContextManager[bool]:
        """No other process has this cache."""
        return nullcontext(True)

    def _drop_expired(self) -> None:
        now = self._clock()
        while self._by_age:
            oldest, expires_s = next(iter(self._by_age.items()))
            if expires_s > now:
                return
            self._drop(oldest)

    def _drop(self, key: CacheKey) -> None:
        entry = self._by_use.pop(key, None)
        if entry is None:
            return
        del self._by_age[key]
        self._held_bytes -= entry.size_bytes
        of_matter = self._of_matter[_matter(key.scope)]
        of_matter.remove(key)
        if not of_matter:
            del self._of_matter[_matter(key.scope)]


def _matter(scope: CacheScope) -> tuple[str, str]:
    return scope.tenant, scope.matter_id


class MemoryVectorCache:
    """A VectorCache of at most `max_vectors` vectors. Where there are more, the least recently used ones are
    dropped."""

    def __init__(self, max_vectors: int = MAX_VECTORS) -> None:
        self._max_vectors = max_vectors
        self._by_use: OrderedDict[tuple[str, str], Vectors] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_use)

    async def get(self, model_id: str, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        found = {sha256: self._by_use[model_id, sha256] for sha256 in hashes if (model_id, sha256) in self._by_use}
        for sha256 in found:
            self._by_use.move_to_end((model_id, sha256))
        return found

    async def put(self, model_id: str, vectors: Mapping[str, Vectors]) -> None:
        """Stores copies of the vectors, since a row of a matrix would keep the whole matrix in memory."""
        for sha256, vector in vectors.items():
            self._by_use[model_id, sha256] = vector.copy()
            self._by_use.move_to_end((model_id, sha256))
        while len(self._by_use) > self._max_vectors:
            self._by_use.popitem(last=False)


class RecentQueries:
    """An Embedder that keeps the vectors of the queries it was asked for last. A message is embedded several times in
    one turn, to choose items, to choose summaries and to search, after it was for its preview; and people put the same
    question to one matter after the other."""

    def __init__(self, embedder: Embedder, max_queries: int = MAX_QUERIES) -> None:
        self._embedder = embedder
        self._vectors = MemoryVectorCache(max_queries)

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return await self._embedder.embed_documents(texts)

    async def embed_query(self, text: str) -> Vectors:
        """Returns a vector that must not be changed. Texts are not kept, but their hashes."""
        sha256 = content_sha256(text)
        known = await self._vectors.get(self.model_id, [sha256])
        if sha256 not in known:
            known = {sha256: await self._embedder.embed_query(text)}
            await self._vectors.put(self.model_id, known)
        return known[sha256]
