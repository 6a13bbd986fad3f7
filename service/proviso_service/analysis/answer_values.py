"""The values that an answer holds, in a form that a program can sort and compare."""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from proviso_service.analysis.party_names import Definitions
from proviso_service.reading import CURRENCY_UNITS, LAW, Date, Figure, values_of

MAX_VALUES = 20

_PERIODS = {
    "hour": "PT{}H",
    "day": "P{}D",
    "business day": "P{}D",
    "week": "P{}W",
    "month": "P{}M",
    "quarter": "P{}M",
    "year": "P{}Y",
}
_MONTHS_OF_QUARTER = 3


class ValueKind(StrEnum):
    DATE = "date"
    AMOUNT = "amount"
    PERIOD = "period"
    PERCENTAGE = "percentage"
    PARTY = "party"
    LAW = "law"


@dataclass(frozen=True, slots=True)
class AnswerValue:
    """A value of an answer, from `start` to `end` in its text. `value` is a date or a month as `2025-01-31` or
    `2025-01`, a decimal number, a period of ISO 8601, the full name of a party, or a place whose law it is. `unit` is
    the currency of an amount as ISO 4217 has it, and `business day` for a period of such days."""

    kind: ValueKind
    value: str
    start: int
    end: int
    unit: str = ""


def values_in_answer(text: str, parties: Definitions) -> list[AnswerValue]:
    """Returns the values in the order in which they stand in the answer. A date without a year, or whose day may be its
    month, is left out, and so are numbers without a unit."""
    figures = (value for one in values_of(text, is_source=True) for value in _of_value(one))
    found = sorted([*figures, *_laws(text), *_parties(text, parties)], key=lambda one: (one.start, -one.end))
    return [one for one, before in zip(found, [None, *found], strict=False) if before is None or one.end > before.end][
        :MAX_VALUES
    ]


def _of_value(value: Date | Figure) -> Iterator[AnswerValue]:
    if isinstance(value, Date):
        if written := _date(value):
            yield AnswerValue(ValueKind.DATE, written, value.start, value.end)
        return
    amount = max(value.amounts)  # 12,500 may be read as twelve and a half; it hardly ever is that
    if value.unit in CURRENCY_UNITS:
        yield AnswerValue(ValueKind.AMOUNT, _written(amount), value.start, value.end, value.unit.upper())
    elif value.unit == "%":
        yield AnswerValue(ValueKind.PERCENTAGE, _written(amount), value.start, value.end)
    elif value.unit in _PERIODS:
        number = amount * _MONTHS_OF_QUARTER if value.unit == "quarter" else amount
        unit = value.unit if value.unit == "business day" else ""
        yield AnswerValue(ValueKind.PERIOD, _PERIODS[value.unit].format(_written(number)), value.start, value.end, unit)


def _date(date: Date) -> str:
    if not date.year:
        return ""
    if not date.days:
        return f"{date.year:04}-{date.month:02}"
    [(day, month), *others] = date.days
    exists = not others and day <= calendar.monthrange(date.year, month)[1]
    return f"{date.year:04}-{month:02}-{day:02}" if exists else ""


def _written(amount: Decimal) -> str:
    return f"{amount.normalize():f}"


def _laws(text: str) -> Iterator[AnswerValue]:
    for match in LAW.finditer(text):
        place = match["place"] or match["whose"]
        yield AnswerValue(ValueKind.LAW, " ".join(place.split()).rstrip(".,"), *match.span())


def _parties(text: str, parties: Definitions) -> Iterator[AnswerValue]:
    """The parties whom the answer names, by their name or by what the document calls them, each once."""
    for party in parties.parties:
        places = ((text.find(name), name) for name in (party.name, *party.terms))
        start, name = min((place for place in places if place[0] >= 0), default=(-1, ""))
        if name:
            yield AnswerValue(ValueKind.PARTY, party.name, start, start + len(name))
