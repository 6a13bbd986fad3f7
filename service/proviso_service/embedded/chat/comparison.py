"""Says which of several documents states the larger figure, when each states exactly one and the figures are of the
same sort."""

from collections.abc import Container, Sequence

from proviso_service.embedded.chat.phrases import pattern
from proviso_service.embedded.chat.wording import name, said
from proviso_service.reading import CURRENCY_UNITS, Date, Value, values_of

_DAYS = {"hour": 1 / 24, "day": 1, "business day": 1.4, "week": 7, "month": 30.4, "quarter": 91.3, "year": 365}
_PERIOD, _DATE = "days", "date"
_SORTS = frozenset({_PERIOD, _DATE, *CURRENCY_UNITS})


def only_figure(text: str, sorts: Container[str] = _SORTS) -> tuple[str, float] | None:
    """Returns the one figure of these sorts that a text states, with its sort: `days`, `date`, or a currency. None when
    it states none or several."""
    found = {figure for value in values_of(text, is_source=True) if (figure := _figure(value)) and figure[0] in sorts}
    return found.pop() if len(found) == 1 else None


def _figure(value: Value) -> tuple[str, float] | None:
    if isinstance(value, Date):
        day, month = max(value.days, default=(1, value.month))
        return (_DATE, value.year * 372 + month * 31 + day) if value.year and len(value.days) < 2 else None
    amount = float(max(value.amounts))
    if value.unit in _DAYS:
        return _PERIOD, amount * _DAYS[value.unit]
    return (value.unit, amount) if value.unit in CURRENCY_UNITS else None


def larger_line(question: str, quotes: Sequence[tuple[str, str]]) -> str:
    """Names the document with the larger or the smaller figure. `quotes` are pairs of file name and quote. The text is
    empty when the question does not ask for it or the quotes do not tell."""
    wants_larger = bool(pattern("asks_larger").search(question))
    if len(quotes) < 2 or not (wants_larger or pattern("asks_smaller").search(question)):
        return ""
    figures = _figures([quote for _, quote in quotes])
    if figures is None:
        return ""
    best = max(figures) if wants_larger else min(figures)
    if figures.count(best) > 1:
        return f"\n\n{said('figures_same')}" if len(set(figures)) == 1 else ""
    what = "larger figure" if wants_larger else "smaller figure"
    if pattern("asks_when").search(question):
        what = "later date" if wants_larger else "earlier date"
    return "\n\n" + said("figure_of", which=what, where=name(quotes[figures.index(best)][0]))


def _figures(quotes: Sequence[str]) -> list[float] | None:
    """The figures of quotes that each state one of the same sort."""
    for sorts in ((_PERIOD,), CURRENCY_UNITS, (_DATE,)):
        found = [figure for quote in quotes if (figure := only_figure(quote, sorts))]
        if len(found) == len(quotes) and len({sort for sort, _ in found}) == 1:
            return [amount for _, amount in found]
    return None
