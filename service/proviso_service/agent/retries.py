"""Retries with exponential backoff and jitter, for transient failures only."""

from collections.abc import Callable
from dataclasses import dataclass

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from proviso_service.agent.failures import FailureKind, classify


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`retries` beyond the first attempt; waits grow from `base_s` to at most `max_s`, with full jitter. A turn's time
    limit cancels a wait like anything else."""

    retries: int
    base_s: float
    max_s: float

    def attempts(self, before_retry: Callable[[], None] | None = None) -> AsyncRetrying:
        """Attempts to iterate over; the last failure is raised as it is."""

        def on_retry(_state: RetryCallState) -> None:
            if before_retry is not None:
                before_retry()

        return AsyncRetrying(
            stop=stop_after_attempt(self.retries + 1),
            wait=wait_random_exponential(multiplier=self.base_s, max=self.max_s),
            retry=retry_if_exception(lambda error: classify(error) is not FailureKind.FINAL),
            before_sleep=on_retry,
            reraise=True,
        )
