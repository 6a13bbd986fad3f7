"""Times and durations."""

from datetime import datetime

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

MICROS = 1_000_000


def timestamp(moment: datetime) -> Timestamp:
    value = Timestamp()
    value.FromDatetime(moment)
    return value


def unix_timestamp(time_s: float) -> Timestamp:
    """From Unix time in seconds, to the microsecond."""
    value = Timestamp()
    set_unix_time(value, time_s)
    return value


def set_unix_time(value: Timestamp, time_s: float) -> None:
    """As `unix_timestamp`, in place."""
    value.seconds, micros = divmod(round(time_s * MICROS), MICROS)
    value.nanos = micros * 1_000


def duration(time_s: float) -> Duration:
    """From seconds, not negative, to the microsecond."""
    seconds, micros = divmod(round(time_s * MICROS), MICROS)
    return Duration(seconds=seconds, nanos=micros * 1_000)
