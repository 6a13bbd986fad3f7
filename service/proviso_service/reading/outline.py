"""Finds the outline of a text: which of the titles in it are headings, on which levels, and how they go together with
the headings that a format marks."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from proviso_service.reading.clauses import Title, annexes, capital_titles, labelled_titles, numbered_titles
from proviso_service.reading.model import Heading, Span
from proviso_service.reading.numerals import roman_value

PART_LEVEL = 1
CAPITALS_LEVEL = 2
CLAUSE_LEVEL = 3

_MAX_REPEATS = 2
# These are in capitals, but on one level with the numbered clauses that come after them.
_OPENERS = frozenset({"RECITALS", "RECITAL", "BACKGROUND", "PREAMBLE", "WHEREAS", "INTRODUCTION"})
# The signs of Roman numerals that number parts. C and D are missing, because an article C or D is more likely a letter.
_ROMAN_SIGNS = frozenset("IVXL")


def find_headings(text: str, furniture: Sequence[Span] = ()) -> tuple[Heading, ...]:
    """Returns the headings of a plain text in order; none overlaps another or `furniture`. Parts (article, exhibit) are
    on level 1, lines in capitals on level 2, and clauses below by the depth of their number."""
    titles = sorted(
        (*labelled_titles(text), *annexes(text), *numbered_titles(text), *capital_titles(text)),
        key=lambda title: (title.start, -title.end),
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
    """Yields the headings with their levels: "4.2" gets its place under "4." or "ARTICLE IV". Where that heading was
    not recognised, it takes the place of the heading before, so that no clause is shown under a number that is not its
    own."""
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
    """Returns how deep a clause number is: 1 for "4" and "4.0", 2 for "4.2"."""
    return 1 + sum(1 for part in number.split(".")[1:] if part.strip("0"))


def _value(number: str) -> int:
    """Returns the value of the first part of a number, which may be Roman; 0 for an empty one."""
    first = number.partition(".")[0].upper()
    if first.isdecimal():
        return int(first)
    return roman_value(first) if set(first) <= _ROMAN_SIGNS else 0


_MAX_TITLE_CHARS = 150
_MAX_TITLE_WORDS = 20
_MAX_SENTENCE_WORDS = 6
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,5}")


def reads_as_title(text: str) -> bool:
    """Tells whether a paragraph that is marked as a heading reads like one. Many documents give heading styles to whole
    clauses, for the sake of their numbers."""
    words = text.split()
    if len(text) > _MAX_TITLE_CHARS or len(words) > _MAX_TITLE_WORDS or not any(char.isalnum() for char in text):
        return False
    return len(words) <= _MAX_SENTENCE_WORDS or not text.endswith((".", ";", ",", ":"))


def stands_out_as_title(text: str) -> bool:
    """Tells whether a paragraph that is only bold or centred is a heading. It is stricter, because names and notices
    are set so too."""
    if not reads_as_title(text) or "\n" in text or text.endswith((",", ";", "-", "_")):
        return False
    letters = sum(char.isalpha() for char in text)
    opens = next((char for char in text if char.isalnum()), "")
    return letters * 2 > len(text) and letters >= 4 and (opens.isupper() or opens.isdigit())


def complete_outline(
    text: str, marked: Sequence[Heading], likely: Iterable[Heading], apart: Iterable[Span] = ()
) -> tuple[Heading, ...]:
    """Returns the marked headings, those that `find_headings` finds in the text around them, and then the likely ones
    that overlap none of these. Nothing lies inside the spans `apart`.

    Found and likely headings have the levels of `find_headings`. Beside marked headings they come below all of these,
    with two exceptions: parts are on the first level, and a number as deep as that of a marked heading shares its
    level."""
    taken = sorted([(heading.start, heading.end) for heading in marked] + [(span.start, span.end) for span in apart])
    found = list(_outside(find_headings(text), taken))
    taken = sorted(taken + [(heading.start, heading.end) for heading in found])
    added = [*found, *_outside(likely, taken)]
    return tuple(sorted([*marked, *_with_levels(added, marked)], key=lambda heading: heading.start))


def _outside(headings: Iterable[Heading], taken: Sequence[tuple[int, int]]) -> Iterator[Heading]:
    """Yields the headings that overlap none of the sorted spans, in the order of their start."""
    index = 0
    for heading in sorted(headings, key=lambda heading: heading.start):
        while index < len(taken) and taken[index][1] <= heading.start:
            index += 1
        if index == len(taken) or taken[index][0] >= heading.end:
            yield heading


def _with_levels(headings: Iterable[Heading], marked: Sequence[Heading]) -> Iterator[Heading]:
    if not marked:
        yield from headings
        return
    first, deepest = min(heading.level for heading in marked), max(heading.level for heading in marked)
    level_of_depth: dict[int, int] = {}
    for heading in marked:
        if depth := _number_depth(heading.title):
            level_of_depth.setdefault(depth, heading.level)
    for heading in headings:
        depth = _number_depth(heading.title)
        level = level_of_depth.get(depth, deepest + heading.level)
        if heading.level == PART_LEVEL and not depth:
            level = first
        yield Heading(level, heading.title, heading.start, heading.end)


def _number_depth(title: str) -> int:
    """Returns how deep the number is that a title opens with; 0 for a title without one."""
    number = _NUMBER.match(title)
    return number[0].count(".") + 1 if number else 0
