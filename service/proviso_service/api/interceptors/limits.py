"""When a call is refused or ended: while the service starts or stops, when too many calls run, and after a time
limit."""

import asyncio
from collections import Counter
from typing import Any

from proviso_service.api.errors import DeadlinePassed
from proviso_service.api.interceptors.chain import Call, Handle
from proviso_service.api.standard_services import Readiness
from proviso_service.errors import Draining, NotReady, Overloaded, TooBusy
from proviso_service.identity import Caller, current_act

OWN = "/proviso.v1."
INVOKE = "/proviso.v1.ChatService/Invoke"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"
RETRY_AFTER_S = 1.0
NEW_WORK = frozenset({"/proviso.v1.MatterService/UploadDocument"})
"""Methods that a stopping service refuses. Turns are not among them: they are refused where they start, so that a
repeated request still finds the turn that it began."""


class Gate:
    """Refuses all calls of the contract until the service is ready, and new work once it is stopping. A stopping
    service still answers calls that let a caller finish, such as resuming and cancelling a turn."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness

    async def __call__(self, call: Call, handle: Handle) -> Any:
        if self._readiness.stopping and call.method in NEW_WORK:
            raise Draining
        if not self._readiness.started and call.method.startswith(OWN):
            raise NotReady("The service is starting")
        return await handle()


class Deadlines:
    """Ends a call with one request and one response after a time limit, if its caller sets no deadline. Streams have no
    such limit, and an Invoke has that of its turn."""

    def __init__(self, unary_timeout_s: float) -> None:
        self._unary_timeout_s = unary_timeout_s

    async def __call__(self, call: Call, handle: Handle) -> Any:
        if not call.unary or call.method == INVOKE or call.context.time_remaining() is not None:
            return await handle()
        timer = asyncio.timeout(self._unary_timeout_s)
        try:
            async with timer:
                return await handle()
        except TimeoutError:
            if timer.expired():
                raise DeadlinePassed(self._unary_timeout_s) from None
            raise


class RunningCalls:
    """Refuses calls while `limit` others are running. Health checks are always answered, because a busy service is
    healthy."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._running = 0

    async def __call__(self, call: Call, handle: Handle) -> Any:
        if self._running >= self._limit and call.method != HEALTH_CHECK:
            raise TooBusy("The service is running as many calls as it allows", RETRY_AFTER_S)
        self._running += 1
        try:
            return await handle()
        finally:
            self._running -= 1


class CallsOfCaller:
    """Refuses calls of a caller of whom `limit` others are running, so that nobody takes the calls of all. It comes
    after the middleware that finds out who he is."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._running: Counter[Caller] = Counter()

    async def __call__(self, call: Call, handle: Handle) -> Any:
        if not call.method.startswith(OWN):
            return await handle()
        caller = current_act.get().caller
        if self._running[caller] >= self._limit:
            raise Overloaded("calls of one caller", f"tenants/{caller.tenant}", RETRY_AFTER_S)
        self._running[caller] += 1
        try:
            return await handle()
        finally:
            self._running[caller] -= 1
            if not self._running[caller]:
                del self._running[caller]
