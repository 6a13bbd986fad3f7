"""When another attempt is made, and after what time. Nothing here waits or calls."""

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
"""What gRPC and proxies say when a connection breaks, or a stream reaches the age that they allow."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to try again after something that passes.

    The waits double from `first_wait_s` to `longest_wait_s`, each shortened by up to half by chance, so that callers
    cut off together do not come back together. A time that the service asks for is kept where it is longer.
    `max_attempts` counts attempts one after the other that brought nothing; `give_up_after_s` is counted from the first
    of them."""

    max_attempts: int = 10
    first_wait_s: float = 0.1
    longest_wait_s: float = 5.0
    give_up_after_s: float = 60.0

    def __post_init__(self) -> None:
        if self.max_attempts < 1 or min(self.first_wait_s, self.longest_wait_s, self.give_up_after_s) < 0:
            raise ValueError("a retry policy needs at least one attempt, and no time below 0")


NO_RETRIES = RetryPolicy(max_attempts=1)
"""Every failure is raised at once."""


SILENCE_S = 45.0
"""How long a turn's stream may be silent before it counts as cut: three heartbeats."""


class Deadline:
    """The time that a caller gives for something, over all attempts; no end for None."""

    def __init__(self, timeout_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = None if timeout_s is None else clock() + timeout_s

    @property
    def left_s(self) -> float | None:
        """Not below 0; None where there is no end."""
        return None if self._end is None else max(0.0, self._end - self._clock())


class Patience:
    """Counts failed attempts, and says how long to wait before the next."""

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
        """The attempt brought something."""
        self._failures = 0

    def wait_s(self, error: ProvisoError) -> float:
        """The wait before the next attempt. Raises the error when there is to be none, and DeadlineExceeded when the
        caller's time does not allow it."""
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
    """The failure of a turn's stream that has been silent for too long."""
    details = ErrorDetails(grpc.StatusCode.UNAVAILABLE)
    return Silent(f"Nothing has come for {limit_s:g} s, not even a heartbeat", details)


def check_silence(silence_s: float) -> None:
    """Raises ValueError for a limit that would cut every stream."""
    if silence_s <= 0:
        raise ValueError("silence_s has to be above 0, and is best above the service's heartbeat of 15 s")


def passes(error: ProvisoError) -> bool:
    """Whether the service, or the way to it, was not there just now.

    INTERNAL that the service did not say itself is gRPC's: of a stream that was reset, or, with asyncio, of an upload
    that the service had refused while it was being sent, where the next attempt is told the refusal."""
    lost = error.code is grpc.StatusCode.INTERNAL and not error.reason
    return lost or isinstance(error, Unavailable)


def is_cut(error: ProvisoError, *, begun: bool) -> bool:
    """Whether a turn's stream ended before the turn did. One that has begun is worth waiting for where new ones are
    refused."""
    if error.reason:
        return isinstance(error, Unavailable) or (begun and isinstance(error, TooBusy))
    return error.code in _CUTS


def _deadline_exceeded(error: ProvisoError) -> DeadlineExceeded:
    """The error itself where it says so, and one that does in its place otherwise."""
    if isinstance(error, DeadlineExceeded):
        return error
    exceeded = DeadlineExceeded(f"No time is left to try again after: {error.message}", error.details)
    exceeded.__cause__ = error
    return exceeded
