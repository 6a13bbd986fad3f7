"""A time limit for unary calls whose caller sets none."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from proviso_service.api.errors import DeadlinePassed
from proviso_service.api.interceptors.chain import Call

INVOKE = "/proviso.v1.ChatService/Invoke"


class Deadlines:
    """Streams have no limit of their own, and Invoke has that of its turn."""

    def __init__(self, unary_timeout_s: float) -> None:
        self._unary_timeout_s = unary_timeout_s

    @asynccontextmanager
    async def __call__(self, call: Call) -> AsyncIterator[None]:
        if not call.unary or call.method == INVOKE or call.context.time_remaining() is not None:
            yield
            return
        timer = asyncio.timeout(self._unary_timeout_s)
        try:
            async with timer:
                yield
        except TimeoutError:
            if timer.expired():
                raise DeadlinePassed(self._unary_timeout_s) from None
            raise
