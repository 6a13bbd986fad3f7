"""Classifies the failures of outside systems, and stops calls to a provider that keeps failing (a circuit breaker)."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import httpx

from proviso_service.errors import TooBusy, Unavailable
from proviso_service.matters import IndexFailed
from proviso_service.retrying import retry_after_seconds, with_causes

_MAX_RETRY_AFTER_S = 24 * 3600.0

_TRANSIENT = (
    TimeoutError,
    asyncio.TimeoutError,
    ConnectionError,
    httpx.TransportError,
    # These are of the service itself. Failures of model APIs are left out, because their clients have retried already.
    IndexFailed,
    TooBusy,
    Unavailable,
)


class FailureKind(StrEnum):
    RATE_LIMITED = "rate_limited"
    TRANSIENT = "transient"
    FINAL = "final"


class CallNotMade(Exception):
    """The call was not made, because the circuit breaker is open or too many calls are running. `kind` is the kind of
    failure that led to it. Another attempt within the turn would only add to the load; `retry_after_s` is the number of
    seconds after which one may succeed, where that is known."""

    def __init__(self, message: str, kind: FailureKind, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after_s = retry_after_s


def may_retry(error: BaseException) -> bool:
    """Whether another attempt within the turn may succeed."""
    return not isinstance(error, CallNotMade) and classify(error) is not FailureKind.FINAL


def classify(error: BaseException) -> FailureKind:
    """The kind of a failure, told from the HTTP status that the exception or one of its causes carries, else from the
    type of the exception."""
    if isinstance(error, CallNotMade):
        return error.kind
    kinds = (_classify_one(one) for one in with_causes(error))
    return next((kind for kind in kinds if kind is not FailureKind.FINAL), FailureKind.FINAL)


def retry_after_s(error: BaseException) -> float | None:
    """The seconds that the provider asked to wait, where the exception or one of its causes says so: in its attribute
    `retry_after_s`, or in the header Retry-After of its response."""
    return next((seconds for one in with_causes(error) if (seconds := _asked_wait_s(one)) is not None), None)


def _asked_wait_s(error: BaseException) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    seconds = getattr(error, "retry_after_s", None)
    if seconds is None and (header := headers.get("retry-after")) is not None:
        seconds = retry_after_seconds(header)
    return seconds if seconds is not None and 0 <= seconds <= _MAX_RETRY_AFTER_S else None


def _classify_one(error: BaseException) -> FailureKind:
    status = _status(error)
    if status == 429:
        return FailureKind.RATE_LIMITED
    if status is not None:
        return FailureKind.TRANSIENT if status >= 500 or status == 408 else FailureKind.FINAL
    return FailureKind.TRANSIENT if isinstance(error, _TRANSIENT) else FailureKind.FINAL


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return None


Clock = Callable[[], float]
"""Returns the seconds of a clock that never goes back."""


class Circuit(StrEnum):
    """The state of a circuit breaker. CLOSED: all calls are made. OPEN: no call is made. PROBING: one call is made, and
    its result decides which state follows."""

    CLOSED = "closed"
    OPEN = "open"
    PROBING = "probing"


@dataclass(frozen=True, slots=True)
class Permit:
    """The permission to make one call. `period` is the number of changes of the circuit's state before the call; a call
    that ends in a later period does not influence the state."""

    period: int


class CircuitBreaker:
    """Stops calls to a provider that keeps failing.

    After `failures` failed calls in a row no call is made for `pause_s` seconds. Then one call is let through as a
    probe: when the provider answers it, calls are made again, else the pause begins anew. Every permit must be given
    back by one of `answered`, `failed` and `abandoned`."""

    def __init__(self, failures: int, pause_s: float, clock: Clock = time.monotonic) -> None:
        self._most = failures
        self._pause_s = pause_s
        self._clock = clock
        self._state = Circuit.CLOSED
        self._period = 0
        self._in_a_row = 0
        self._only_rate_limits = True
        self._opened_by = FailureKind.TRANSIENT
        self._paused_until = 0.0
        self._asked_until = 0.0

    @property
    def state(self) -> Circuit:
        return self._state

    def check(self) -> None:
        """Raises CallNotMade while no call may be made."""
        if self._state is Circuit.PROBING or (self._state is Circuit.OPEN and self._clock() < self._paused_until):
            wait_s = max(self._paused_until, self._asked_until) - self._clock()
            raise CallNotMade("calls kept failing", self._opened_by, max(0.0, wait_s) or None)

    def admit(self) -> Permit:
        """Gives the permission for one call. Raises CallNotMade while no call may be made."""
        self.check()
        if self._state is Circuit.OPEN:
            self._turn(Circuit.PROBING)
        return Permit(self._period)

    def answered(self, permit: Permit) -> None:
        """Notes that the provider answered; this includes an answer that rejects the call because of what the call asks
        for."""
        if permit.period != self._period:
            return
        self._begin_row()
        if self._state is Circuit.PROBING:
            self._turn(Circuit.CLOSED)

    def failed(self, permit: Permit, kind: FailureKind, retry_after_s: float | None = None) -> None:
        """Notes that the call failed for a reason that may pass. `retry_after_s` is the number of seconds that the
        provider asked to wait."""
        if permit.period != self._period:
            return
        self._in_a_row += 1
        self._only_rate_limits = kind is FailureKind.RATE_LIMITED and self._only_rate_limits
        if self._state is Circuit.PROBING or self._in_a_row >= self._most:
            self._open(retry_after_s or 0.0)

    def abandoned(self, permit: Permit) -> None:
        """Notes that the call was cancelled, so that nothing is known of the provider. Where the call was the probe,
        the next call becomes the probe."""
        if permit.period == self._period and self._state is Circuit.PROBING:
            self._turn(Circuit.OPEN)

    def _open(self, asked_s: float) -> None:
        now = self._clock()
        self._opened_by = FailureKind.RATE_LIMITED if self._only_rate_limits else FailureKind.TRANSIENT
        self._paused_until = now + self._pause_s
        self._asked_until = now + asked_s
        self._turn(Circuit.OPEN)

    def _turn(self, state: Circuit) -> None:
        self._state = state
        self._period += 1
        self._begin_row()

    def _begin_row(self) -> None:
        self._in_a_row = 0
        self._only_rate_limits = True
