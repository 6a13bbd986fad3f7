"""Finds enumerations in a text ("(a) ...; (b) ...", "1. ... 2. ...", "6.1.1 ... 6.1.2 ...") and what opens them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from proviso_service.reading.chunking import sentence_ends
from proviso_service.reading.clause_numbers import meanings_of

_MARK = re.compile(
    r"(?:(?<=[\s:;,.])|^)(?:\((?P<in_brackets>[a-z]{1,5}|[A-Z]|\d{1,2})\)"
    r"|(?P<open>[a-z]{1,5}|[A-Z]|\d{1,2}(?:\.\d{1,2}){0,3})(?P<end>[.)]?))(?=\s|(?<=[.)])[A-Z])"
    r"|^[ \t]*(?P<bullet>[-*\u2022\u00b7])(?=\s)",
    re.MULTILINE,
)
_REFERS = re.compile(
    r"\b(?:article|clause|item|paragraph|part|section|sub-?clause|sub-?paragraph|sub-?section)s?\s*$", re.IGNORECASE
)
_OF_BULLETS = frozenset({("", 1), ("", 2)})
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*\u2022]|\(?[a-z\d]{1,4}[.)])[ \t])", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.?!][\"\u201d\u2019)]*\s+|\n\s*\n")
_OPENS = re.compile(r"[:;,\u2013\u2014-]\W*$")
_GOES_ON = re.compile(r"[^.;?!]$|;$")
_STATES = re.compile(r"[.;?!]\W*$")
_BLANK = re.compile(r"\n\s*\n\s*")
_PAGE_END = re.compile(r"(?:\n\n(?:(?:Page )?\d{1,3}\b[^\n]*|Source:[^\n]*))+\n*\Z")

_MAX_ITEM_CHARS = 3_000
_MAX_OPENING_CHARS = 700
_MAX_BETWEEN_CHARS = 60
_REFERENCE_CHARS = 20
_MANY_CHARS = 300
"""An item that is longer, and holds an enumeration of its own, is what opens that one, and its items."""

_DEPTH, _MOST_FIRST = 2, 6
"""So many enumerations within one another are read, and so many marks are tried as the first of one: with more the time
would grow with a power of the length of the text."""


@dataclass(frozen=True, slots=True)
class Enumeration:
    """What opens some items, and the items with their marks, both with collapsed white space. `is_whole` is false where
    the text ends with the last item, so that others may follow."""

    opening: str
    items: tuple[str, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class _Mark:
    """The mark of an item: how it is written, with the numbers in front of its own, and what this may count."""

    start: int
    end: int
    written: str
    counts: frozenset[tuple[str, int]]
    may_be_clause: bool = False

    @property
    def is_first(self) -> bool:
        return any(value == 1 for _, value in self.counts)

    def is_followed_by(self, other: "_Mark") -> bool:
        return other.written == self.written and not other.counts.isdisjoint(
            {(style, value + 1) for style, value in self.counts}
        )


def enumeration_at(text: str, start: int, end: int, depth: int = _DEPTH) -> Enumeration | None:
    """Returns the enumeration that the part of a text from `start` to `end` opens, and so many within it; None where it
    opens none."""
    marks = list(_marks(text))
    opens_what_follows = _STATES.search(text[start:end]) is None
    tried = [one for one in marks if one.is_first and one.start > start][:_MOST_FIRST]
    for first in tried:
        is_there = first.start < end or (opens_what_follows and _is_short(text[end : first.start]))
        opening = text[start : min(end, first.start)].strip()
        if is_there and _may_open(opening, first):
            found = _enumeration(text, opening, _chain(first, marks), depth)
            if len(found.items) > 1:
                return found
    return None


def enumeration_holding(text: str, start: int) -> Enumeration | None:
    """Returns the innermost enumeration that has the place `start` of a text in one of its items; None where there is
    none."""
    marks = list(_marks(text))
    for first in reversed(marks):
        if first.is_first and first.start <= start:
            opening = text[_opening_before(text, first.start) : first.start].strip()
            chain = _chain(first, marks) if _may_open(opening, first) else []
            if len(chain) > 1 and start < chain[-1].start + len(_first_item(text[chain[-1].start :])):
                return _enumeration(text, opening, chain, _DEPTH)
    return None


def _enumeration(text: str, opening: str, chain: Sequence[_Mark], depth: int) -> Enumeration:
    last = text[chain[-1].start :]
    of_last = _first_item(last)
    items = [one for before, after in pairwise(chain) for one in _items(text[before.start : after.start], depth)]
    inner = enumeration_at(last, 0, len(of_last), depth - 1) if depth and of_last.rstrip().endswith(":") else None
    items += [_one_line(of_last), *inner.items] if inner else _items(of_last, depth)
    is_whole = inner.is_whole if inner else len(of_last) < len(last)
    return Enumeration(_one_line(opening), tuple(items), is_whole)


def _items(item: str, depth: int) -> Iterator[str]:
    """Yields an item, or what opens the items of its own and these."""
    item = _PAGE_END.sub("", _BLANK.sub("\n\n", item))
    inner = enumeration_at(item, 0, len(item), depth - 1) if depth and len(item) > _MANY_CHARS else None
    if inner is None:
        yield _one_line(item)
    else:
        yield inner.opening
        yield from inner.items


def _marks(text: str) -> Iterator[_Mark]:
    for found in _MARK.finditer(text):
        label = found["in_brackets"] or found["open"]
        if found["bullet"]:
            yield _Mark(found.start("bullet"), found.end(), found["bullet"], _OF_BULLETS)
        elif (found["in_brackets"] or found["end"] or "." in label) and not _refers(text, found.start()):
            before, dot, last = label.rpartition(".")
            written = "()" if found["in_brackets"] else f"{before}{dot}{found['end']}"
            may_be_clause = not found["in_brackets"] and found["end"] != ")"
            yield _Mark(found.start(), found.end(), written, frozenset(meanings_of(last)), may_be_clause)


def _refers(text: str, at: int) -> bool:
    """Tells whether a number or letter names a clause, as in "clause (b)"."""
    return _REFERS.search(text[max(0, at - _REFERENCE_CHARS) : at]) is not None


def _chain(first: _Mark, marks: Sequence[_Mark]) -> list[_Mark]:
    """Returns the marks that count on from the first one."""
    chain = [first]
    for one in marks:
        if chain[-1].start < one.start <= chain[-1].end + _MAX_ITEM_CHARS and chain[-1].is_followed_by(one):
            chain.append(one)
    return chain


def _may_open(opening: str, first: _Mark) -> bool:
    """Tells whether a text may open items of which this is the first: what ends with a colon, or, before what is no
    number of a clause, any text that is no sentence of its own."""
    return bool(opening) and (_OPENS if first.may_be_clause else _GOES_ON).search(opening) is not None


def _first_item(text: str) -> str:
    """Returns the text as far as its first sentence or paragraph goes."""
    paragraph = _PARAGRAPH_END.search(text)
    return text[: next(sentence_ends(text, 0, paragraph.end() if paragraph else len(text)))]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _is_short(between: str) -> bool:
    """Tells whether so little stands between a sentence and an item that the sentence opens it: a title, or the end of
    a page."""
    return len(_one_line(between)) <= _MAX_BETWEEN_CHARS and not _STATES.search(_one_line(between))


def _opening_before(text: str, end: int) -> int:
    """Returns where the sentence begins that opens the items from `end` on."""
    begin = max(0, end - _MAX_OPENING_CHARS)
    breaks = [found.end() for found in _SENTENCE_END.finditer(text, begin, end) if text[found.end() : end].strip()]
    return breaks[-1] if breaks else begin
