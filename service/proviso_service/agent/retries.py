"""Retries with exponential backoff and jitter, for transient failures only."""

from collections.abc import Callable
from dataclasses import dataclass

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from proviso_service.agent.failures import may_retry, retry_after_s


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`retries` beyond the first attempt; waits grow from `base_s` to at most `max_s`, with full jitter, beyond what
    the other side asked to wait."""

    retries: int
    base_s: float
    max_s: float

    def attempts(self, time_left_s: float, before_retry: Callable[[], None] | None = None) -> AsyncRetrying:
        """Attempts to iterate over; the last failure is raised as it is, at once where the wait would outlast
        `time_left_s`."""
        backoff = wait_random_exponential(multiplier=self.base_s, max=self.max_s)

        def on_retry(_state: RetryCallState) -> None:
            if before_retry is not None:
                before_retry()

        def wait_s(state: RetryCallState) -> float:
            failure = state.outcome.exception() if state.outcome else None
            asked_s = retry_after_s(failure) if failure else None
            return (asked_s or 0.0) + backoff(state)

        return AsyncRetrying(
            stop=stop_after_attempt(self.retries + 1) | stop_before_delay(time_left_s),
            wait=wait_s,
            retry=retry_if_exception(may_retry),
            before_sleep=on_retry,
            reraise=True,
        )
