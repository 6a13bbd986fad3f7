"""The outline of a plain text: which of the titles found are headings, and their levels."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from proviso_service.reading.clauses import Title, capital_titles, labelled_titles, numbered_titles
from proviso_service.reading.model import Heading, Span
from proviso_service.reading.numerals import roman_value

PART_LEVEL = 1
CAPITALS_LEVEL = 2
CLAUSE_LEVEL = 3

_MAX_REPEATS = 2
# In capitals, but on one level with the numbered clauses that come after them.
_OPENERS = frozenset({"RECITALS", "RECITAL", "BACKGROUND", "PREAMBLE", "WHEREAS", "INTRODUCTION"})
# An article C or D is rather lettered.
_ROMAN_SIGNS = frozenset("IVXL")


def find_headings(text: str, furniture: Sequence[Span] = ()) -> tuple[Heading, ...]:
    """Headings in order, none overlapping each other or `furniture`: parts (article, exhibit) on level 1, lines in
    capitals on 2, clauses below by the depth of their number."""
    titles = sorted(
        (*labelled_titles(text), *numbered_titles(text), *capital_titles(text)), key=lambda t: (t.start, -t.end)
    )
    distinct = list(_apart_from(furniture, _without_overlaps(titles)))
    repeats = Counter(title.words for title in distinct)
    # A title on every page is a running header.
    return tuple(_levelled(title for title in distinct if repeats[title.words] <= _MAX_REPEATS))


def _without_overlaps(titles: Iterable[Title]) -> Iterator[Title]:
    end = 0
    for title in titles:
        if title.start >= end:
            yield title
            end = title.end


def _apart_from(furniture: Sequence[Span], titles: Iterable[Title]) -> Iterator[Title]:
    following = 0
    for title in titles:
        while following < len(furniture) and furniture[following].end <= title.start:
            following += 1
        if following == len(furniture) or title.end <= furniture[following].start:
            yield title


def _levelled(titles: Iterable[Title]) -> Iterator[Heading]:
    """Gives "4.2" its place under "4." or "ARTICLE IV". Where that heading was not recognised, it takes the place of
    the heading before, so that no clause is shown under a number that is not its own."""
    part = clause = 0
    for title in titles:
        depth = _depth(title.number)
        first = _value(title.number)
        if title.part:
            level, part, clause = PART_LEVEL, first, 0
        elif not title.number:
            level = CLAUSE_LEVEL if title.words in _OPENERS else CAPITALS_LEVEL
        elif depth == 1:
            level, clause = CLAUSE_LEVEL, first
        elif first in (part, clause):
            level = CLAUSE_LEVEL + depth - 1
        else:
            level = CLAUSE_LEVEL if clause or not part else PART_LEVEL
        yield Heading(level, title.words, title.start, title.end)


def _depth(number: str) -> int:
    """1 for "4" and "4.0", 2 for "4.2"."""
    return 1 + sum(1 for part in number.split(".")[1:] if part.strip("0"))


def _value(number: str) -> int:
    """Of the first part of a number, also a Roman one; 0 without one."""
    first = number.partition(".")[0].upper()
    if first.isdecimal():
        return int(first)
    return roman_value(first) if set(first) <= _ROMAN_SIGNS else 0
