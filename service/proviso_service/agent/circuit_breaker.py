"""When a provider that keeps failing is left alone, and when it is asked again."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from proviso_service.agent.failures import FailureKind, NotAsked

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
        """Raises NotAsked while the provider is left alone."""
        if self._state is Circuit.PROBING or (self._state is Circuit.OPEN and self._clock() < self._paused_until):
            wait_s = max(self._paused_until, self._asked_until) - self._clock()
            raise NotAsked("calls kept failing", self._opened_by, max(0.0, wait_s) or None)

    def admit(self) -> Permit:
        """For one call. Raises NotAsked while the provider is left alone."""
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
