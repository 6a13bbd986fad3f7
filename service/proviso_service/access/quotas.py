"""What a tenant, and each key of it, may use: counted in a storage of the library `limits`."""

import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute
from limits.aio.storage import Storage
from limits.aio.strategies import FixedWindowRateLimiter

from proviso_service.errors import QuotaExceeded
from proviso_service.identity import Caller
from proviso_service.settings import LimitSettings

CLOCK_STEP_S = 60.0
"""How far a clock that is only being corrected goes back."""


class Quota(StrEnum):
    REQUESTS = "requests a minute"
    TURNS = "turns a day"
    TOKENS = "tokens a day"
    STREAMS = "streams at once"
    DOCUMENTS = "documents"
    BYTES = "bytes of documents"


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of a quota a tenant has used. `limit` is 0 where there is none; `reset_time` is the time, in seconds
    since 1970, at which the count begins anew, 0 where it does not."""

    quota: Quota
    used: int
    limit: int
    reset_time: float = 0.0


Stored = Callable[[str], Awaitable[tuple[int, int]]]
"""The number of documents of a tenant, and their bytes."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """Who uses something: a tenant, or one of its keys, which has a share of the tenant's limits."""

    subject: str
    share: float

    def limit(self, amount: int) -> int:
        return max(1, math.floor(amount * self.share))


class Quotas:
    """Refuses what is more than the limits allow, with QuotaExceeded. Counters are kept in `storage`; those of streams
    that are open are this process's own."""

    def __init__(self, limits: LimitSettings, storage: Storage, stored: Stored) -> None:
        self._limits = limits
        self._counters = FixedWindowRateLimiter(storage)
        self._stored = stored
        self._streams: Counter[str] = Counter()
        self._latest = time.time()

    async def admit_request(self, caller: Caller) -> None:
        await self._take(caller, Quota.REQUESTS, self._limits.requests_per_minute)

    async def admit_turn(self, caller: Caller) -> None:
        """A turn begins only while there are tokens left; it may use more than that."""
        await self._take(caller, Quota.TOKENS, self._limits.tokens_per_day, cost=0)
        await self._take(caller, Quota.TURNS, self._limits.turns_per_day)

    async def admit_upload(self, caller: Caller) -> None:
        """An upload begins only while there is room; the document may take more than that."""
        limits = self._limits
        if not (limits.documents or limits.bytes):
            return
        subject = f"tenants/{caller.tenant}"
        documents, size = await self._stored(caller.tenant)
        for quota, used, limit in ((Quota.DOCUMENTS, documents, limits.documents), (Quota.BYTES, size, limits.bytes)):
            if limit and used >= limit:
                raise QuotaExceeded(quota, limit, subject)

    @contextmanager
    def stream(self, caller: Caller) -> Iterator[None]:
        """Counts a stream while the block runs."""
        limit = self._limits.streams
        scopes = self._scopes(caller) if limit else ()
        for scope in scopes:
            if self._streams[scope.subject] >= scope.limit(limit):
                raise QuotaExceeded(Quota.STREAMS, scope.limit(limit), scope.subject, 1.0)
        self._streams.update(scope.subject for scope in scopes)
        try:
            yield
        finally:
            self._streams.subtract(scope.subject for scope in scopes)
            for scope in scopes:
                if not self._streams[scope.subject]:
                    del self._streams[scope.subject]

    async def charge_tokens(self, caller: Caller, tokens: int) -> None:
        """Counts the tokens of a turn that ends."""
        amount = self._limits.tokens_per_day
        for scope in self._scopes(caller) if amount and tokens else ():
            await self._counters.hit(_item(Quota.TOKENS, scope.limit(amount)), scope.subject, cost=tokens)

    async def usage(self, tenant: str) -> list[Usage]:
        """What a tenant has used of every quota."""
        limits, subject = self._limits, f"tenants/{tenant}"
        counted = (
            (Quota.REQUESTS, limits.requests_per_minute),
            (Quota.TURNS, limits.turns_per_day),
            (Quota.TOKENS, limits.tokens_per_day),
        )
        found = [await self._used(quota, limit, subject) for quota, limit in counted]
        documents, size = await self._stored(tenant)
        return [
            *found,
            Usage(Quota.STREAMS, self._streams[subject], limits.streams),
            Usage(Quota.DOCUMENTS, documents, limits.documents),
            Usage(Quota.BYTES, size, limits.bytes),
        ]

    async def _used(self, quota: Quota, limit: int, subject: str) -> Usage:
        """What is not limited is not counted."""
        if not limit:
            return Usage(quota, 0, 0)
        item = _item(quota, limit)
        used = await self._counters.storage.get(item.key_for(subject))
        reset_time, _ = await self._counters.get_window_stats(item, subject)
        return Usage(quota, used, limit, reset_time if used else 0.0)

    async def _follow_clock(self) -> None:
        """Begins all counts anew where the clock was set back: they would last until it has come as far again."""
        now = time.time()
        if now < self._latest - CLOCK_STEP_S:
            await self._counters.storage.reset()
            self._latest = now
        self._latest = max(now, self._latest)

    async def _take(self, caller: Caller, quota: Quota, amount: int, cost: int = 1) -> None:
        await self._follow_clock()
        for scope in self._scopes(caller) if amount else ():
            limit = scope.limit(amount)
            item = _item(quota, limit)
            is_left = await (
                self._counters.hit(item, scope.subject, cost=cost) if cost else self._counters.test(item, scope.subject)
            )
            if not is_left:
                reset_time, _ = await self._counters.get_window_stats(item, scope.subject)
                raise QuotaExceeded(quota, limit, scope.subject, max(reset_time - time.time(), 1.0))

    def _scopes(self, caller: Caller) -> tuple[_Scope, ...]:
        """A key that has used up its share takes nothing more of its tenant's."""
        tenant = _Scope(f"tenants/{caller.tenant}", 1.0)
        share = self._limits.key_share
        if share >= 1 or not caller.key:
            return (tenant,)
        return _Scope(f"tenants/{caller.tenant}/keys/{caller.key}", share), tenant


def _item(quota: Quota, limit: int) -> RateLimitItem:
    kind = RateLimitItemPerMinute if quota is Quota.REQUESTS else RateLimitItemPerDay
    return kind(limit, namespace=quota.name)
