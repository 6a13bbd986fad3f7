"""The caches of the agent: replies of chat models and results of retrieval, which later turns use again.

A `Cache` stores values (backends provide it), a `SharedCache` lets many turns use one at once, and a `TurnCache` is
what one turn sees of both: it makes the keys from everything that a model call or a retrieval depends on."""

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
    """Whose texts an entry holds, and as of when. `versions` are the index versions of what was searched, always in the
    same order; `matter_id` is empty without a matter."""

    tenant: str
    matter_id: str
    versions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CacheKey:
    """`sha256` covers everything else that the entry depends on."""

    scope: CacheScope
    sha256: str


class Cache(Protocol[V]):
    """Keeps values for a while, as many as there is room for. Nobody changes a value that is kept. No method raises: a
    cache that is out of order holds nothing."""

    async def get(self, key: CacheKey) -> V | None: ...

    async def put(self, key: CacheKey, value: V, size_bytes: int) -> None: ...

    async def forget_other_versions(self, scope: CacheScope) -> None:
        """Drops what is kept of the scope's matter under other versions than its own."""
        ...


class CacheLookup(Generic[V]):
    """One use of a cache: `found` is what it held. Where that is None, the visitor makes the value itself, and may have
    it kept if that is `wanted`."""

    __slots__ = ("found", "made", "wanted")

    def __init__(self, found: V | None = None, *, wanted: bool = False) -> None:
        self.found = found
        self.wanted = wanted
        self.made: V | None = None

    def keep(self, value: V) -> None:
        """Has `value` kept when the visit ends well."""
        self.made = value


@dataclass(slots=True)
class _Computation:
    """A value that several visitors want: the one that holds the lock makes it, until that `is_over`."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    visitors: int = 0
    is_over: bool = False


class SharedCache(Generic[V]):
    """Counts `hits` and `misses`; whoever waited and was served is a hit."""

    def __init__(self, cache: Cache[V], size_bytes: Callable[[V], int]) -> None:
        self.hits = 0
        self.misses = 0
        self._cache = cache
        self._size_bytes = size_bytes
        self._making: dict[CacheKey, _Computation] = {}

    @property
    def in_progress(self) -> int:
        """Values that visitors wait for, or would wait for."""
        return len(self._making)

    @asynccontextmanager
    async def visit(self, key: CacheKey) -> AsyncIterator[CacheLookup[V]]:
        """Waits while another visitor makes the value. Where that one fails or keeps nothing, all that wait go on at
        once, and each makes the value for itself: nobody waits for one failure after another. Where it is cancelled,
        the one that has waited longest takes its place. There is no time limit but the caller's own."""
        found = await self._cache.get(key)
        if found is not None:
            self.hits += 1
            yield CacheLookup(found)
            return
        async with self._after_the_maker(key):
            found = await self._cache.get(key)
            self.hits += found is not None
            self.misses += found is None
            visit = CacheLookup(found, wanted=found is None)
            yield visit
            if visit.made is not None:
                await self._cache.put(key, visit.made, self._size_bytes(visit.made))

    async def forget_other_versions(self, scope: CacheScope) -> None:
        """Drops what is kept of the scope's matter under other versions."""
        await self._cache.forget_other_versions(scope)

    @asynccontextmanager
    async def _after_the_maker(self, key: CacheKey) -> AsyncIterator[None]:
        """Entered by the maker alone, and by the others once it is done."""
        making = self._making.setdefault(key, _Computation())
        making.visitors += 1
        try:
            async with making.lock:
                if not making.is_over:
                    with _over_unless_cancelled(making):
                        yield
                    return
        finally:
            making.visitors -= 1
            # Who comes later does not belong to those who waited.
            if (making.is_over or not making.visitors) and self._making.get(key) is making:
                del self._making[key]
        yield


@contextmanager
def _over_unless_cancelled(making: _Computation) -> Iterator[None]:
    is_cancelled = False
    try:
        yield
    except asyncio.CancelledError:
        is_cancelled = True
        raise
    finally:
        making.is_over = not is_cancelled


@dataclass(frozen=True, slots=True)
class CachedReply:
    """`input_tokens` are what the provider counted for the payload; None where it did not tell."""

    message: AIMessage
    input_tokens: int | None

    def copy(self) -> Self:
        """With a message of its own: LangChain's can be changed."""
        return replace(self, message=self.message.model_copy(deep=True))

    @property
    def size_bytes(self) -> int:
        return len(json.dumps(message_to_dict(self.message), default=str))


@dataclass(frozen=True, slots=True)
class Caches:
    """`setup` identifies the settings and models that shape what the tools find."""

    replies: SharedCache[CachedReply]
    results: SharedCache[ToolResult]
    setup: str = ""

    async def forget_other_versions(self, scope: CacheScope) -> None:
        """To be called with the versions as they are now, so that texts of deleted documents do not linger."""
        await self.replies.forget_other_versions(scope)
        await self.results.forget_other_versions(scope)


class TurnCache:
    """What one turn finds in the caches, and keeps there.

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
        """Of a call with `messages`, which begin with the payload. That is not read again: it may hold images."""
        later = [(message.type, dict(message)) for message in messages[self._payload_messages :]]
        return self._caches.replies.visit(self._key("reply", self._model, self._payload_sha256, with_tools, later))

    def result(
        self, tool: str, args: ToolArgs, scope: ToolScope
    ) -> AbstractAsyncContextManager[CacheLookup[ToolResult]]:
        """Of a retrieval with validated arguments."""
        return self._caches.results.visit(self._key("result", tool, args.model_dump_json(), scope.document_id))

    def _key(self, *parts: object) -> CacheKey:
        text = json.dumps([self._caches.setup, *parts], sort_keys=True, default=str)
        return CacheKey(self._scope, hashlib.sha256(text.encode()).hexdigest())


class NoCache:
    """Finds nothing and keeps nothing."""

    def reply(
        self, messages: Sequence[AnyMessage], *, with_tools: bool
    ) -> AbstractAsyncContextManager[CacheLookup[CachedReply]]:
        return nullcontext(CacheLookup())

    def result(
        self, tool: str, args: ToolArgs, scope: ToolScope
    ) -> AbstractAsyncContextManager[CacheLookup[ToolResult]]:
        return nullcontext(CacheLookup())
