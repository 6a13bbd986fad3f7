"""Which call may begin, where more is asked for than the process can do.

What it can do is measured: all work passes through one event loop, so the next piece of work begins when the loop has
nothing else to do. Who waits for that stands in a bounded queue that goes round the tenants, and within each round its
users. A call that would wait too long is refused before anything was done for it, and told when to come again."""

import asyncio
import math
import os
import random
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from proviso_service.errors import Overloaded
from proviso_service.identity import Caller

WAIT_S = 0.8
"""Longest wait of a call. With the time that a thousand calls take to come in, each knows within two seconds whether it
runs."""

MAX_WAITING = 256
CROWD = 16
"""When more calls wait than this, those that still come in are heard first: each of them has to be answered, and what
runs slows that down."""

IDLE_ROUND_S = 0.0005
"""The loop is idle when it has gone round once in this time, which is that of its thread: what other programs of the
machine take does not count."""

QUIET_S = 0.005
"""No further calls are coming in when none has come for so long."""

LOOK_S = 0.002
"""How often is looked whether the next may begin."""

LATEST_S = 0.1
"""After this time one begins, even if the loop is busy: whatever keeps it so may last."""

AT_HAND_S = 0.1
"""Without a look begins as much as the loop does in this time, by what the last ones took of its thread's: short pieces
of work that run together share commits and wakes, and take a quarter less of it than a few at a time."""

REPORT_S = 10.0
"""The log says at once that calls are refused, and then after each so many seconds how many were."""

_SHORTEST_RETRY_S, _LONGEST_RETRY_S = 1.0, 30.0
_PACE_OF = 64
"""The pace of the queue is measured over so many of those that have begun."""

_COST_OF = 16
"""What a piece of work takes is the mean of about so many."""

_log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class Waiting:
    """A call that waits; `begun` is done once it may begin, or is refused."""

    caller: Caller
    begun: asyncio.Future[None]


class Rotation:
    """Calls that wait. Tenants take turns, the users of a tenant take turns, and the calls of a user keep their
    order."""

    def __init__(self) -> None:
        self._tenants: OrderedDict[str, OrderedDict[str, deque[Waiting]]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, waiting: Waiting) -> None:
        users = self._tenants.setdefault(waiting.caller.tenant, OrderedDict())
        users.setdefault(waiting.caller.user, deque()).append(waiting)
        self._size += 1

    def remove(self, waiting: Waiting) -> None:
        """Does nothing when the call was taken out before."""
        tenant, user = waiting.caller.tenant, waiting.caller.user
        users = self._tenants.get(tenant)
        calls = users.get(user) if users else None
        if calls and waiting in calls:
            calls.remove(waiting)
            self._tidy(tenant, user)

    def next(self, may_begin: Callable[[Caller], bool]) -> Waiting | None:
        """Takes out the call whose turn it is, of a caller who may begin one; None when there is none."""
        for tenant, users in self._tenants.items():
            for user, calls in users.items():
                if may_begin(calls[0].caller):
                    waiting = calls.popleft()
                    users.move_to_end(user)
                    self._tenants.move_to_end(tenant)
                    self._tidy(tenant, user)
                    return waiting
        return None

    def newest_of_most(self) -> Waiting:
        """The newest call of the user who has most waiting, in the tenant that has most waiting."""
        users = max(self._tenants.values(), key=lambda users: sum(map(len, users.values())))
        return max(users.values(), key=len)[-1]

    def _tidy(self, tenant: str, user: str) -> None:
        self._size -= 1
        users = self._tenants[tenant]
        if not users[user]:
            del users[user]
        if not users:
            del self._tenants[tenant]


class Admission:
    """Says which calls may begin one kind of work, such as "turns". At most `at_once` run at the same time, and at most
    three quarters of them for one user. Work that is not `on_loop` has threads of its own, or waits for its caller: it
    begins as soon as there is a place. Call inside the event loop."""

    def __init__(
        self,
        work: str,
        at_once: int,
        *,
        max_waiting: int = MAX_WAITING,
        wait_s: float = WAIT_S,
        on_loop: bool = True,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.work = work
        self._at_once = at_once
        self._share = at_once - at_once // 4
        self._on_loop = on_loop
        self._fewest = min(2 * (os.cpu_count() or 1), at_once) if on_loop else at_once
        self._cost_s = AT_HAND_S / self._fewest
        self._counted_to_s = 0.0
        self._max_waiting = max_waiting
        self._wait_s = wait_s
        self._chance = chance
        self._loop = asyncio.get_running_loop()
        self._running = 0
        self._running_of: Counter[Caller] = Counter()
        self._rotation = Rotation()
        self._come_at = self._begun_at = -math.inf
        self._paces: deque[float] = deque(maxlen=_PACE_OF)
        self._is_looking = False
        self.refused = 0
        """How many calls were refused so far."""
        self._reported = 0
        self._report_timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> int:
        """How many calls wait."""
        return len(self._rotation)

    @property
    def capacity(self) -> int:
        """How many pieces of work may run without a look whether the loop is idle."""
        return int(self._without_look)

    @asynccontextmanager
    async def one(self, caller: Caller) -> AsyncIterator[None]:
        """Begins a piece of work for `caller`, which ends with the context. Raises Overloaded."""
        await self.begin(caller)
        try:
            yield
        finally:
            self.end(caller)

    async def begin(self, caller: Caller) -> None:
        """Returns when a piece of work of `caller` may begin; `end` has to be called for it. Raises Overloaded when it
        may not in time, at once when too many wait. When the queue is full, who has most in it gives way."""
        self._come_at = self._loop.time()
        if not self._rotation and self._running < self._without_look and self._has_share(caller):
            self.add(caller)
            return
        if not self._rotation:
            self._paces = deque([self._come_at], maxlen=_PACE_OF)
        waiting = Waiting(caller, self._loop.create_future())
        self._rotation.add(waiting)
        if len(self._rotation) > self._max_waiting:
            self._refuse(self._rotation.newest_of_most())
        self._begin_looking()
        timer = self._loop.call_later(self._wait_s, self._refuse, waiting)
        try:
            await waiting.begun
        except asyncio.CancelledError:
            self._rotation.remove(waiting)
            if not waiting.begun.cancelled() and waiting.begun.exception() is None:
                self.end(caller)  # he went away in the moment in which it began
            raise
        finally:
            timer.cancel()

    def add(self, caller: Caller) -> None:
        """Counts work of `caller` that goes on whatever else runs."""
        if not self._running:
            self._counted_to_s = time.thread_time()
        self._running += 1
        self._running_of[caller] += 1
        self._begun_at = self._loop.time()

    def end(self, caller: Caller) -> None:
        """A piece of work of `caller` has ended."""
        now_s = time.thread_time()
        self._cost_s += (now_s - self._counted_to_s - self._cost_s) / _COST_OF
        self._counted_to_s = now_s
        self._running -= 1
        self._running_of[caller] -= 1
        if not self._running_of[caller]:
            del self._running_of[caller]
        self._begin_looking()

    @property
    def _without_look(self) -> float:
        """How many may run without a look whether the loop is idle."""
        return min(self._at_once, max(self._fewest, AT_HAND_S / self._cost_s))

    def _has_share(self, caller: Caller) -> bool:
        return self._running_of[caller] < self._share

    def _begin_looking(self) -> None:
        if not self._is_looking and self._rotation and self._running < self._at_once:
            self._is_looking = True
            self._look()

    def _look(self) -> None:
        """Lets the loop go round once, to see how long that takes."""
        self._loop.call_soon(self._looked, time.thread_time())

    def _looked(self, since: float) -> None:
        now, is_idle = self._loop.time(), time.thread_time() - since < IDLE_ROUND_S
        while self._rotation and self._may_begin(now, is_idle):
            waiting = self._rotation.next(self._has_share)
            if waiting is None:
                break
            if not waiting.begun.done():
                self._paces.append(now)
                self.add(waiting.caller)
                waiting.begun.set_result(None)
                if self._on_loop and self._running >= self._without_look:
                    break  # what it does is to be seen before the next one begins
        self._is_looking = bool(self._rotation) and self._running < self._at_once
        if self._is_looking:
            self._loop.call_later(LOOK_S, self._look)

    def _may_begin(self, now: float, is_idle: bool) -> bool:
        if self._running >= self._at_once:
            return False
        if not self._on_loop or now - self._begun_at > LATEST_S:
            return True
        if len(self._rotation) > CROWD:
            return is_idle and now - self._come_at > QUIET_S
        return is_idle or self._running < self._without_look

    def _refuse(self, waiting: Waiting) -> None:
        self._rotation.remove(waiting)
        if not waiting.begun.done():
            caller = waiting.caller
            waiting.begun.set_exception(Overloaded(self.work, f"tenants/{caller.tenant}", self._retry_after_s()))
            self.refused += 1
            if self._report_timer is None:
                self._report()

    def _retry_after_s(self) -> float:
        """By the pace of the queue, and longer by chance for some than for others, so that those who are refused
        together do not come again together."""
        begun, since = len(self._paces) - 1, self._paces[0]
        each_s = (self._loop.time() - since) / begun if begun else 0.0
        usual_s = min(max(len(self._rotation) * each_s, _SHORTEST_RETRY_S), _LONGEST_RETRY_S)
        return usual_s * (1 + self._chance())

    def _report(self) -> None:
        self._report_timer = None
        if self.refused > self._reported:
            _log.warning(
                "calls_refused",
                work=self.work,
                refused=self.refused - self._reported,
                running=self._running,
                waiting=len(self._rotation),
                tenants=len({caller.tenant for caller in self._running_of}),
            )
            self._reported = self.refused
            self._report_timer = self._loop.call_later(REPORT_S, self._report)
