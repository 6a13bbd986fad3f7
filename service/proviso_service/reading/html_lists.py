"""The numbers of the items of a web page's lists."""

from collections.abc import Mapping
from dataclasses import dataclass

from proviso_service.reading.numerals import NumeralStyle, numeral

BULLET = "-"

_MAX_DIGITS = 9
_TYPES: Mapping[str, str] = {
    "1": NumeralStyle.DECIMAL,
    "a": NumeralStyle.LOWER_LETTER,
    "A": NumeralStyle.UPPER_LETTER,
    "i": NumeralStyle.LOWER_ROMAN,
    "I": NumeralStyle.UPPER_ROMAN,
    "decimal": NumeralStyle.DECIMAL,
    "decimal-leading-zero": NumeralStyle.DECIMAL_ZERO,
    "lower-alpha": NumeralStyle.LOWER_LETTER,
    "lower-latin": NumeralStyle.LOWER_LETTER,
    "upper-alpha": NumeralStyle.UPPER_LETTER,
    "upper-latin": NumeralStyle.UPPER_LETTER,
    "lower-roman": NumeralStyle.LOWER_ROMAN,
    "upper-roman": NumeralStyle.UPPER_ROMAN,
}
_BULLETS = frozenset({"disc", "circle", "square"})
_UNMARKED = "none"


@dataclass(slots=True)
class OpenList:
    """A list that is being read; `list_type` is the `type` attribute or the style's, "" where none is given."""

    ordered: bool
    list_type: str = ""
    next_number: int = 1
    step: int = 1

    def label(self, value: int | None) -> str:
        """What stands before the next item, whose number is `value` where the page says so."""
        if not self.ordered:
            return "" if self.list_type == _UNMARKED else BULLET
        number = self.next_number if value is None else value
        self.next_number = number + self.step
        if self.list_type == _UNMARKED:
            return ""
        if self.list_type in _BULLETS:
            return BULLET
        return f"{numeral(number, _TYPES.get(self.list_type, NumeralStyle.DECIMAL))}."


def integer(text: str | None) -> int | None:
    """None for anything that is not a number of up to nine digits."""
    if not text:
        return None
    digits = text.strip().removeprefix("+")
    plain = digits.removeprefix("-")
    return int(digits) if plain.isascii() and plain.isdecimal() and len(plain) <= _MAX_DIGITS else None
