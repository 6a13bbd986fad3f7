"""This module decides whether a failed call is tried again, and how long the client waits before that.

Nothing in this module waits or calls the service.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import grpc

from proviso_client.errors import DeadlineExceeded, ErrorDetails, ProvisoError, Silent, TooBusy, Unavailable

_CUTS = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    }
)
"""gRPC and proxies report these codes when a connection breaks or a stream reaches the longest age that they allow."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Says how often and for how long the client tries again after a temporary failure.

    The waits double from `first_wait_s` up to `longest_wait_s`. Each wait is shortened at random by up to half, so that
    clients that lost their connections at the same time do not all return at the same time. When the service asks for a
    longer wait, the client waits that long. `max_attempts` is the number of attempts in a row that may fail without any
    progress. `give_up_after_s` is the longest time, counted from the first of these failures."""

    max_attempts: int = 10
    first_wait_s: float = 0.1
    longest_wait_s: float = 5.0
    give_up_after_s: float = 60.0

    def __post_init__(self) -> None:
        if self.max_attempts < 1 or min(self.first_wait_s, self.longest_wait_s, self.give_up_after_s) < 0:
            raise ValueError("a retry policy needs at least one attempt, and no time below 0")


NO_RETRIES = RetryPolicy(max_attempts=1)
"""With this policy, every failure is raised at once."""


SILENCE_S = 45.0
"""A turn's stream counts as cut after this many seconds of silence. That is the time of three heartbeats."""


class Deadline:
    """Measures the time that a caller allows for all attempts together. There is no limit when `timeout_s` is None."""

    def __init__(self, timeout_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = None if timeout_s is None else clock() + timeout_s

    @property
    def left_s(self) -> float | None:
        """Returns how many seconds are left, which is never below 0, or None when there is no limit."""
        return None if self._end is None else max(0.0, self._end - self._clock())


class RetryState:
    """Counts the failed attempts of a call and decides how long to wait before the next attempt."""

    def __init__(
        self,
        policy: RetryPolicy,
        deadline: Deadline,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._policy = policy
        self._deadline = deadline
        self._clock = clock
        self._chance = chance
        self._failures = 0
        self._failing_since = 0.0

    def progressed(self) -> None:
        """Resets the count of failures, because an attempt has made progress."""
        self._failures = 0

    def wait_s(self, error: ProvisoError) -> float:
        """Records a failure and returns how many seconds to wait before the next attempt.

        Raises the given error when the policy allows no further attempt, and DeadlineExceeded when the caller's time
        is too short for the wait."""
        now = self._clock()
        if self._failures == 0:
            self._failing_since = now
        self._failures += 1
        policy = self._policy
        if self._failures >= policy.max_attempts:
            raise error
        wait_s = max(self._backoff_s(), error.retry_after_s or 0.0)
        left_s = self._deadline.left_s
        if left_s is not None and wait_s >= left_s:
            raise _deadline_exceeded(error)
        if now + wait_s - self._failing_since > policy.give_up_after_s:
            raise error
        return wait_s

    def _backoff_s(self) -> float:
        doubled_s = self._policy.first_wait_s * 2.0 ** min(self._failures - 1, 60)
        return min(doubled_s, self._policy.longest_wait_s) * (1.0 - self._chance() / 2)


def silent(limit_s: float) -> Silent:
    """Returns the error for a turn's stream that has been silent for too long."""
    details = ErrorDetails(grpc.StatusCode.UNAVAILABLE)
    return Silent(f"Nothing has come for {limit_s:g} s, not even a heartbeat", details)


def check_silence(silence_s: float) -> None:
    """Raises ValueError when the limit is not above 0, because such a limit would cut every stream."""
    if silence_s <= 0:
        raise ValueError("silence_s has to be above 0, and is best above the service's heartbeat of 15 s")


def passes(error: ProvisoError) -> bool:
    """Returns whether the failure is temporary because the service, or the network to it, was not available, or because
    the service is busy and has said when to come again.

    When an INTERNAL error has no reason, it comes from gRPC and not from the service. gRPC reports it when a stream was
    reset. With asyncio, gRPC also reports it when the service refused an upload while the client was still sending. The
    next attempt then receives the refusal."""
    lost = error.code is grpc.StatusCode.INTERNAL and not error.reason
    return lost or isinstance(error, Unavailable) or is_busy(error)


def is_busy(error: ProvisoError) -> bool:
    """Returns whether the service refused a call because it has too much to do at the moment. A used-up quota is
    another matter: its time to wait may be a day."""
    return error.reason == "TOO_BUSY" and error.retry_after_s is not None


def is_cut(error: ProvisoError, *, begun: bool) -> bool:
    """Returns whether a turn's stream ended before the turn did, so that the client should connect again.

    `begun` says whether the turn has begun. A used-up quota counts as a cut only then, because a turn that has begun is
    worth waiting for."""
    if error.reason:
        return isinstance(error, Unavailable) or is_busy(error) or (begun and isinstance(error, TooBusy))
    return error.code in _CUTS


def _deadline_exceeded(error: ProvisoError) -> DeadlineExceeded:
    """Returns the error itself when it is a DeadlineExceeded, and otherwise a new DeadlineExceeded caused by it."""
    if isinstance(error, DeadlineExceeded):
        return error
    exceeded = DeadlineExceeded(f"No time is left to try again after: {error.message}", error.details)
    exceeded.__cause__ = error
    return exceeded
