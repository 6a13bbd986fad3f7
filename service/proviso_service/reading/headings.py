"""The outline of a document whose format marks headings, if its author did."""

import re
from collections.abc import Iterable, Iterator, Sequence

from proviso_service.reading.model import Heading, Span
from proviso_service.reading.outline import PART_LEVEL, find_headings

_MAX_TITLE_CHARS = 150
_MAX_TITLE_WORDS = 20
_MAX_SENTENCE_WORDS = 6
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,5}")


def reads_as_title(text: str) -> bool:
    """Whether a paragraph that is marked as a heading is one: whole clauses are given heading styles as well, for the
    sake of their numbers."""
    words = text.split()
    if len(text) > _MAX_TITLE_CHARS or len(words) > _MAX_TITLE_WORDS or not any(char.isalnum() for char in text):
        return False
    return len(words) <= _MAX_SENTENCE_WORDS or not text.endswith((".", ";", ",", ":"))


def stands_out_as_title(text: str) -> bool:
    """Whether a paragraph that is only bold or centred is a heading; stricter, because so are names and notices."""
    if not reads_as_title(text) or "\n" in text or text.endswith((",", ";", "-", "_")):
        return False
    letters = sum(char.isalpha() for char in text)
    opens = next((char for char in text if char.isalnum()), "")
    return letters * 2 > len(text) and letters >= 4 and (opens.isupper() or opens.isdigit())


def complete_outline(
    text: str, marked: Sequence[Heading], likely: Iterable[Heading], apart: Iterable[Span] = ()
) -> tuple[Heading, ...]:
    """The marked headings, and around them those found in the text as in a plain one, then the likely ones that
    overlap none of these; nothing inside the spans `apart`.

    Levels of found and likely headings are those of `find_headings`. Beside marked ones they come below all of them,
    but for parts, which open on the first level, and for numbers as deep as those of a marked heading, which share its
    level."""
    taken = sorted([(heading.start, heading.end) for heading in marked] + [(span.start, span.end) for span in apart])
    found = list(_outside(find_headings(text), taken))
    taken = sorted(taken + [(heading.start, heading.end) for heading in found])
    added = [*found, *_outside(likely, taken)]
    return tuple(sorted([*marked, *_levelled(added, marked)], key=lambda heading: heading.start))


def _outside(headings: Iterable[Heading], taken: Sequence[tuple[int, int]]) -> Iterator[Heading]:
    """Those that overlap none of the sorted spans; both in order of their start."""
    index = 0
    for heading in sorted(headings, key=lambda heading: heading.start):
        while index < len(taken) and taken[index][1] <= heading.start:
            index += 1
        if index == len(taken) or taken[index][0] >= heading.end:
            yield heading


def _levelled(headings: Iterable[Heading], marked: Sequence[Heading]) -> Iterator[Heading]:
    if not marked:
        yield from headings
        return
    first, deepest = min(heading.level for heading in marked), max(heading.level for heading in marked)
    level_of_depth: dict[int, int] = {}
    for heading in marked:
        if depth := _depth(heading.title):
            level_of_depth.setdefault(depth, heading.level)
    for heading in headings:
        depth = _depth(heading.title)
        level = level_of_depth.get(depth, deepest + heading.level)
        if heading.level == PART_LEVEL and not depth:
            level = first
        yield Heading(level, heading.title, heading.start, heading.end)


def _depth(title: str) -> int:
    """How deep the number is that a title opens with; 0 without one."""
    number = _NUMBER.match(title)
    return number[0].count(".") + 1 if number else 0
