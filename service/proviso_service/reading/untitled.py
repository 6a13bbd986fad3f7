"""Completes the outline of a document by the numbered clauses that have no title ("12.11 This Agreement is governed by
..."), so that each has a place of its own under its number, and takes tables of contents out of it.

A number opens a clause where it begins a line or a sentence and fits the numbering so far. Left out are references to
clauses, dates, amounts and items of lists: a plain number counts only where it is the next clause, and not the next
item of a list inside a clause. Every look around a number is bounded, so that the time is linear in the text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from proviso_service.reading.clauses import opening_title
from proviso_service.reading.contents import tables_of_contents
from proviso_service.reading.model import Heading, Span
from proviso_service.reading.numerals import roman_value
from proviso_service.reading.openings import Levels, Opening, Position, openings
from proviso_service.reading.outline import CLAUSE_LEVEL
from proviso_service.reading.references import clause_of_title

_MAX_GAP = 5
"""The numbering goes on where so many clauses less one were missed."""
_MAX_TITLE_CHARS = 100
_MAX_LINE_CHARS = 400
_AHEAD = 60
"""So many of the titles and openings that follow are looked at."""

_Mark = Heading | Opening
_Placed = TypeVar("_Placed", Heading, Opening)


def complete_with_clauses(text: str, headings: Sequence[Heading], apart: Sequence[Span] = ()) -> tuple[Heading, ...]:
    """Returns the headings without those of a table of contents and items of lists, and with the clauses that have no
    title: their number is their title. Nothing is added inside the spans `apart`, which are in order."""
    candidates = list(openings(text, headings, apart))
    entries = sorted([*map(_start_of, headings), *map(_start_of, candidates)])
    contents = list(tables_of_contents(text, entries))
    marks: list[_Mark] = sorted([*_outside(contents, headings), *_outside(contents, candidates)], key=_start_of)
    return tuple(_levelled(_Walk(text, marks).headings(), headings))


def _start_of(mark: _Mark) -> int:
    return mark.start


def _outside(spans: Sequence[Span], marks: Iterable[_Placed]) -> Iterator[_Placed]:
    index = 0
    for mark in marks:
        while index < len(spans) and spans[index].end <= mark.start:
            index += 1
        if index == len(spans) or mark.start < spans[index].start:
            yield mark


def _levels_of(heading: Heading) -> Levels:
    """Returns the number of a clause's or an article's title, and () for other titles."""
    reference, _ = clause_of_title(heading.title)
    if reference is None or reference.is_part:
        return ()
    first, *below = reference.levels
    levels = [int(first) if first.isdecimal() else roman_value(first)]
    levels += (int(level) if level.isdecimal() else 0 for level in below)
    return tuple(levels[: levels.index(0)] if 0 in levels else levels)


def _is_part(heading: Heading) -> bool:
    reference, _ = clause_of_title(heading.title)
    return reference is not None and reference.is_part


def _follows(clause: Levels, levels: Levels, gap: int = 1) -> bool:
    """Tells whether a number comes next after that of a clause: the first clause inside it, or the next clause on any
    level, where `gap` - 1 clauses may be missing."""
    for depth, level in enumerate(levels):
        above = clause[depth] if depth < len(clause) else 0
        if level != above:
            return above < level <= above + gap and all(below <= gap for below in levels[depth + 1 :])
    return False


@dataclass(slots=True)
class _Row:
    """Plain numbers that count on: clauses, or the items of a list."""

    last: int
    is_clause: bool


@dataclass(slots=True)
class _Walk:
    """The way through all titles and candidates of a text, in order. `_clause` is the number of the clause so far,
    which ends its title at `_end`; `_rows` are the open rows of plain numbers, outermost first."""

    _text: str
    _marks: Sequence[_Mark]
    _clause: Levels = ()
    _end: int = 0
    _may_restart: bool = True
    _rows: list[_Row] = field(default_factory=list)

    def headings(self) -> Iterator[Heading]:
        """Yields the titles, and the candidates that open a clause as headings without a level."""
        for index, mark in enumerate(self._marks):
            if isinstance(mark, Heading):
                if not self._is_item(index, mark):
                    self._enter(mark)
                    yield mark
            elif self._opens_plain(index, mark) if mark.is_plain else self._opens(index, mark):
                heading = self._heading(mark)
                self._open(mark.levels, heading.end)
                yield heading

    def _heading(self, mark: Opening) -> Heading:
        """Returns the heading of a clause, without a level: its number, and its title where it opens with one."""
        line = self._text[mark.end : mark.end + _MAX_LINE_CHARS].lstrip("*_ \t").split("\n", 1)[0]
        title, rest = opening_title(line)
        if not title or not rest.strip():
            return Heading(0, mark.words, mark.start, mark.end, titled=False)
        start = self._text.index(title, mark.end)
        return Heading(0, " ".join(f"{self._text[mark.start : start]}{title}".split()), mark.start, start + len(title))

    def _enter(self, heading: Heading) -> None:
        if levels := _levels_of(heading):
            self._open(levels, heading.end)
            return
        self._may_restart = True
        if _is_part(heading):
            self._clause, self._rows = (), []

    def _open(self, levels: Levels, end: int) -> None:
        self._clause, self._end, self._may_restart = levels, end, False
        self._rows = [_Row(levels[0], is_clause=True)]

    def _opens(self, index: int, mark: Opening) -> bool:
        """Tells whether a number of several levels opens a clause."""
        is_next = _follows(self._clause, mark.levels)
        is_near = is_next or _follows(self._clause, mark.levels, _MAX_GAP)
        match mark.position:
            case Position.LINE if mark.before_small_letter:
                return is_next
            case Position.LINE:
                is_beside = (
                    len(self._clause) >= len(mark.levels) and self._clause[: len(mark.levels) - 1] == mark.levels[:-1]
                )
                return is_near or is_beside or mark.levels[-1] == 1 or self._goes_on(index, mark.levels)
            case Position.WRAPPED_LINE:
                return is_near and not mark.before_small_letter
            case Position.SENTENCE:
                return (is_near or self._goes_on(index, mark.levels)) and not mark.before_small_letter
            case Position.ELSEWHERE:
                return is_next and not mark.before_small_letter
            case Position.AFTER_WORD:
                is_below_title = mark.levels[:-1] == self._clause and mark.start - self._end < _MAX_TITLE_CHARS
                return is_next and is_below_title and not mark.before_small_letter

    def _goes_on(self, index: int, levels: Levels) -> bool:
        """Tells whether the next number of several levels comes next after this one, and so confirms it."""
        following = (mark for mark in self._marks[index + 1 : index + 4] if isinstance(mark, Opening))
        return any(_follows(levels, mark.levels) for mark in following if not mark.is_plain)

    def _opens_plain(self, index: int, mark: Opening) -> bool:
        """Tells whether a plain number is the next clause. Otherwise it may be an item of a list, which is noted."""
        [value] = mark.levels
        if mark.position is Position.AFTER_WORD:
            return False
        if row := self._row_of(index, value):
            return row.is_clause
        if mark.position not in (Position.LINE, Position.SENTENCE):
            return False
        if value == 1:
            return not self._begins_list(index, after_colon=mark.after_colon)
        last = self._rows[0].last if self._rows else 0
        return len(self._rows) < 2 and last < value <= last + (3 if mark.position is Position.LINE else 2)

    def _is_item(self, index: int, heading: Heading) -> bool:
        """Tells whether a title with a plain number is an item of a list, which is noted. A list inside a clause begins
        with 1, after a colon."""
        levels = _levels_of(heading)
        if len(levels) != 1 or not heading.title[0].isdecimal():
            return False
        [value] = levels
        if row := self._row_of(index, value):
            return not row.is_clause
        above = self._text[max(0, heading.start - _MAX_TITLE_CHARS) : heading.start].rstrip()
        return value == 1 and above.endswith(":") and self._begins_list(index, after_colon=True)

    def _row_of(self, index: int, value: int) -> _Row | None:
        """Returns the row that a plain number continues, after noting it there; None where it continues none."""
        fitting = [depth for depth, row in enumerate(self._rows) if row.last + 1 == value]
        if not fitting:
            return None
        depth = fitting[-1] if self._comes_again(index, value) else fitting[0]
        del self._rows[depth + 1 :]
        self._rows[depth].last = value
        return self._rows[depth]

    def _begins_list(self, index: int, *, after_colon: bool) -> bool:
        """Tells whether a list begins with a 1, which is noted, and not the numbering of the clauses."""
        if self._may_restart or not self._clause or self._restarts(index, after_colon=after_colon):
            return False
        self._rows.append(_Row(1, is_clause=False))
        return True

    def _comes_again(self, index: int, value: int) -> bool:
        """Tells whether a plain number comes again before another row begins, so that this one is an item of a list."""
        for first, *below in self._levels_after(index):
            if first == value or (first == 1 and not below):
                return first == value and not below
        return False

    def _restarts(self, index: int, *, after_colon: bool) -> bool:
        """Tells whether the numbering begins anew with this 1, as in a schedule, so that no list begins here: the
        clause so far is not followed by the next one."""
        last, row = self._clause[0], 1
        for first, *below in self._levels_after(index):
            if below and first == row != last:
                return True
            if first == row + 1 and not below:
                row = first
            elif first in ((last, last + 1) if below else (last + 1,)):
                return False
        return row > last + 3 or not after_colon

    def _levels_after(self, index: int) -> Iterator[Levels]:
        for mark in self._marks[index + 1 : index + _AHEAD]:
            if isinstance(mark, Heading) and _is_part(mark):
                return
            levels = _levels_of(mark) if isinstance(mark, Heading) else mark.levels
            if levels:
                yield levels


def _levelled(headings: Iterable[Heading], titled: Sequence[Heading]) -> Iterator[Heading]:
    """Yields the headings with a level for those that have none: a clause stands below the one whose number its own
    continues, and beside the one whose number is as long."""
    usual: dict[int, int] = {}
    for title in titled:
        usual.setdefault(len(_levels_of(title)), title.level)
    path: list[tuple[int, Levels]] = []
    for heading in headings:
        levels = _levels_of(heading)
        level = heading.level or _level(levels, path, usual.get(len(levels), CLAUSE_LEVEL))
        while path and path[-1][0] >= level:
            path.pop()
        path.append((level, levels))
        yield replace(heading, level=level) if level != heading.level else heading


def _level(levels: Levels, path: Sequence[tuple[int, Levels]], usual: int) -> int:
    numbered = [(level, above) for level, above in path if above]
    for level, above in reversed(numbered):
        if len(above) < len(levels) and above == levels[: len(above)]:
            return level + len(levels) - len(above)
        if above[:-1] == levels[:-1]:
            return level
    if numbered:
        return numbered[0][0]
    return max(usual, path[-1][0] + 1) if path else usual
