"""Both forms of Retry-After."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.retrying import retry_after_seconds

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
DAY_S = 24 * 3600


@given(st.integers(-DAY_S, DAY_S))
def test_a_date_means_the_seconds_until_then_and_none_when_it_is_past(seconds: int) -> None:
    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert retry_after_seconds(date, NOW) == max(0, seconds)


@given(st.integers(0, DAY_S))
def test_seconds_are_taken_as_they_are(seconds: int) -> None:
    assert retry_after_seconds(str(seconds), NOW) == seconds


@given(st.text() | st.from_regex(r"\w{3}, \d{1,4} \w{3} \d{1,6} \d{1,3}:\d\d:\d\d( GMT| [-+]\d{4})?"))
def test_anything_else_is_no_time_to_wait(value: str) -> None:
    seconds = retry_after_seconds(value, NOW)
    assert seconds is None or 0 <= seconds < float("inf")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("Fri, 02 Jan 2026 03:05:05 GMT", 60),
        ("Friday, 02-Jan-26 03:05:05 GMT", 60),
        ("Fri Jan  2 03:05:05 2026", 60),
        ("Fri, 02 Jan 2026 03:05:05 -0000", 60),
        ("soon", None),
        ("-1", None),
        ("nan", None),
        ("", None),
    ],
)
def test_every_form_of_a_date_is_read(value: str, seconds: float | None) -> None:
    assert retry_after_seconds(value, NOW) == seconds
