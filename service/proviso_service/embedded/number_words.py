"""Numbers below a hundred as words, in small letters."""

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

NUMBER_WORDS = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_ONES[1:10])}))?"
    rf"|{'|'.join(sorted(_ONES, key=len, reverse=True))})"
)
"""Pattern of such a number, for `value_of`."""


def value_of(words: str) -> int:
    """What words that match NUMBER_WORDS count, in whatever case."""
    first, *rest = words.lower().replace("-", " ").split()
    if first in _ONES:
        return _ONES.index(first)
    return 10 * (2 + _TENS.index(first)) + (_ONES.index(rest[0]) if rest else 0)
