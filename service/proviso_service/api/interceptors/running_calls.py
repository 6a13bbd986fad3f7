"""A bound on the calls that run at once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from proviso_service.api.interceptors.chain import Call
from proviso_service.errors import TooBusy

HEALTH_CHECK = "/grpc.health.v1.Health/Check"
RETRY_AFTER_S = 1.0


class RunningCalls:
    """Refuses a call over the bound at once. A health check is always answered: a busy service is not an ill one."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._running = 0

    @asynccontextmanager
    async def __call__(self, call: Call) -> AsyncIterator[None]:
        if self._running >= self._limit and call.method != HEALTH_CHECK:
            raise TooBusy("The service is running as many calls as it allows", RETRY_AFTER_S)
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
