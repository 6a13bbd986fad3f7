"""Puts side by side what several documents say. It also says which of them states the larger figure, when each states
exactly one and the figures are of the same sort."""

from collections.abc import Container, Sequence

from proviso_service.embedded.chat.phrases import pattern
from proviso_service.embedded.chat.quoting import listed, stated
from proviso_service.embedded.chat.ranking import ScoredSentence
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest
from proviso_service.embedded.chat.text import excerpt
from proviso_service.embedded.chat.wording import bullets, name, said
from proviso_service.reading import CURRENCY_UNITS, Date, Value, values_of

_DAYS = {"hour": 1 / 24, "day": 1, "business day": 1.4, "week": 7, "month": 30.4, "quarter": 91.3, "year": 365}
_PERIOD, _DATE = "days", "date"
SORTS = frozenset({_PERIOD, _DATE, *CURRENCY_UNITS})

_ASKS_LARGER = pattern("asks_larger")
_ASKS_SMALLER = pattern("asks_smaller")
_ASKS_WHEN = pattern("asks_when")

_MAX_COMPARED = 12


def only_figure(text: str, sorts: Container[str] = SORTS) -> tuple[str, float] | None:
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


def compared(request: UserRequest, target: TargetDocuments, good: Sequence[ScoredSentence]) -> str:
    """Lists the best sentence of each document, and the documents asked about in which nothing was found."""
    best: dict[str, ScoredSentence] = {}
    for one in good:
        best.setdefault(one.document, one)
    silent = [name(one.filename) for one in target.documents if one.document_id not in best]
    if len(best) + len(silent) + len(target.missing) == 1:
        return stated(good, request.bare_question, request.language)
    chosen = _in_order(list(best.values())[:_MAX_COMPARED], target)
    lines = listed(chosen, request.bare_question, good)
    lines += [said("silent", where=one) for one in silent]
    lines += [said("no_match", request.language, where=f"'{name(one)}'") for one in target.missing]
    larger = larger_line(request.question, [(one.passage.filename, excerpt(one.sentence)) for one in chosen])
    return f"{said('side_by_side', request.language)}\n" + bullets(lines) + larger


def _in_order(chosen: list[ScoredSentence], target: TargetDocuments) -> list[ScoredSentence]:
    order = {document_id: index for index, document_id in enumerate(target.ids)}
    return sorted(chosen, key=lambda one: order.get(one.passage.document_id, len(order)))


def larger_line(question: str, quotes: Sequence[tuple[str, str]]) -> str:
    """Names the document with the larger or the smaller figure. `quotes` are pairs of file name and quote. The text is
    empty when the question does not ask for it or the quotes do not tell."""
    wants_larger = bool(_ASKS_LARGER.search(question))
    if len(quotes) < 2 or not (wants_larger or _ASKS_SMALLER.search(question)):
        return ""
    figures = _figures([quote for _, quote in quotes])
    if figures is None:
        return ""
    best = max(figures) if wants_larger else min(figures)
    if figures.count(best) > 1:
        return f"\n\n{said('figures_same')}" if len(set(figures)) == 1 else ""
    what = "larger figure" if wants_larger else "smaller figure"
    if _ASKS_WHEN.search(question):
        what = "later date" if wants_larger else "earlier date"
    return "\n\n" + said("figure_of", which=what, where=name(quotes[figures.index(best)][0]))


def _figures(quotes: Sequence[str]) -> list[float] | None:
    """The figures of quotes that each state one of the same sort."""
    for sorts in ((_PERIOD,), CURRENCY_UNITS, (_DATE,)):
        found = [figure for quote in quotes if (figure := only_figure(quote, sorts))]
        if len(found) == len(quotes) and len({sort for sort, _ in found}) == 1:
            return [amount for _, amount in found]
    return None
