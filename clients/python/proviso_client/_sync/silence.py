"""Detects calls over which no more events arrive."""

import threading
import time
import weakref
from collections.abc import Callable
from typing import Protocol

import grpc

from proviso_client._retrying import silent
from proviso_client.v1.chat_pb2 import AgentEvent

Clock = Callable[[], float]


class EventCall(Protocol):
    """Describes a call that yields events."""

    def __next__(self) -> AgentEvent: ...
    def cancel(self) -> object: ...


class WatchedCall:
    """Reads the events of a call. A SilenceWatch cancels the call when it has waited too long for the next event."""

    def __init__(self, call: EventCall, limit_s: float, clock: Clock) -> None:
        self._call = call
        self._limit_s = limit_s
        self._clock = clock
        self._waiting_since: float | None = None  # the reading thread sets it, the watching thread reads it
        self._in_vain = False

    def next(self) -> AgentEvent:
        """Returns the next event. Raises Silent when none arrived within the limit, and otherwise the call's own error.
        The call has ended after either."""
        self._waiting_since = self._clock()
        try:
            return next(self._call)
        except grpc.RpcError as failure:
            if self._in_vain:
                raise silent(self._limit_s) from failure
            raise
        finally:
            self._waiting_since = None

    def left_s(self) -> float:
        """Returns the seconds until the current wait is too long. Returns the whole limit while nobody waits, and when
        the call has been given up already."""
        since = self._waiting_since
        if since is None or self._in_vain:
            return self._limit_s
        return since + self._limit_s - self._clock()

    def give_up(self) -> None:
        self._in_vain = True
        self._call.cancel()


class SilenceWatch:
    """Watches the calls of a client and cancels those that have been silent for too long.

    One thread watches all calls. It starts with the first call, and ends when no call is left or the client is closed.
    It sleeps until the first wait may be too long, so that reading an event costs little more than a look at the
    clock."""

    def __init__(self, limit_s: float, clock: Clock = time.monotonic) -> None:
        self.limit_s = limit_s
        self._clock = clock
        self._lock = threading.Lock()
        self._calls: weakref.WeakSet[WatchedCall] = weakref.WeakSet()
        self._watching = False
        self._closed = threading.Event()

    def over(self, call: EventCall) -> WatchedCall:
        """Starts watching a call. The call is watched for as long as somebody holds the returned object."""
        watched = WatchedCall(call, self.limit_s, self._clock)
        with self._lock:
            self._calls.add(watched)
            if not self._watching and not self._closed.is_set():
                threading.Thread(target=self._watch, name="proviso-silence", daemon=True).start()
                self._watching = True
        return watched

    def close(self) -> None:
        self._closed.set()

    def _watch(self) -> None:
        while (left_s := self._left_s()) is not None:
            # Nobody has to wake this thread: a wait that begins now cannot become too long before this sleep ends.
            self._closed.wait(left_s)
            self._give_up_silent()

    def _give_up_silent(self) -> None:
        with self._lock:
            over = [call for call in self._calls if call.left_s() <= 0]
        for call in over:
            call.give_up()

    def _left_s(self) -> float | None:
        """Returns the seconds until the first wait may be too long, or None when there is nothing to watch."""
        with self._lock:
            left = [call.left_s() for call in self._calls]
            if left and not self._closed.is_set():
                return max(0.0, min(left))
            self._watching = False
            return None
