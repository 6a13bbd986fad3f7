"""Finds the numbers in a text that may open a clause, and where they stand.

Left out are references to clauses, amounts, numbers inside titles, and the lines of tables of contents. Every look
around a number is bounded, so that the time is linear in the text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from proviso_service.reading.contents import ends_as_entry
from proviso_service.reading.model import Heading, Span

Levels = tuple[int, ...]
"""A clause number: (12, 3) for "12.3"."""

_NUMBER = re.compile(
    r"(?<![^\s*_>|-])(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})(?:\([a-zA-Z]{1,4}\))?(?P<close>(?:[.:)]|\.?[-\u2013\u2014])?)"
    r"[*_]{0,3}(?=\s)(?=(?P<gap>[^\S\n]*\n{0,5}[^\S\n]*)(?P<first>\S))"
)
_OPENING_MARKS = frozenset("\"\u201c\u201e\u2018'([$*_<\u2022")
_LABEL = r"(?:SECTION|Section|CLAUSE|Clause|ARTICLE|Article|SEC\.|Sec\.|\u00a7)[^\S\n]{0,3}"
_LINE_START = re.compile(rf"(?:\A|[\n\f])[^\S\n]*(?P<opening>(?:[*_>|-]{{1,4}}[^\S\n]?)?(?:{_LABEL})?)\Z")
_LABEL_INSIDE = re.compile(rf"[.;:!?\"\u201d)]\s+(?P<opening>{_LABEL})\Z")
_LOOK_BACK = 40
_SENTENCE_ENDS = frozenset('.;:!?"\u201d\u2019)]')
# After these a number refers to a clause, or counts something.
_REFERRING = re.compile(
    r"(?:\b(?:(?:sub-?)?(?:sections?|clauses?|paragraphs?|articles?)|schedules?|exhibits?|annex|nos?\.)|[(&$\u00a7])\Z",
    re.IGNORECASE,
)
_GOING_ON = re.compile(
    r"(?:\b(?:and|or|to|through|in|of|under|with|by|per|than|at|from|the|least|is|are|between)|,)\Z", re.IGNORECASE
)
_LIST_GOES_ON = re.compile(r";\s*(?:and|or)\Z")
_UNIT = re.compile(r"[^\S\n]*(?:million|billion|percent|per cent|hours|days|months|years|[ap]\.?m\b)", re.IGNORECASE)


class Position(Enum):
    """Where a number stands: at the beginning of a line, at that of a line which seems to go on from the one before,
    after the end of a sentence, or elsewhere, as one alone between blank lines. AFTER_WORD is elsewhere, after a word
    in small letters."""

    LINE = auto()
    WRAPPED_LINE = auto()
    SENTENCE = auto()
    ELSEWHERE = auto()
    AFTER_WORD = auto()


@dataclass(frozen=True, slots=True)
class Opening:
    """A number that may open a clause. `words` is how it is written, with a label such as "Section"."""

    start: int
    end: int
    words: str
    levels: Levels
    is_plain: bool
    position: Position
    after_colon: bool
    before_small_letter: bool


def openings(text: str, headings: Sequence[Heading], apart: Sequence[Span]) -> Iterator[Opening]:
    """Yields the numbers outside titles and the spans `apart` after which a clause may begin."""
    taken = sorted([(heading.start, heading.end) for heading in headings] + [(span.start, span.end) for span in apart])
    index = 0
    for match in _NUMBER.finditer(text):
        while index < len(taken) and taken[index][1] <= match.start():
            index += 1
        is_taken = index < len(taken) and taken[index][0] <= match.start()
        if not is_taken and (found := _opening(text, match)):
            yield found


def _opening(text: str, match: re.Match[str]) -> Opening | None:
    number, first, start = match["number"], match["first"], match.start()
    is_plain = "." not in number
    is_small = first.islower()
    is_alone = "\n\n" in match["gap"]
    if is_plain and (is_small or is_alone or match["close"] not in (".", ")")):
        return None
    if not (first.isupper() or is_small or first in _OPENING_MARKS) or _UNIT.match(text, match.end()):
        return None
    before = text[max(0, start - _LOOK_BACK) : start]
    line = _LINE_START.search(before if start > _LOOK_BACK else "\n" + before)
    opening = (line or _LABEL_INSIDE.search(before) or {"opening": ""})["opening"]
    above = before[: len(before) - len(opening)].rstrip()
    if (
        not int(number.partition(".")[0])
        or (not line and "\n" in match["gap"])
        or _REFERRING.search(above)
        or ends_as_entry(text, match.end())
    ):
        return None
    return Opening(
        start - len(opening),
        match.end("close"),
        " ".join((opening + number).lstrip("*_>|- \t").split()),
        _levels(number),
        is_plain,
        Position.ELSEWHERE if is_alone else _position(above, before, is_line=line is not None),
        above.endswith(":"),
        is_small,
    )


def _position(above: str, before: str, *, is_line: bool) -> Position:
    is_sentence = not above or above[-1] in _SENTENCE_ENDS or _LIST_GOES_ON.search(above) is not None
    goes_on = _GOING_ON.search(above) is not None
    if not is_line:
        if is_sentence:
            return Position.SENTENCE
        return Position.AFTER_WORD if goes_on or above[-1].islower() else Position.ELSEWHERE
    is_apart = before[len(above) :].count("\n") > 1 and not goes_on
    return Position.LINE if is_sentence or is_apart else Position.WRAPPED_LINE


def _levels(number: str) -> Levels:
    """Returns the levels of a number; "4.0" is the number of clause 4."""
    levels = [int(level) for level in number.split(".")]
    while len(levels) > 1 and not levels[-1]:
        levels.pop()
    return tuple(levels)
