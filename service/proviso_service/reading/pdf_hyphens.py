"""Words that a line end divides."""

import re
from collections.abc import Iterable

_DIVIDED = re.compile(r"[(\[\"'\u201c\u2018/]*([^\W\d_]+(?:['\u2019-][^\W\d_]+)*)-")
_NEXT = re.compile(r"[^\W\d_]+")
_MAX_WORD_CHARS = 60
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
# Words of their own, that no line end leaves over from a longer one.
_PREFIXES = re.compile(
    r"all|co|cross|first|full|half|high|long|low|mid|non|quasi|self|semi|short|single|third|well|one|two|three|four|five"
    r"|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety",
    re.IGNORECASE,
)
# As in "pre- and post-closing".
_SUSPENDED = frozenset({"and", "or", "to"})


class Vocabulary:
    """The words of a document as they stand inside its lines, hyphenated ones whole."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words: set[str] = set()
        for line in lines:
            inside = line.rsplit(maxsplit=1)[0] if line.endswith("-") and " " in line else line
            self._words.update(_WORD.findall(inside.lower()))

    def __contains__(self, word: str) -> bool:
        return word.lower() in self._words


def join_lines(above: str, below: str, words: Vocabulary) -> tuple[str, str]:
    """The upper line without the hyphen that only its end called for, and what goes between the two: nothing or a
    space."""
    if above.endswith(("\u2014", "/")):
        return above, ""
    if not above.endswith("-") or len(above) < 2 or not above[-2].isalnum():
        return above, " "
    divided, following = _DIVIDED.fullmatch(above.rsplit(" ", maxsplit=1)[-1][-_MAX_WORD_CHARS:]), _NEXT.match(below)
    if divided is None or following is None:
        return above, "" if below[:1].isalnum() else " "
    first, second = divided[1], following[0]
    if second in _SUSPENDED:
        return above, " "
    return (above if _keeps_hyphen(first, second, words) else above[:-1]), ""


def _keeps_hyphen(first: str, second: str, words: Vocabulary) -> bool:
    if "-" in first or f"{first}-{second}" in words:
        return True
    if first + second in words:
        return False
    # "Agree-ment" is as usual as "agree-ment"; "X-Ray" and "Co-Branded" are not divided by their line.
    return _PREFIXES.fullmatch(first) is not None or (second[0].isupper() and not first.isupper())
