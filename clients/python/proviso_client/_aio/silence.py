"""Detects calls over which no more events arrive."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc

from proviso_client._aio.calls import is_cancelled
from proviso_client._retrying import silent
from proviso_client.v1.chat_pb2 import AgentEvent

EventCall = grpc.aio.UnaryStreamCall[Any, AgentEvent]
"""Is a call of Chat or ResumeChat."""


class WatchedCall:
    """Reads the events of a call, and cancels the call when it has waited too long for the next event.

    Each call has one timer. When the timer fires too early, it is set again, so that an event needs no timer of its own
    and costs only two looks at the clock."""

    def __init__(self, call: EventCall, limit_s: float) -> None:
        self._call = call
        self._events: AsyncIterator[AgentEvent] = aiter(call)
        self._limit_s = limit_s
        self._loop = asyncio.get_running_loop()
        self._waiting_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._in_vain = False

    async def next(self) -> AgentEvent:
        """Returns the next event. Raises Silent when none arrived within the limit, and otherwise the call's own error.
        The call has ended after either."""
        self._waiting_since = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_at(self._waiting_since + self._limit_s, self._look)
        try:
            return await anext(self._events)
        except BaseException as failure:
            self._stop_looking()
            if self._in_vain and not is_cancelled():
                raise silent(self._limit_s) from failure
            raise
        finally:
            self._waiting_since = None

    async def initial_metadata(self) -> grpc.aio.Metadata:
        return await self._call.initial_metadata()

    def cancel(self) -> None:
        self._stop_looking()
        self._call.cancel()

    def _look(self) -> None:
        self._timer = None
        if self._waiting_since is None:
            return  # the next wait sets the timer again
        over_at = self._waiting_since + self._limit_s
        if self._loop.time() < over_at:
            self._timer = self._loop.call_at(over_at, self._look)
        else:
            self._in_vain = True
            self._call.cancel()

    def _stop_looking(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
