"""Classifies the failures of outside systems, says how a turn ends that they end, and stops calls to a provider that
keeps failing (a circuit breaker)."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from proviso_service.errors import TooBusy, Unavailable
from proviso_service.mcp.model import ToolServerFailed
from proviso_service.retrying import retry_after_seconds, with_causes
from proviso_service.turns import ExitCause, ExitReason

_MAX_RETRY_AFTER_S = 24 * 3600.0

_TRANSIENT = (
    TimeoutError,
    asyncio.TimeoutError,
    ConnectionError,
    # These are of the service itself. Failures of model APIs are left out, because their clients have retried already.
    TooBusy,
    Unavailable,
)


class FailureKind(StrEnum):
    """RATE_LIMITED and TRANSIENT failures may pass by themselves. OVER_BUDGET lasts until somebody renews a budget or
    quota; a FINAL failure lasts."""

    RATE_LIMITED = "rate_limited"
    TRANSIENT = "transient"
    OVER_BUDGET = "over_budget"
    FINAL = "final"


MAY_PASS = frozenset({FailureKind.RATE_LIMITED, FailureKind.TRANSIENT})


class UnusableReply(Exception):
    """The provider answered, and what it sent is no reply that can be used: blocked, cut short, or not readable.
    `cause` says which. The message is for logs."""

    def __init__(self, message: str, cause: ExitCause) -> None:
        super().__init__(message)
        self.cause = cause


class CallNotMade(Exception):
    """The call was not made, because the circuit breaker is open or too many calls are running. `kind` is the kind of
    failure that led to it. Another attempt within the turn would only add to the load; `retry_after_s` is the number of
    seconds after which one may succeed, where that is known."""

    def __init__(self, message: str, kind: FailureKind, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after_s = retry_after_s


class TooManyCalls(CallNotMade):
    """The call found no place among those that run at once."""

    def __init__(self) -> None:
        super().__init__("too many calls at once", FailureKind.RATE_LIMITED)


def may_retry(error: BaseException) -> bool:
    """Whether another attempt within the turn may succeed."""
    return not isinstance(error, CallNotMade) and classify(error) in MAY_PASS


def ending_of(error: BaseException) -> tuple[ExitReason, ExitCause | None]:
    """How a turn ends whose call of the model came to this."""
    if isinstance(error, UnusableReply):
        return ExitReason.LLM_GENERATION_FAILURE, error.cause
    kind = classify(error)
    is_limit = kind is FailureKind.RATE_LIMITED or (kind is FailureKind.OVER_BUDGET and _has_status(error, 429))
    reason = ExitReason.RATE_LIMITED if is_limit else ExitReason.LLM_ERROR
    if isinstance(error, CallNotMade):
        return reason, None if isinstance(error, TooManyCalls) else ExitCause.PROVIDER_PAUSED
    if kind is FailureKind.FINAL:
        return reason, ExitCause.PROVIDER_REFUSED if _has_status(error) else None
    return reason, _CAUSES.get(kind)


_CAUSES = {FailureKind.TRANSIENT: ExitCause.PROVIDER_FAILED, FailureKind.OVER_BUDGET: ExitCause.OVER_BUDGET}


def _has_status(error: BaseException, wanted: int | None = None) -> bool:
    """Whether the exception or one of its causes carries an HTTP status: the `wanted` one, or any."""
    statuses = [status for one in with_causes(error) if (status := _status(one)) is not None]
    return wanted in statuses if wanted is not None else bool(statuses)


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
    if status == 402 or getattr(error, "is_over_budget", False):
        return FailureKind.OVER_BUDGET
    if status == 429:
        return FailureKind.RATE_LIMITED
    if status is not None:
        return FailureKind.TRANSIENT if status >= 500 or status == 408 else FailureKind.FINAL
    passes = error.may_repeat if isinstance(error, ToolServerFailed) else _is_transient(error)
    return FailureKind.TRANSIENT if passes else FailureKind.FINAL


def _is_transient(error: BaseException) -> bool:
    # Only clients of hosted models import it, which the start would otherwise wait for.
    from httpx import TransportError

    return isinstance(error, (*_TRANSIENT, TransportError))


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
    """The permission to make one call for `caller`. `period` is the number of changes of the circuit's state before the
    call; a call that ends in a later period does not influence the state."""

    period: int
    caller: str = ""


class CircuitBreaker:
    """Stops calls to a provider that keeps failing.

    After `failures` failed calls in a row, of at least `callers` different callers, no call is made for `pause_s`
    seconds. Then one call is let through as a probe: when the provider answers it, calls are made again, else the pause
    begins anew. Every permit must be given back by one of `answered`, `failed` and `abandoned`."""

    def __init__(self, failures: int, pause_s: float, clock: Clock = time.monotonic, callers: int = 1) -> None:
        self._most = failures
        self._callers = callers
        self._failing: set[str] = set()
        self._pause_s = pause_s
        self._clock = clock
        self._state = Circuit.CLOSED
        self._period = 0
        self._in_a_row = 0
        self._only_rate_limits = True
        self._failing.clear()
        self._opened_by = FailureKind.TRANSIENT
        self._paused_until = 0.0
        self._asked_until = 0.0

    @property
    def state(self) -> Circuit:
        return self._state

    def check(self) -> None:
        """Raises CallNotMade while no call may be made."""
        if self._state is Circuit.PROBING or (self._state is Circuit.OPEN and self._clock() < self._paused_until):
            raise CallNotMade("calls kept failing", self._opened_by, self.wait_s)

    @property
    def wait_s(self) -> float | None:
        """The seconds after which a call may succeed again; None where calls are made, and where it is not known."""
        if self._state is Circuit.CLOSED:
            return None
        return max(0.0, max(self._paused_until, self._asked_until) - self._clock()) or None

    def admit(self, caller: str = "") -> Permit:
        """Gives the permission for one call. Raises CallNotMade while no call may be made."""
        self.check()
        if self._state is Circuit.OPEN:
            self._turn(Circuit.PROBING)
        return Permit(self._period, caller)

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
        if len(self._failing) < self._callers:  # more need not be remembered
            self._failing.add(permit.caller)
        is_over = self._in_a_row >= self._most and len(self._failing) >= self._callers
        if self._state is Circuit.PROBING or is_over:
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
        self._failing.clear()
