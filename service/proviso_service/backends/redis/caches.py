"""Caches in Redis, which processes share.

Each entry is a key of its own that expires. An index beside them has the times of their expiry and their sizes, so that
they have bounds and that those of a tenant can be found. An entry is only kept for the versions in which turns see its
matter now: what a turn still says of a deleted document is not kept."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Generic, TypeVar
from urllib.parse import quote

import structlog
from redis.asyncio.client import Pipeline

from proviso_service.agent.caching import CacheKey, CacheScope
from proviso_service.backends.redis.computations import Computations
from proviso_service.backends.redis.link import RedisAway, RedisLink

V = TypeVar("V")

MAX_ENTRIES = 2_000
MAX_BYTES = 64 * 1024 * 1024
MAX_ENTRY_BYTES = 256 * 1024
"""Larger values are not kept: reading and writing them takes the time of the event loop."""

_MOST_MATTERS = 10_000
"""Matters of a tenant whose versions are known."""

_VERSIONS_KEPT_MS = 24 * 3_600_000

# KEYS: versions by matter, entries by the time of their expiry, sizes by entry.
_PARTS = """
local function drop(key)
  local size = redis.call('HGET', KEYS[3], key)
  if size then
    redis.call('UNLINK', key)
    redis.call('ZREM', KEYS[2], key)
    redis.call('HDEL', KEYS[3], key)
    redis.call('HINCRBY', KEYS[3], 'all', -size)
  end
end
local function begins(key, prefix) return string.sub(key, 1, #prefix) == prefix end
"""

_KEEP = (
    _PARTS
    + """
local entry, matter, versions, value, ttl_ms, max_entries, max_bytes = KEYS[4], unpack(ARGV)
if redis.call('HGET', KEYS[1], matter) ~= versions then return end
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now_ms)) do drop(key) end
drop(entry)
redis.call('SET', entry, value, 'PX', ttl_ms)
redis.call('ZADD', KEYS[2], now_ms + ttl_ms, entry)
redis.call('HSET', KEYS[3], entry, #value)
redis.call('HINCRBY', KEYS[3], 'all', #value)
while redis.call('ZCARD', KEYS[2]) > tonumber(max_entries)
  or tonumber(redis.call('HGET', KEYS[3], 'all')) > tonumber(max_bytes) do
  drop(redis.call('ZRANGE', KEYS[2], 0, 0)[1])
end
redis.call('PEXPIRE', KEYS[2], ttl_ms)
redis.call('PEXPIRE', KEYS[3], ttl_ms)
"""
)

_FORGET_OTHER_VERSIONS = (
    _PARTS
    + """
local matter, versions, of_matter, of_versions, kept_ms, most_matters = unpack(ARGV)
if redis.call('HGET', KEYS[1], matter) ~= versions then
  for _, key in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    if begins(key, of_matter) and not begins(key, of_versions) then drop(key) end
  end
  if redis.call('HLEN', KEYS[1]) >= tonumber(most_matters) then redis.call('UNLINK', KEYS[1]) end
  redis.call('HSET', KEYS[1], matter, versions)
end
redis.call('PEXPIRE', KEYS[1], kept_ms)
"""
)

_FORGET_TENANT = (
    _PARTS
    + """
redis.call('UNLINK', KEYS[1])
for _, key in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if begins(key, ARGV[1]) then drop(key) end
end
"""
)

_log = structlog.get_logger(__name__)


class RedisCache(Generic[V]):
    """The Cache called `name`, of at most `max_entries` entries and `max_bytes` bytes of all tenants; where there are
    more, the oldest ones are dropped. Every entry is dropped `ttl_s` seconds after it was stored.

    `write` makes the bytes that are kept and `read` the value of them; either may raise ValueError, KeyError or
    TypeError for what it cannot write or read, which is then not kept, or not found."""

    def __init__(
        self,
        link: RedisLink,
        computations: Computations,
        name: str,
        ttl_s: float,
        write: Callable[[V], bytes],
        read: Callable[[bytes], V],
        max_entries: int = MAX_ENTRIES,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._link = link
        self._computations = computations
        self._name = name
        self._ttl_ms = max(1, round(ttl_s * 1_000))
        self._write = write
        self._read = read
        self._bounds = (max_entries, max_bytes)

    async def get(self, key: CacheKey) -> V | None:
        try:
            [found] = await self._link.run(lambda pipeline: pipeline.get(self._entry(key)))
            return None if found is None else self._read(found)
        except RedisAway:
            return None
        except (ValueError, KeyError, TypeError) as error:
            # Another release may have written it. Without the error itself, which may quote the text.
            _log.warning("cached_value_unreadable", cache=self._name, error=type(error).__name__)
            return None

    async def put(self, key: CacheKey, value: V, size_bytes: int) -> None:
        """Stores a value, if it is not too large as it is written here, and its versions are the matter's."""
        del size_bytes
        try:
            written = self._write(value)
            if len(written) <= MAX_ENTRY_BYTES:
                await self._link.run(partial(self._keep, key, written))
        except RedisAway:
            return
        except (ValueError, KeyError, TypeError) as error:
            _log.warning("cached_value_unwritable", cache=self._name, error=type(error).__name__)

    async def forget_other_versions(self, scope: CacheScope) -> None:
        try:
            await self._link.run(partial(self._forget_other_versions, scope))
        except RedisAway:
            return

    async def forget_tenant(self, tenant: str) -> None:
        prefix = self._link.key(self._name, f"{quote(tenant, safe='')}/")
        await self._link.run(lambda pipeline: pipeline.eval(_FORGET_TENANT, 3, *self._index(tenant), prefix))

    def computing(self, key: CacheKey) -> AbstractAsyncContextManager[bool]:
        return self._computations.computing(f"{self._name}:{_path(key.scope)}{key.sha256}")

    def _keep(self, key: CacheKey, written: bytes, pipeline: "Pipeline") -> None:
        keys = (*self._index(key.scope.tenant), self._entry(key))
        versions = _versions(key.scope)
        pipeline.eval(_KEEP, len(keys), *keys, key.scope.matter_id, versions, written, self._ttl_ms, *self._bounds)

    def _forget_other_versions(self, scope: CacheScope, pipeline: "Pipeline") -> None:
        of_versions = self._link.key(self._name, _path(scope))
        of_matter = self._link.key(self._name, _path_of_matter(scope))
        told = (scope.matter_id, _versions(scope), of_matter, of_versions, _VERSIONS_KEPT_MS, _MOST_MATTERS)
        pipeline.eval(_FORGET_OTHER_VERSIONS, 3, *self._index(scope.tenant), *told)

    def _index(self, tenant: str) -> tuple[str, str, str]:
        kind = f"{self._name}-index"
        return (
            self._link.key(kind, f"versions:{quote(tenant, safe='')}"),
            self._link.key(kind, "expiry"),
            self._link.key(kind, "sizes"),
        )

    def _entry(self, key: CacheKey) -> str:
        return self._link.key(self._name, f"{_path(key.scope)}{key.sha256}")


def _path_of_matter(scope: CacheScope) -> str:
    return f"{quote(scope.tenant, safe='')}/{quote(scope.matter_id, safe='')}/"


def _path(scope: CacheScope) -> str:
    return f"{_path_of_matter(scope)}{_versions(scope)}/"


def _versions(scope: CacheScope) -> str:
    return ".".join(map(str, scope.versions))
