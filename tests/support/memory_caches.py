"""The caches of an agent of one test."""

import time
from collections.abc import Callable

from proviso_service.agent.caching import CachedReply, Caches, SharedCache
from proviso_service.backends.memory import MemoryCache
from proviso_service.tools.base import ToolResult


def memory_caches(
    clock: Callable[[], float] = time.monotonic,
    setup: str = "",
    replies: MemoryCache[CachedReply] | None = None,
    results: MemoryCache[ToolResult] | None = None,
) -> Caches:
    """With room for everything, for an hour of `clock`; or around what is given."""
    return Caches(
        SharedCache(replies or MemoryCache(3_600, clock=clock), lambda reply: reply.size_bytes),
        SharedCache(results or MemoryCache(3_600, clock=clock), lambda _: 100),
        setup,
    )
