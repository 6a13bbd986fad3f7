"""What kind of failure an exception of an outside system is: whether to try again, and how to say it."""

import asyncio
from enum import StrEnum

import httpx

from proviso_service.causes import with_causes
from proviso_service.errors import TooBusy, Unavailable
from proviso_service.matters.indexes import IndexFailed
from proviso_service.retry_after import retry_after_seconds

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


class NotAsked(Exception):
    """The call was not made: the provider is left alone for a while, or has enough to do. `kind` is that of what led to
    it; another try within the turn would add to it. `retry_after_s` are the seconds after which it may go better."""

    def __init__(self, message: str, kind: FailureKind, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after_s = retry_after_s


def may_retry(error: BaseException) -> bool:
    """Whether another try within the turn may go better."""
    return not isinstance(error, NotAsked) and classify(error) is not FailureKind.FINAL


def classify(error: BaseException) -> FailureKind:
    """By the HTTP status that the exception, or one it was raised from, carries; else by its type."""
    if isinstance(error, NotAsked):
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
