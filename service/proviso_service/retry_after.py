"""The HTTP header Retry-After (RFC 9110, section 10.2.3)."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_seconds(value: str, now: datetime | None = None) -> float | None:
    """Seconds from now, of the two forms that HTTP knows: seconds, or a date; 0 for a date that is past. None where it
    is neither."""
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
