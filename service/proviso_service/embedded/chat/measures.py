"""Reads durations and amounts of money out of quotes, to say which of two is the larger."""

import re

from proviso_service.embedded.number_words import NUMBER_WORDS, value_of

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


def only_duration(text: str) -> float | None:
    """Days of the one duration that `text` states; None when it states none or several."""
    found = {_days(match) for match in _DURATION.finditer(text)}
    return found.pop() if len(found) == 1 else None


def only_amount(text: str) -> tuple[str, float] | None:
    """Currency and amount of the one sum that `text` states; None when it states none or several."""
    found = {_amount(match) for match in _MONEY.finditer(text)}
    return found.pop() if len(found) == 1 else None


def _days(match: re.Match[str]) -> float:
    number = match["digits"] or match["number"]
    count = int(number) if number.isdigit() else value_of(number)
    return count * _DAYS[match["unit"].lower()]


def _amount(match: re.Match[str]) -> tuple[str, float]:
    value = float(match["amount"].replace(",", ""))
    return match["currency"].upper(), value * (1_000_000 if match["scale"] else 1)
