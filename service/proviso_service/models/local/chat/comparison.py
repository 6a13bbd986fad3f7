"""Says which of the compared quotes states the larger figure, when each states exactly one of the same sort."""

import re
from collections.abc import Sequence

from proviso_service.models.local.chat.measures import only_amount, only_duration
from proviso_service.models.local.chat.rendering import name

_ASKS_LARGER = re.compile(r"\b(?:longer|longest|higher|highest|larger|largest|more|greater)\b", re.IGNORECASE)
_ASKS_SMALLER = re.compile(r"\b(?:shorter|shortest|lower|lowest|smaller|smallest|less|cheaper)\b", re.IGNORECASE)


def larger_line(question: str, quotes: Sequence[tuple[str, str]]) -> str:
    """`quotes` are pairs of filename and quote. Empty when the question does not ask or the quotes do not tell."""
    wants_larger = bool(_ASKS_LARGER.search(question))
    if len(quotes) < 2 or not (wants_larger or _ASKS_SMALLER.search(question)):
        return ""
    figures = _figures([quote for _, quote in quotes])
    if figures is None:
        return ""
    best = max(figures) if wants_larger else min(figures)
    if figures.count(best) > 1:
        return "\n\nThe figures in these quotes are the same." if len(set(figures)) == 1 else ""
    word = "larger" if wants_larger else "smaller"
    return f"\n\nOf these, the {word} figure is in {name(quotes[figures.index(best)][0])}."


def _figures(quotes: Sequence[str]) -> list[float] | None:
    days = [only_duration(quote) for quote in quotes]
    known_days = [one for one in days if one is not None]
    if len(known_days) == len(quotes):
        return known_days
    amounts = [only_amount(quote) for quote in quotes]
    known = [one for one in amounts if one is not None]
    if len(known) == len(quotes) and len({currency for currency, _ in known}) == 1:
        return [amount for _, amount in known]
    return None
