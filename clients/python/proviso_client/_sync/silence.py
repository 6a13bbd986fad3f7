"""Calls over which nothing comes any more."""

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
    """A call whose events are iterated."""

    def __next__(self) -> AgentEvent: ...
    def cancel(self) -> object: ...


class WatchedCall:
    """The events of a call, which is cancelled when the next has been waited for too long."""

    def __init__(self, call: EventCall, limit_s: float, clock: Clock) -> None:
        self._call = call
        self._limit_s = limit_s
        self._clock = clock
        self._waiting_since: float | None = None  # set by who reads, read by who watches
        self._in_vain = False

    def next(self) -> AgentEvent:
        """Raises Silent when there was none within the limit, and what the call raises."""
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
        """Until the wait has been too long; the whole limit while nobody waits, or waits in vain."""
        since = self._waiting_since
        if since is None or self._in_vain:
            return self._limit_s
        return since + self._limit_s - self._clock()

    def give_up(self) -> None:
        self._in_vain = True
        self._call.cancel()


class SilenceWatch:
    """Watches the calls of a client.

    One thread serves all. It begins with a call and ends when there is none any more, or with the client. It looks
    when the first wait may be over, so that an event costs its reader no more than a look at the clock."""

    def __init__(self, limit_s: float, clock: Clock = time.monotonic) -> None:
        self.limit_s = limit_s
        self._clock = clock
        self._lock = threading.Lock()
        self._calls: weakref.WeakSet[WatchedCall] = weakref.WeakSet()
        self._watching = False
        self._closed = threading.Event()

    def over(self, call: EventCall) -> WatchedCall:
        """The call, watched for as long as somebody holds what is returned."""
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
            # Nobody need wake it: a wait that begins meanwhile is not over before this is.
            self._closed.wait(left_s)
            self._give_up_silent()

    def _give_up_silent(self) -> None:
        with self._lock:
            over = [call for call in self._calls if call.left_s() <= 0]
        for call in over:
            call.give_up()

    def _left_s(self) -> float | None:
        """Until the first wait may have been too long; None when there is nothing to watch."""
        with self._lock:
            left = [call.left_s() for call in self._calls]
            if left and not self._closed.is_set():
                return max(0.0, min(left))
            self._watching = False
            return None
