"""Finds which clauses a passage is part of or begins: "12", "12.3", and "12.3(b)" for item (b) of clause 12.3.

The numbers come from the outline, which holds the clauses with and without a title, and from the items that open with a
number or letter. An item gets its full number only where that is certain: its list began with its first item under a
clause whose number is known. The time is linear in the text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge

from proviso_service.reading.contents import ends_as_entry
from proviso_service.reading.model import Heading, Span
from proviso_service.reading.numerals import roman_value
from proviso_service.reading.references import clause_of_title

MAX_NUMBERS = 32
"""The most clause numbers of one passage."""
MAX_NUMBER_CHARS = 40

_MAX_ITEM_DEPTH = 4
_ITEM_OPENS = r"(?=[A-Z\"\u201c\u2018'(\[*_<])"
_LINE_START = r"^[ \t\f]*(?:[*_>#-]{1,6}[ \t]?)?"
_OPENING = re.compile(
    rf"{_LINE_START}(?P<plain>\d{{1,3}})[.)][ \t]+{_ITEM_OPENS}"
    r"|^[ \t\f]*(?:\((?P<line_item>[a-z]{1,4}|[A-Z]|\d{1,2})\)|(?P<open_item>[a-z]{1,4})[.)])(?=[ \t])"
    r"|(?<=[\s(])\((?P<inline_item>[a-z]{1,4}|[A-Z]|\d{1,2})\)(?=\s)",
    re.MULTILINE,
)
# In "Section 5(a)" and "clauses (i)" no item begins; nor does one at the second bracket of "(a) and (b)".
_REFERENCE = re.compile(
    r"\b(?:sub)?(?:section|clause|paragraph|article|item|part|exhibit|schedule)s?\b[^.;:]{0,30}\Z", re.IGNORECASE
)
_REFERENCE_CHARS = 48
_JOINS = frozenset({"", ",", "and", "or", ", and", ", or", "and/or", "to", "through"})
_JOIN_CHARS = 12
_ROMAN_SIGNS = frozenset("ivxlc")


@dataclass(frozen=True, slots=True)
class _ClauseTitle:
    """A heading in the numbering: `parts` are the numbers of the parts that it lies in, `clause` is the number of its
    clause."""

    start: int
    parts: tuple[str, ...]
    clause: str


@dataclass(frozen=True, slots=True)
class _Item:
    """A place where an item opens with its label: "4" (from "4."), "b" (from "(b)")."""

    start: int
    number: str
    kind: str


_Mark = _ClauseTitle | _Item


def clause_numbers(text: str, headings: Sequence[Heading], passages: Sequence[Span]) -> list[tuple[str, ...]]:
    """Returns for each of the passages, which are in order, at most MAX_NUMBERS clause numbers: first those of the
    clause that it begins in, outer ones before inner ones."""
    marks = merge(_titles(headings), _openings(text, headings), key=lambda mark: mark.start)
    place = _NumberPosition()
    found: list[tuple[str, ...]] = []
    mark = next(marks, None)
    for passage in passages:
        while mark and mark.start <= passage.start:
            place.enter(mark)
            mark = next(marks, None)
        numbers = dict.fromkeys(place.numbers())
        while mark and mark.start < passage.end:
            place.enter(mark)
            if len(numbers) < MAX_NUMBERS:
                numbers |= dict.fromkeys(place.numbers())
            mark = next(marks, None)
        found.append(tuple(number for number in numbers if len(number) <= MAX_NUMBER_CHARS)[:MAX_NUMBERS])
    return found


def _titles(headings: Iterable[Heading]) -> Iterator[_Mark]:
    """Yields the numbers of the headings. Where titles on two levels have simple numbers, the number of the inner
    clause continues that of the outer one: "2." under "1." is "1.2"."""
    path: list[tuple[int, _ClauseTitle, bool]] = []
    for heading in headings:
        while path and path[-1][0] >= heading.level:
            path.pop()
        _, above, continues = path[-1] if path else (0, _ClauseTitle(0, (), ""), False)
        reference, _ = clause_of_title(heading.title)
        title = _ClauseTitle(heading.start, above.parts, above.clause)
        if reference:
            number = _joined(reference.levels)
            if reference.kind:
                title = _ClauseTitle(heading.start, (*above.parts, number), "")
            elif continues and number.isdecimal():
                title = _ClauseTitle(heading.start, above.parts, f"{above.clause}.{number}")
            else:
                title = _ClauseTitle(heading.start, above.parts, number)
            continues = not reference.kind and number.isdecimal()
        path.append((heading.level, title, continues))
        yield title


def _joined(levels: Sequence[str]) -> str:
    first, *below = levels
    return first + "".join(f".{level}" if level.isdecimal() else f"({level})" for level in below)


def _openings(text: str, headings: Sequence[Heading]) -> Iterator[_Mark]:
    """Yields the labels that items open with, outside titles, tables of contents, and references to clauses."""
    title = item_end = 0
    for match in _OPENING.finditer(text):
        kind = match.lastgroup or ""
        start = match.end() - len(match[0].lstrip())
        while title < len(headings) and headings[title].end <= start:
            title += 1
        is_elsewhere = title < len(headings) and headings[title].start <= start
        if kind == "inline_item":
            is_elsewhere = is_elsewhere or _is_reference(text, item_end, start)
            item_end = match.end()
        elif kind == "plain":
            is_elsewhere = is_elsewhere or ends_as_entry(text, match.end())
        if not is_elsewhere:
            yield _Item(start, match[kind], kind)


def _is_reference(text: str, item_end: int, start: int) -> bool:
    """Tells whether the item at `start` is only referred to and does not begin there; `item_end` is where the item
    before it in the same line ends."""
    if start - item_end <= _JOIN_CHARS and text[item_end:start].strip() in _JOINS:
        return True
    return _REFERENCE.search(text, max(0, start - _REFERENCE_CHARS), start) is not None


@dataclass(slots=True)
class _Items:
    """The items that a position lies in, outermost first; each is known by the style and the value of its label."""

    labels: list[str] = field(default_factory=list)
    _open: list[tuple[str, int]] = field(default_factory=list)
    _is_lost: bool = False

    def enter(self, label: str, written: str) -> bool:
        """Goes to an item: the next one of a list that is open, or the first one of a list inside it. Returns False
        when the label is neither."""
        found = None if self._is_lost else self._next(label) or self._first(label)
        if found is None:
            return False
        depth, meaning = found
        self._open = [*self._open[:depth], meaning]
        self.labels = [*self.labels[:depth], written]
        return True

    def lose(self) -> None:
        """Forgets the items up to the next clause, because their labels no longer tell where they belong."""
        self._is_lost = True
        self._open, self.labels = [], []

    def _next(self, label: str) -> tuple[int, tuple[str, int]] | None:
        for depth in range(len(self._open) - 1, -1, -1):
            style, value = self._open[depth]
            if (style, value + 1) in meanings_of(label):
                return depth, (style, value + 1)
        return None

    def _first(self, label: str) -> tuple[int, tuple[str, int]] | None:
        styles = {style for style, _ in self._open}
        firsts = [meaning for meaning in meanings_of(label) if meaning[1] == 1 and meaning[0] not in styles]
        return (len(self._open), firsts[0]) if firsts and len(self._open) < _MAX_ITEM_DEPTH else None


@dataclass(slots=True)
class _NumberPosition:
    """Where in the numbering of the document a position of the text is."""

    _parts: tuple[str, ...] = ()
    _clause: str = ""
    _items: _Items = field(default_factory=_Items)
    _loose: str = ""
    """The label of an item whose list is not known."""

    def enter(self, mark: _Mark) -> None:
        self._loose = ""
        if isinstance(mark, _ClauseTitle):
            self._parts = mark.parts
            self._open(mark.clause)
        elif mark.kind == "plain":
            self._items.enter(mark.number, "." + mark.number)
        elif not self._items.enter(mark.number, f"({mark.number})") and mark.kind != "inline_item":
            self._items.lose()
            self._loose = mark.number

    def _open(self, clause: str) -> None:
        self._clause = clause
        self._items = _Items()

    def numbers(self) -> Iterator[str]:
        yield from self._parts
        yield from _with_those_above(self._clause)
        labels = self._items.labels if self._clause else []
        for depth in range(len(labels)):
            yield self._clause + "".join(labels[: depth + 1])
        last = self._items.labels[-1].strip(".()") if self._items.labels else ""
        if last.isalpha():
            yield last
        if self._loose:
            yield self._loose


def _with_those_above(number: str) -> Iterator[str]:
    """Yields a number after those above it: "12" and "12.3" for "12.3"; "3" and "3(b)" for "3(b)"."""
    for end in range(1, len(number)):
        if number[end] in ".(":
            yield number[:end]
    if number:
        yield number


def meanings_of(label: str) -> list[tuple[str, int]]:
    """Returns what a label may count: "i" is the ninth letter and the first Roman numeral."""
    if label.isdecimal():
        return [("1", int(label))]
    if label.isupper():
        return [("A", ord(label) - ord("A") + 1)]
    meanings = [("a", ord(label[0]) - ord("a") + 1 + 26 * (len(label) - 1))] if len(set(label)) == 1 else []
    if set(label) <= _ROMAN_SIGNS and (value := roman_value(label)):
        meanings.append(("i", value))
    return meanings
