"""Writes numbers as clauses, pages and lists count, 3 as "3", "c", "iii" or "third", and reads Roman numerals and
numbers in words."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import pairwise


class NumeralStyle(StrEnum):
    """The ways to write a number, named as in the number formats of Word."""

    DECIMAL = "decimal"
    DECIMAL_ZERO = "decimalZero"
    LOWER_LETTER = "lowerLetter"
    UPPER_LETTER = "upperLetter"
    LOWER_ROMAN = "lowerRoman"
    UPPER_ROMAN = "upperRoman"
    ORDINAL = "ordinal"
    CARDINAL_TEXT = "cardinalText"
    ORDINAL_TEXT = "ordinalText"
    NONE = "none"


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_WORTH = {sign: worth for worth, sign in _ROMAN if len(sign) == 1}
_MAX_ROMAN = 3_999
_MAX_REPEATED_LETTERS = 26
_CARDINALS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS = (
    rf"(?:(?:{'|'.join(_TENS[2:])})(?:[\s-](?:{'|'.join(_CARDINALS[1:10])}))?"
    rf"|{'|'.join(sorted(_CARDINALS, key=len, reverse=True))})"
)
"""A pattern of a number below a hundred in words, for `value_in_words`."""

_IRREGULAR_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth"} | {
    "nine": "ninth",
    "twelve": "twelfth",
}


def numeral(value: int, style: str) -> str:
    """Returns the number as a list of that style shows it: after "z" comes "aa", then "bb". An unknown style gives a
    decimal number, and so does a number that the style cannot write."""
    return _WRITTEN.get(style, str)(value)


def roman_value(signs: str) -> int:
    """Returns the value of a Roman numeral in small letters or capitals; 0 for what is none, such as "iiii"."""
    digits = [_WORTH.get(sign, 0) for sign in signs.lower()]
    value = sum(-one if one < following else one for one, following in pairwise((*digits, 0)))
    return value if 0 < value <= _MAX_ROMAN and _roman(value) == signs.lower() else 0


def value_in_words(words: str) -> int:
    """Returns the value of words that match NUMBER_WORDS, whatever their case: 30 for "Thirty", 45 for "forty-five"."""
    first, *rest = words.lower().replace("-", " ").split()
    if first in _CARDINALS:
        return _CARDINALS.index(first)
    return 10 * _TENS.index(first) + (_CARDINALS.index(rest[0]) if rest else 0)


def _letters(value: int) -> str:
    repeats, letter = divmod(value - 1, 26)
    return chr(ord("a") + letter) * (repeats + 1) if 0 <= repeats < _MAX_REPEATED_LETTERS else str(value)


def _roman(value: int) -> str:
    if not 0 < value <= _MAX_ROMAN:
        return str(value)
    signs = ""
    for worth, sign in _ROMAN:
        count, value = divmod(value, worth)
        signs += sign * count
    return signs


def _ordinal_ending(value: int) -> str:
    return "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


def _cardinal(value: int) -> str:
    if not 0 <= value < 100:
        return str(value)
    tens, ones = divmod(value, 10)
    if value < 20:
        return _CARDINALS[value]
    return f"{_TENS[tens]}-{_CARDINALS[ones]}" if ones else _TENS[tens]


def _ordinal(value: int) -> str:
    if not 0 <= value < 100:
        return f"{value}{_ordinal_ending(value)}"
    before, hyphen, last = _cardinal(value).rpartition("-")
    if last in _IRREGULAR_ORDINALS:
        last = _IRREGULAR_ORDINALS[last]
    else:
        last = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return f"{before}{hyphen}{last}"


_WRITTEN: Mapping[str, Callable[[int], str]] = {
    NumeralStyle.DECIMAL: str,
    NumeralStyle.DECIMAL_ZERO: "{:02d}".format,
    NumeralStyle.LOWER_LETTER: _letters,
    NumeralStyle.UPPER_LETTER: lambda value: _letters(value).upper(),
    NumeralStyle.LOWER_ROMAN: _roman,
    NumeralStyle.UPPER_ROMAN: lambda value: _roman(value).upper(),
    NumeralStyle.ORDINAL: lambda value: f"{value}{_ordinal_ending(value)}",
    NumeralStyle.CARDINAL_TEXT: lambda value: _cardinal(value).capitalize(),
    NumeralStyle.ORDINAL_TEXT: lambda value: _ordinal(value).capitalize(),
    NumeralStyle.NONE: lambda _: "",
}
