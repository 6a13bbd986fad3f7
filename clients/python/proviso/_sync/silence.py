"""Calls over which nothing comes any more."""

import threading
import time
from collections.abc import Callable
from typing import Protocol

import grpc

from proviso._retrying import silent
from proviso.v1.chat_pb2 import AgentEvent


class EventCall(Protocol):
    """A call whose events are iterated."""

    def __next__(self) -> AgentEvent: ...
    def cancel(self) -> object: ...


class SilenceWatch:
    """Cancels calls whose next event has been waited for too long.

    One thread serves all calls of a client. It begins with a wait and ends when it finds none, or with the client."""

    def __init__(self, limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit_s = limit_s
        self._clock = clock
        self._lock = threading.Lock()
        self._waits: dict[_Wait, float] = {}  # when each has been too long; the first to be so is the first
        self._watching = False
        self._closed = threading.Event()

    def next_of(self, call: EventCall) -> AgentEvent:
        """The call's next event. Raises Unavailable when there was none within the limit, and what the call raises."""
        wait = _Wait(call)
        try:
            self._begin(wait)
            return next(call)
        except grpc.RpcError as failure:
            if wait.in_vain:
                raise silent(self.limit_s) from failure
            raise
        finally:
            self._end(wait)

    def close(self) -> None:
        self._closed.set()

    def _begin(self, wait: "_Wait") -> None:
        with self._lock:
            self._waits[wait] = self._clock() + self.limit_s
            if not self._watching and not self._closed.is_set():
                threading.Thread(target=self._watch, name="proviso-silence", daemon=True).start()
                self._watching = True

    def _end(self, wait: "_Wait") -> None:
        with self._lock:
            self._waits.pop(wait, None)

    def _watch(self) -> None:
        while (left_s := self._left_s()) is not None:
            # Nobody need wake it: a wait that begins meanwhile is not over before those that it knows of.
            self._closed.wait(left_s)
            for wait in self._over():
                wait.call.cancel()

    def _left_s(self) -> float | None:
        """Until the first wait has been too long; None when there is nothing to watch."""
        with self._lock:
            if self._waits and not self._closed.is_set():
                return max(0.0, next(iter(self._waits.values())) - self._clock())
            self._watching = False
            return None

    def _over(self) -> "list[_Wait]":
        """Takes out the waits that have been too long."""
        with self._lock:
            now = self._clock()
            over = [wait for wait, end in self._waits.items() if end <= now]
            for wait in over:
                del self._waits[wait]
                wait.in_vain = True
            return over


class _Wait:
    """Somebody waits for the next event of a call; `in_vain` once that has been cancelled for its silence."""

    __slots__ = ("call", "in_vain")

    def __init__(self, call: EventCall) -> None:
        self.call = call
        self.in_vain = False
