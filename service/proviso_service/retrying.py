"""Trying again what failed for the moment: how long to wait, how often, and what the other side asks for.

Every backoff of the service is a `Backoff`. A `RetryPolicy` makes a bounded number of attempts with it; a loop that
never gives up asks the backoff itself for its pauses."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_before_delay

RETRY_BASE_S = 0.5
"""The longest pause before the first retry of a call."""

RETRY_MAX_S = 8.0
"""The longest pause before any retry of a call."""

_MOST_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses that double with each failure in a row, from `first_s` seconds to at most `longest_s`."""

    first_s: float
    longest_s: float

    def pause_s(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row, from 1."""
        return float(min(self.longest_s, self.first_s * 2 ** min(failures - 1, _MOST_DOUBLINGS)))

    def random_pause_s(self, failures: int) -> float:
        """Any part of that pause, so that callers who failed together do not come back together."""
        return random.uniform(0.0, self.pause_s(failures))  # noqa: S311 - not a secret


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most `retries` attempts beyond the first, with random pauses of `backoff` between them."""

    retries: int
    backoff: Backoff

    def attempts(
        self,
        may_retry: Callable[[BaseException], bool],
        asked_wait_s: Callable[[BaseException], float | None] = lambda _: None,
        *,
        time_left_s: float = math.inf,
        before_retry: Callable[[BaseException], None] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> AsyncRetrying:
        """Attempts to iterate over: `async for attempt in policy.attempts(...): with attempt: ...`.

        A failure that `may_retry` accepts leads to another attempt, after the seconds that the other side asked to wait
        by `asked_wait_s` and a pause of the backoff. The last failure is raised as it is, at once where the wait would
        outlast `time_left_s`."""

        def wait_s(state: RetryCallState) -> float:
            failure = _failure(state)
            asked_s = asked_wait_s(failure) if failure else None
            return (asked_s or 0.0) + self.backoff.random_pause_s(state.attempt_number)

        def on_retry(state: RetryCallState) -> None:
            failure = _failure(state)
            if before_retry is not None and failure is not None:
                before_retry(failure)

        return AsyncRetrying(
            stop=stop_after_attempt(self.retries + 1) | stop_before_delay(time_left_s),
            wait=wait_s,
            retry=retry_if_exception(may_retry),
            before_sleep=on_retry,
            reraise=True,
            sleep=sleep,
        )


def _failure(state: RetryCallState) -> BaseException | None:
    """What the last attempt raised."""
    return state.outcome.exception() if state.outcome else None


def with_causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and those it was raised from, or while handling, each once."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def retry_after_seconds(value: str, now: datetime | None = None) -> float | None:
    """The seconds to wait that the HTTP header Retry-After (RFC 9110, section 10.2.3) asks for, in either of its forms:
    a number of seconds, or a date; 0 for a date that is past. None where the value is neither."""
    try:
        seconds = float(value)
    except ValueError:
        return _seconds_until(value, now or datetime.now(UTC))
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds_until(date: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
        return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())
    except (ValueError, OverflowError):
        return None
