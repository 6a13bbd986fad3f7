"""What a cache is to the agent."""

from dataclasses import dataclass
from typing import Protocol, TypeVar

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
