"""The figures of a text that can be compared: periods, dates, and sums of one currency."""

from collections.abc import Container
from typing import NamedTuple

from proviso_service.reading.values import CURRENCY_UNITS, Date, Value, values_of

PERIOD, DATE = "days", "date"
MEASURES = frozenset({PERIOD, DATE, *CURRENCY_UNITS})
_DAYS = {"hour": 1 / 24, "day": 1, "business day": 1.4, "week": 7, "month": 30.4, "quarter": 91.3, "year": 365}
_DAYS_OF_MONTH = 31
DAYS_OF_YEAR = 12 * _DAYS_OF_MONTH
"""Dates are only compared, so that each month may have as many days as the longest."""


class Measure(NamedTuple):
    """A figure that stands from `start` to `end` of a text, in code points. Its sort is PERIOD, with an amount in days,
    DATE, with one that grows from day to day, or a currency. A month has days up to `last`; otherwise this is the
    amount."""

    sort: str
    amount: float
    last: float
    start: int
    end: int


def measures_of(text: str, *, is_source: bool = False) -> list[Measure]:
    """Returns the figures in order; `is_source` as for `values_of`."""
    return [found for value in values_of(text, is_source=is_source) if (found := _measure(value))]


def only_measure(text: str, sorts: Container[str] = MEASURES) -> Measure | None:
    """Returns the one figure of these sorts that a text states; None when it states none or several."""
    found = {one[:2]: one for one in reversed(measures_of(text, is_source=True)) if one.sort in sorts}
    return next(iter(found.values())) if len(found) == 1 else None


def _measure(value: Value) -> Measure | None:
    if isinstance(value, Date):
        if not value.year or len(value.days) > 1:
            return None
        day, month = max(value.days, default=(1, value.month))
        first = value.year * DAYS_OF_YEAR + (month - 1) * _DAYS_OF_MONTH + day - 1
        return Measure(DATE, first, first if value.days else first + _DAYS_OF_MONTH - 1, value.start, value.end)
    amount, sort = float(max(value.amounts)), value.unit
    if sort in _DAYS:
        amount, sort = amount * _DAYS[sort], PERIOD
    return Measure(sort, amount, amount, value.start, value.end) if sort in MEASURES else None
