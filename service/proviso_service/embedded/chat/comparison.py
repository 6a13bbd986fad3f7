"""Compares figures: those of quotes that each state one of the same sort, and one with what a question wants."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from math import inf

from proviso_service.embedded.chat.phrases import pattern
from proviso_service.reading import CURRENCY_UNITS, DATE, DAYS_OF_YEAR, MEASURES, PERIOD, Measure, measures_of

_YEAR = re.compile(r"((?:19|20)\d\d)\b(?!,\d)")
_NEXT_CHARS, _LITTLE = 2, 1e-6
_MORE_THAN = re.compile(r"(?<!not )(?<!no )(?:more than|in excess of|exceed(?:s|ing)?|over)\W*$", re.IGNORECASE)
_REACH_CHARS = 20
_MAX_FIGURE_CHARS = 80
_AFTER_FIGURE = " '\u2019"


@dataclass(frozen=True, slots=True)
class Bound:
    """How large a figure of a sort is to be: from `least` to `most`."""

    sort: str
    least: float = -inf
    most: float = inf

    def met_by(self, text: str) -> bool | None:
        """Tells whether a text states such a figure; None where it states none of the sort. What is more than a figure
        is a little more."""
        amounts = [
            one.amount + 2 * _LITTLE * bool(_MORE_THAN.search(text, max(0, one.start - _REACH_CHARS), one.start))
            for one in measures_of(text, is_source=True)
            if one.sort == self.sort
        ]
        return any(self.least <= one <= self.most for one in amounts) if amounts else None


def bound_of(question: str) -> tuple[Bound, str] | None:
    """Returns how large a figure a question wants, and the question without that; None where it does not say."""
    for found in pattern("bound").finditer(question):
        is_of_time = pattern("bound_of_dates").match(found[0]) is not None
        wanted = _wanted(question[found.end() :][:_MAX_FIGURE_CHARS], may_be_year=is_of_time)
        if wanted is None or (is_of_time and wanted.sort != DATE):
            continue
        sort, first, last, _, length = wanted
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


def _wanted(text: str, *, may_be_year: bool) -> Measure | None:
    """Returns the figure at the beginning of a text. A year has many days."""
    if may_be_year and (year := _YEAR.match(text)):
        first = int(year[1]) * DAYS_OF_YEAR
        return Measure(DATE, first, first + DAYS_OF_YEAR - 1, 0, year.end())
    return next((one for one in measures_of(text)[:1] if one.start <= _NEXT_CHARS), None)


def only_figure(text: str, sorts: Container[str] = MEASURES) -> Measure | None:
    """Returns the one figure of these sorts that a text states; None when it states none or several."""
    found = {one[:2]: one for one in reversed(measures_of(text, is_source=True)) if one.sort in sorts}
    return next(iter(found.values())) if len(found) == 1 else None


def figures_of_a_sort(quotes: Sequence[str]) -> list[tuple[float, str]] | None:
    """Returns the figures of quotes that each state one of the same sort, with their words; None of any others."""
    for sorts in ((PERIOD,), CURRENCY_UNITS, (DATE,)):
        found = [(one, text[one.start : one.end]) for text in quotes if (one := only_figure(text, sorts))]
        if len(found) == len(quotes) and len({one.sort for one, _ in found}) == 1:
            return [(one.amount, words) for one, words in found]
    return None
