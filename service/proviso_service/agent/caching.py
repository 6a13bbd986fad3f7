"""The caches of the agent: they keep replies of chat models and results of retrieval, which later turns use again.

A `Cache` stores values (a backend provides it). A `SharedCache` lets many turns use one cache at once. A `TurnCache` is
what one turn sees: it makes the keys from everything that a model call or a retrieval depends on."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, Self, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, message_to_dict

from proviso_service.tools.base import ToolArgs, ToolResult, ToolScope

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class CacheScope:
    """Whose texts an entry of a cache holds, and in which version. `versions` are the index versions of the documents
    that were searched, always in the same order; `matter_id` is empty for a turn without a matter."""

    tenant: str
    matter_id: str
    versions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CacheKey:
    """The key of an entry. `sha256` is the hash of everything that the entry depends on beside its scope."""

    scope: CacheScope
    sha256: str


class Cache(Protocol[V]):
    """Keeps values for a limited time, as many as there is room for. Values that are kept must not be changed. A cache
    that does not work behaves like an empty one; only `forget_tenant` raises, because what is deleted must be gone."""

    async def get(self, key: CacheKey) -> V | None: ...

    async def put(self, key: CacheKey, value: V, size_bytes: int) -> None: ...

    async def forget_other_versions(self, scope: CacheScope) -> None:
        """Deletes the entries of the scope's matter that have other versions than the scope."""
        ...

    async def forget_tenant(self, tenant: str) -> None:
        """Deletes all entries of the tenant. Raises Unavailable where it cannot."""
        ...

    def computing(self, key: CacheKey) -> AbstractAsyncContextManager[bool]:
        """A block in which this process computes the value of a key that it has not found; at most one at a time is
        open here for a key.

        Where another process computes it, the block begins once that one has ended, and it is given False: the value is
        there, or was not kept. Where that one was cancelled or killed, this process takes its place. It is given True
        where it may compute, with the others waiting."""
        ...


class CacheLookup(Generic[V]):
    """The lookup of one key in a cache. `found` is the value that the cache held. Where it is None, the caller computes
    the value, and calls `keep` with it if the cache has `wanted` it."""

    __slots__ = ("found", "made", "wanted")

    def __init__(self, found: V | None = None, *, wanted: bool = False) -> None:
        self.found = found
        self.wanted = wanted
        self.made: V | None = None

    def keep(self, value: V) -> None:
        """Stores `value` in the cache once the block that looked it up has ended without an exception."""
        self.made = value


@dataclass(slots=True)
class _Computation:
    """The computation of a value that several callers look up at once. The caller that holds the lock computes the
    value; the others wait until it `is_over`."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    callers: int = 0
    is_over: bool = False


class SharedCache(Generic[V]):
    """A cache that many turns use at once: where several need the same value, one computes it and the others wait for
    it. It counts `hits` and `misses`; a caller that waited and then found the value is a hit."""

    def __init__(self, cache: Cache[V], size_bytes: Callable[[V], int]) -> None:
        self.hits = 0
        self.misses = 0
        self._cache = cache
        self._size_bytes = size_bytes
        self._computing: dict[CacheKey, _Computation] = {}

    @property
    def in_progress(self) -> int:
        """The number of values that are being computed now."""
        return len(self._computing)

    @asynccontextmanager
    async def look_up(self, key: CacheKey) -> AsyncIterator[CacheLookup[V]]:
        """Looks up a value, and waits while another caller computes it.

        Where that caller fails or keeps nothing, all that wait go on at once, and each computes the value for itself,
        so that nobody waits for one failure after another. Where that caller is cancelled, the one that has waited
        longest takes its place. The caller may be in another process, if the cache is shared with it. There is no time
        limit but the caller's own."""
        found = await self._cache.get(key)
        if found is not None:
            self.hits += 1
            yield CacheLookup(found)
            return
        async with self._after_the_first(key):
            found = await self._cache.get(key)
            self.hits += found is not None
            self.misses += found is None
            lookup = CacheLookup(found, wanted=found is None)
            yield lookup
            if lookup.made is not None:
                await self._cache.put(key, lookup.made, self._size_bytes(lookup.made))

    async def forget_other_versions(self, scope: CacheScope) -> None:
        """Deletes the entries of the scope's matter that have other versions than the scope."""
        await self._cache.forget_other_versions(scope)

    async def forget_tenant(self, tenant: str) -> None:
        """Deletes all entries of the tenant. Raises Unavailable where it cannot."""
        await self._cache.forget_tenant(tenant)

    @asynccontextmanager
    async def _after_the_first(self, key: CacheKey) -> AsyncIterator[None]:
        """A block that the computing caller enters alone, and that the others enter once it has left."""
        computation = self._computing.setdefault(key, _Computation())
        computation.callers += 1
        try:
            async with computation.lock:
                if not computation.is_over:
                    async with self._cache.computing(key) as is_mine:
                        if is_mine:
                            with _over_unless_cancelled(computation):
                                yield
                            return
                    computation.is_over = True
        finally:
            computation.callers -= 1
            # A caller that comes later computes the value anew.
            if (computation.is_over or not computation.callers) and self._computing.get(key) is computation:
                del self._computing[key]
        yield


@contextmanager
def _over_unless_cancelled(computation: _Computation) -> Iterator[None]:
    is_cancelled = False
    try:
        yield
    except asyncio.CancelledError:
        is_cancelled = True
        raise
    finally:
        computation.is_over = not is_cancelled


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A reply of a chat model that can be used again. `input_tokens` is how many tokens the provider counted in the
    payload, None where it did not say."""

    message: AIMessage
    input_tokens: int | None

    def copy(self) -> Self:
        """A copy with a message of its own, because messages of LangChain can be changed."""
        return replace(self, message=self.message.model_copy(deep=True))

    @property
    def size_bytes(self) -> int:
        return len(json.dumps(message_to_dict(self.message), default=str))


@dataclass(frozen=True, slots=True)
class Caches:
    """The caches that all turns share. `setup` identifies the settings and models that shape what the tools find, so
    that a change of them makes other keys."""

    replies: SharedCache[CachedReply]
    results: SharedCache[ToolResult]
    setup: str = ""

    async def forget_other_versions(self, scope: CacheScope) -> None:
        """Deletes entries of older versions. It is called with the current versions, so that texts of deleted documents
        do not stay in the caches."""
        await self.replies.forget_other_versions(scope)
        await self.results.forget_other_versions(scope)

    async def forget_tenant(self, tenant: str) -> None:
        """Deletes all entries of a tenant that has deleted something: any reply may repeat what it said. Raises
        Unavailable where it cannot."""
        await self.replies.forget_tenant(tenant)
        await self.results.forget_tenant(tenant)


class TurnCache:
    """The caches as one turn uses them.

    `model` identifies the chat model with its settings and the turn's limits. `payload_sha256` is the hash of what the
    turn's first model call is sent (messages and tools), `payload_messages` the number of those messages."""

    def __init__(
        self, caches: Caches, scope: CacheScope, model: str, payload_sha256: str, payload_messages: int
    ) -> None:
        self._caches = caches
        self._scope = scope
        self._model = model
        self._payload_sha256 = payload_sha256
        self._payload_messages = payload_messages

    def reply(
        self, messages: Sequence[AnyMessage], *, with_tools: bool
    ) -> AbstractAsyncContextManager[CacheLookup[CachedReply]]:
        """Looks up the reply to `messages`, which begin with the payload. Only the messages after the payload are
        hashed here: the payload may hold images, and its hash is known."""
        later = [(message.type, dict(message)) for message in messages[self._payload_messages :]]
        return self._caches.replies.look_up(self._key("reply", self._model, self._payload_sha256, with_tools, later))

    def result(
        self, tool: str, args: ToolArgs, scope: ToolScope
    ) -> AbstractAsyncContextManager[CacheLookup[ToolResult]]:
        """Looks up the result of a retrieval with validated arguments."""
        return self._caches.results.look_up(self._key("result", tool, args.model_dump_json(), scope.document_id))

    def _key(self, *parts: object) -> CacheKey:
        text = json.dumps([self._caches.setup, *parts], sort_keys=True, default=str)
        return CacheKey(self._scope, hashlib.sha256(text.encode()).hexdigest())


class NoCache:
    """Takes the place of a TurnCache in a turn that may not use the caches: it finds nothing and keeps nothing."""

    def reply(
        self, messages: Sequence[AnyMessage], *, with_tools: bool
    ) -> AbstractAsyncContextManager[CacheLookup[CachedReply]]:
        return nullcontext(CacheLookup())

    def result(
        self, tool: str, args: ToolArgs, scope: ToolScope
    ) -> AbstractAsyncContextManager[CacheLookup[ToolResult]]:
        return nullcontext(CacheLookup())
