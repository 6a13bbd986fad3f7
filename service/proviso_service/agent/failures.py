"""What kind of failure an exception of an outside system is, and when a provider that keeps failing is left alone."""

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
    # Of the service's own parts. Failures of model APIs are not among them: their clients have tried again already.
    IndexFailed,
    TooBusy,
    Unavailable,
)


class FailureKind(StrEnum):
    RATE_LIMITED = "rate_limited"
    TRANSIENT = "transient"
    FINAL = "final"


class CallNotMade(Exception):
    """The call was not made: the provider is left alone for a while, or has enough to do. `kind` is that of what led to
    it; another try within the turn would add to it. `retry_after_s` are the seconds after which it may go better."""

    def __init__(self, message: str, kind: FailureKind, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after_s = retry_after_s


def may_retry(error: BaseException) -> bool:
    """Whether another try within the turn may go better."""
    return not isinstance(error, CallNotMade) and classify(error) is not FailureKind.FINAL


def classify(error: BaseException) -> FailureKind:
    """By the HTTP status that the exception, or one it was raised from, carries; else by its type."""
    if isinstance(error, CallNotMade):
        return error.kind
    kinds = (_classify_one(one) for one in with_causes(error))
    return next((kind for kind in kinds if kind is not FailureKind.FINAL), FailureKind.FINAL)


def retry_after_s(error: BaseException) -> float | None:
    """Seconds that the provider asked to wait, where the exception, or one it was raised from, says so: as
    `retry_after_s`, or in the header of its response."""
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
"""Seconds of a clock that only goes forward."""


class Circuit(StrEnum):
    """CLOSED: calls go through. OPEN: none does. PROBING: one has gone through, and its end decides."""

    CLOSED = "closed"
    OPEN = "open"
    PROBING = "probing"


@dataclass(frozen=True, slots=True)
class Permit:
    """Of one call. `period` counts the changes of the circuit before it: a call that ends after one decides nothing."""

    period: int


class CircuitBreaker:
    """Opens after `failures` failed calls in a row for `pause_s`, then lets one call through: when the provider answers
    it the circuit is closed, else the pause begins anew. Every permit is given back by one of `answered`, `failed` and
    `abandoned`."""

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
        """Raises CallNotMade while the provider is left alone."""
        if self._state is Circuit.PROBING or (self._state is Circuit.OPEN and self._clock() < self._paused_until):
            wait_s = max(self._paused_until, self._asked_until) - self._clock()
            raise CallNotMade("calls kept failing", self._opened_by, max(0.0, wait_s) or None)

    def admit(self) -> Permit:
        """For one call. Raises CallNotMade while the provider is left alone."""
        self.check()
        if self._state is Circuit.OPEN:
            self._turn(Circuit.PROBING)
        return Permit(self._period)

    def answered(self, permit: Permit) -> None:
        """The provider answered, be it with a refusal that is about the call."""
        if permit.period != self._period:
            return
        self._begin_row()
        if self._state is Circuit.PROBING:
            self._turn(Circuit.CLOSED)

    def failed(self, permit: Permit, kind: FailureKind, retry_after_s: float | None = None) -> None:
        """The call failed for the moment; `retry_after_s` are the seconds that the provider asked to wait."""
        if permit.period != self._period:
            return
        self._in_a_row += 1
        self._only_rate_limits = kind is FailureKind.RATE_LIMITED and self._only_rate_limits
        if self._state is Circuit.PROBING or self._in_a_row >= self._most:
            self._open(retry_after_s or 0.0)

    def abandoned(self, permit: Permit) -> None:
        """The call was cancelled: nothing is known. Where it was the probe, the next call is."""
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
