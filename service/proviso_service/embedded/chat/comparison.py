"""Puts side by side what several documents say. It also says which of them states the larger figure, when each states
exactly one and the figures are of the same sort."""

import re
from collections.abc import Sequence

from proviso_service.embedded.chat.quoting import listed, stated
from proviso_service.embedded.chat.ranking import AnswerCriteria, ScoredSentence, quote_of
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest
from proviso_service.embedded.chat.wording import bullets, name
from proviso_service.reading import NUMBER_WORDS, value_in_words

_DAYS = {"hour": 1 / 24, "day": 1, "week": 7, "month": 30.4, "quarter": 91.3, "year": 365}
_DURATION = re.compile(
    r"(?<!hundred\s)(?<!hundred\sand\s)"  # of a larger number these are a part
    rf"\b(?P<number>\d+|{NUMBER_WORDS})\)?(?:\s*\((?P<digits>\d+)\))?[\s-]+"
    r"(?:(?:business|calendar|working|full|consecutive)\s+)?(?P<unit>hour|day|week|month|quarter|year)",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"(?P<currency>[$€£]|USD|EUR|GBP)\s?(?P<amount>\d[\d,]*(?:\.\d+)?)(?P<scale>\s?(?:million|m)\b)?", re.IGNORECASE
)

_ASKS_LARGER = re.compile(r"\b(?:longer|longest|higher|highest|larger|largest|more|greater)\b", re.IGNORECASE)
_ASKS_SMALLER = re.compile(r"\b(?:shorter|shortest|lower|lowest|smaller|smallest|less|cheaper)\b", re.IGNORECASE)

_MAX_COMPARED = 12


def only_duration(text: str) -> float | None:
    """Returns the days of the one duration that `text` states; None when it states none or several."""
    found = {_days(match) for match in _DURATION.finditer(text)}
    return found.pop() if len(found) == 1 else None


def only_amount(text: str) -> tuple[str, float] | None:
    """Returns currency and amount of the one sum that `text` states; None when it states none or several."""
    found = {_amount(match) for match in _MONEY.finditer(text)}
    return found.pop() if len(found) == 1 else None


def _days(match: re.Match[str]) -> float:
    number = match["digits"] or match["number"]
    count = int(number) if number.isdigit() else value_in_words(number)
    return count * _DAYS[match["unit"].lower()]


def _amount(match: re.Match[str]) -> tuple[str, float]:
    value = float(match["amount"].replace(",", ""))
    return match["currency"].upper(), value * (1_000_000 if match["scale"] else 1)


def compared(
    request: UserRequest, target: TargetDocuments, good: Sequence[ScoredSentence], wanted: AnswerCriteria
) -> str:
    """Lists the best sentence of each document, and the documents asked about in which nothing was found."""
    best: dict[str, ScoredSentence] = {}
    for one in good:
        best.setdefault(one.document, one)
    silent = [name(one.filename) for one in target.documents if one.document_id not in best]
    if len(best) + len(silent) + len(target.missing) == 1:
        return stated(good, wanted)
    chosen = _in_order(list(best.values())[:_MAX_COMPARED], target)
    lines = listed(chosen, wanted, good)
    lines += [f"{one}: nothing found that answers this." for one in silent]
    lines += [f"'{name(one)}': no document in this matter has a name that matches." for one in target.missing]
    larger = larger_line(request.question, [(one.passage.filename, quote_of(one, wanted)) for one in chosen])
    return "Side by side:\n" + bullets(lines) + larger


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
