"""Compares figures: those of quotes that each state one of the same sort, and one with what a question wants."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from math import inf

from proviso_service.embedded.chat.phrases import pattern
from proviso_service.reading import CURRENCY_UNITS, Date, Value, values_of

_DAYS = {"hour": 1 / 24, "day": 1, "business day": 1.4, "week": 7, "month": 30.4, "quarter": 91.3, "year": 365}
PERIOD, DATE = "days", "date"
_DAYS_OF_MONTH = 31
_DAYS_OF_YEAR = 12 * _DAYS_OF_MONTH  # dates are only compared
_YEAR = re.compile(r"((?:19|20)\d\d)\b(?!,\d)")
_NEXT_CHARS, _LITTLE = 2, 1e-6
_MORE_THAN = re.compile(r"(?<!not )(?<!no )(?:more than|in excess of|exceed(?:s|ing)?|over)\W*$", re.IGNORECASE)
_REACH_CHARS = 20
_MAX_FIGURE_CHARS = 80
_AFTER_FIGURE = " '\u2019"
_SORTS = frozenset({PERIOD, DATE, *CURRENCY_UNITS})


@dataclass(frozen=True, slots=True)
class Bound:
    """How large a figure of a sort is to be: from `least` to `most`."""

    sort: str
    least: float = -inf
    most: float = inf

    def met_by(self, text: str) -> bool | None:
        """Tells whether a text states such a figure; None where it states none of the sort. What is more than a figure
        is a little more."""
        amounts = []
        for value in values_of(text, is_source=True):
            if (figure := _figure(value)) and figure[0] == self.sort:
                is_more = _MORE_THAN.search(text, max(0, value.start - _REACH_CHARS), value.start)
                amounts.append(figure[1] + (2 * _LITTLE if is_more else 0))
        return any(self.least <= one <= self.most for one in amounts) if amounts else None


def bound_of(question: str) -> tuple[Bound, str] | None:
    """Returns how large a figure a question wants, and the question without that; None where it does not say."""
    for found in pattern("bound").finditer(question):
        is_of_time = pattern("bound_of_dates").match(found[0]) is not None
        wanted = _wanted(question[found.end() :][:_MAX_FIGURE_CHARS], may_be_year=is_of_time)
        if wanted is None or (is_of_time and wanted[0] != DATE):
            continue
        sort, first, last, length = wanted
        before, after = question[: found.start()], question[found.end() + length :]
        if pattern("condition").search(before) or pattern("goes_on").match(after):
            continue
        bounds = {
            "above": Bound(sort, least=last + _LITTLE),
            "least": Bound(sort, least=first),
            "below": Bound(sort, most=first - _LITTLE),
            "most": Bound(sort, most=last),
            "in": Bound(sort, first, last),
        }
        return bounds[found.lastgroup or ""], f"{before.rstrip()} {after.lstrip(_AFTER_FIGURE)}".strip()
    return None


def _wanted(text: str, *, may_be_year: bool) -> tuple[str, float, float, int] | None:
    """Returns the sort of the figure at the beginning of a text, its first and last amount, and where it ends. A year
    and a month have many days."""
    if may_be_year and (year := _YEAR.match(text)):
        first = int(year[1]) * _DAYS_OF_YEAR
        return DATE, first, first + _DAYS_OF_YEAR - 1, year.end()
    value = next(iter(values_of(text)), None)
    figure = _figure(value) if value and value.start <= _NEXT_CHARS else None
    if value is None or figure is None:
        return None
    more = _DAYS_OF_MONTH - 1 if isinstance(value, Date) and not value.days else 0
    return (*figure, figure[1] + more, value.end)


def only_figure(text: str, sorts: Container[str] = _SORTS) -> tuple[str, float] | None:
    """Returns the one figure of these sorts that a text states, with its sort: `days`, `date`, or a currency. None when
    it states none or several."""
    found = {figure for value in values_of(text, is_source=True) if (figure := _figure(value)) and figure[0] in sorts}
    return found.pop() if len(found) == 1 else None


def _figure(value: Value) -> tuple[str, float] | None:
    if isinstance(value, Date):
        if not value.year or len(value.days) > 1:
            return None
        day, month = max(value.days, default=(1, value.month))
        return DATE, value.year * _DAYS_OF_YEAR + (month - 1) * _DAYS_OF_MONTH + day - 1
    amount = float(max(value.amounts))
    if value.unit in _DAYS:
        return PERIOD, amount * _DAYS[value.unit]
    return (value.unit, amount) if value.unit in CURRENCY_UNITS else None


def figures_of_a_sort(quotes: Sequence[str]) -> list[tuple[float, str]] | None:
    """Returns the figures of quotes that each state one of the same sort, with their words; None of any others."""
    for sorts in ((PERIOD,), CURRENCY_UNITS, (DATE,)):
        found = [figure for text in quotes if (figure := only_figure(text, sorts))]
        if len(found) == len(quotes) and len({sort for sort, _ in found}) == 1:
            return [(amount, _words_of(text, amount)) for text, (_, amount) in zip(quotes, found, strict=True)]
    return None


def _words_of(text: str, amount: float) -> str:
    """The words of a text that state a figure."""
    stated = (value for value in values_of(text, is_source=True) if (figure := _figure(value)) and figure[1] == amount)
    return next(text[value.start : value.end] for value in stated)
