"""Finds tables of contents, and their lines: "9. Governing Law ........ 14"."""

import re
from collections.abc import Iterator, Sequence

from proviso_service.reading.model import Span

_MIN_ENTRIES = 5
_MAX_ENTRY_CHARS = 150
_LEAST_SHARE = 0.6
_KEY = re.compile(
    r"[\W_]*(?:(?i:section|clause|article)[\W_]*)?(?P<number>\d[\d.]*|[IVXLC]+\b)?[\W_]*(?P<word>[^\W\d_]{1,20})?"
)
_KEY_CHARS = 80
# The end of a line in a table of contents.
_ENTRY_END = re.compile(r"(?:\.[ ]?){3,}[ \t]*\d{0,4}[ \t]*\Z|(?<![.;:,\s])(?:[ \t]{3,}|[ \t]*\|[ \t]*)\d{1,4}[ \t]*\Z")
_LINE_CHARS = 200


def ends_as_entry(text: str, position: int) -> bool:
    """Tells whether the line that goes on at the position ends as in a table of contents, with the number of a page."""
    line_end = text.find("\n", position, position + _LINE_CHARS)
    end = line_end if line_end >= 0 else position + _LINE_CHARS
    return _ENTRY_END.search(text, position, end) is not None


def tables_of_contents(text: str, entries: Sequence[int]) -> Iterator[Span]:
    """Yields the tables of contents of a text, in order: runs of short entries, most of which come again later in the
    text. The first clauses of the text may stand in one run with the table. `entries` are the positions, in order, at
    which numbers and titles stand that may be entries, or clauses of the text."""
    keys = [_key(text, entry) for entry in entries]
    last = {key: index for index, key in enumerate(keys) if key}
    first = 0
    for index in range(1, len(entries) + 1):
        if index < len(entries) and entries[index] - entries[index - 1] <= _MAX_ENTRY_CHARS:
            continue
        repeated = _first_repeated(keys, first, index)
        comes_again = (last.get(key, 0) for key in keys[first:index])
        again = [one for one, at in enumerate(comes_again, first) if at >= index or one < repeated <= at]
        if index - first >= _MIN_ENTRIES and len(again) >= _LEAST_SHARE * (index - first):
            # The document's title may stand before the first entry that comes again, and its text after the last one.
            yield Span(entries[again[0]], entries[again[-1]] + 1)
        first = index


def _first_repeated(keys: Sequence[str], first: int, end: int) -> int:
    """Returns where in a run an entry comes for the second time, so that no table of contents goes on there; `end`
    where none does."""
    seen: set[str] = set()
    for index in range(first, end):
        if keys[index] in seen:
            return index
        if keys[index]:
            seen.add(keys[index])
    return end


def _key(text: str, start: int) -> str:
    """Returns the number and the first word of an entry; empty for an entry without words."""
    match = _KEY.match(text, start, start + _KEY_CHARS)
    if match is None or not match["word"]:
        return ""
    return f"{(match['number'] or '').rstrip('.')} {match['word'].casefold()}"
