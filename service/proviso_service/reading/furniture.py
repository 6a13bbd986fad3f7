"""Finds running headers, footers and page numbers ("furniture"): lines of a paged text that are read with it but belong
to no passage.

A line counts as furniture when it stands where furniture stands and comes back as furniture does: with the same words,
and with numbers that stay the same or count the pages. Rows of tables and the numbers of clauses, articles and
schedules do neither and stay in the text. The time is linear in the text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from statistics import median

from proviso_service.reading.numerals import roman_value

_EDGE_LINES = 3
"""So many lines at the head and at the foot of a page may be furniture."""
_MAX_LINE_CHARS = 300
_MIN_REPEATS = 3
_MAX_REPEATS = 20_000
"""Lines that come back more often than this are not there once a page."""
_MAX_PAGE_GAP = 2
"""The largest distance, in pages, of neighbours in a series: left and right pages have headers of their own."""
_REGULAR_SHARE = 0.7

# For texts without page breaks: how many characters may lie between a line and its next occurrence.
_PAGE_CHARS = range(700, 15_000)
_MIN_LONELY_REPEATS = 5
_NEIGHBOUR_LINES = 3
_BESIDE_SHARE = 0.25
_INTERRUPTING_SHARE = 0.03
_SENTENCE_ENDS = frozenset({"", *".;:!?"})

_NUMBER = re.compile(r"\d{1,9}")
_ROMAN_LINE = re.compile(r"(?P<before>[-\u2013\u2014 ]*)(?P<roman>[ivxlc]{1,7})(?P<after>[-\u2013\u2014 ]*)")
_ROMAN_MARK = " roman"
_CLAUSE = re.compile(r"\(#\)|[a-z]?#(?:\.#)+[.)]?|#[.)]")
_COUNTED = re.compile(
    r"^(?:\(?#[.)]|#(?:\.#)+)"
    r"|\b(?:article|section|clause|schedule|exhibit|annex|annexure|appendix|attachment|addendum|amendment|part|item"
    r"|paragraph|chapter|table|figure|phase|step|year|stage|milestone|option|tier|level|note|lot|no\.?) ?#"
)
_PAGE_NUMBER = re.compile(r"[^a-z#]{0,4}(?:page ?)?(?:[a-z]{1,2}-)?#(?: ?(?:of|/) ?#)?[^a-z#]{0,4}")


@dataclass(frozen=True, slots=True)
class _RepeatedLine:
    """A line that may be furniture: its `shape` (see `_shape`) and its numbers. Where there are no pages, every line
    counts as a page, and `offset` says how far apart two lines are."""

    page: int
    index: int
    offset: int
    shape: str
    numbers: tuple[int, ...]


def running_lines(pages: Sequence[Sequence[str]]) -> frozenset[tuple[int, int]]:
    """Returns the lines that are furniture, as pairs (index of the page, index of the line). `pages` are the lines of
    every page in reading order; blank lines may be among them."""
    series: dict[tuple[bool, str], list[_RepeatedLine]] = defaultdict(list)
    for page, lines in enumerate(pages):
        for is_head, index in _edges(lines):
            if shape := _shape(lines[index].strip()):
                series[is_head, shape].append(_RepeatedLine(page, index, 0, shape, _numbers(lines[index])))
    return frozenset((line.page, line.index) for lines in series.values() for line in _running(lines))


def recurring_lines(lines: Sequence[str], offsets: Sequence[int] = ()) -> frozenset[int]:
    """Returns the indices of the lines that are furniture in a text without page breaks: page numbers that count up at
    the distance of pages, lines that come back beside them, and lines that come back as regularly and interrupt
    sentences. `lines` must not be blank; `offsets` are their positions in the text, needed when they do not follow one
    another."""
    offsets = offsets or list(accumulate((len(line) + 1 for line in lines), initial=0))
    indices: dict[str, list[int]] = defaultdict(list)
    for index, text in enumerate(lines):
        if shape := _shape(text):
            indices[shape].append(index)
    series = [
        [_RepeatedLine(index, index, offsets[index], shape, _numbers(lines[index])) for index in found]
        for shape, found in indices.items()
        if _MIN_REPEATS <= len(found) <= _MAX_REPEATS
    ]
    numbers = [line for found in series for line in _page_numbers(found)]
    repeated = [equal for found in series if not _is_page_number(found[0].shape) for equal in _equal(found)]
    beside = _beside(numbers)
    surroundings = _Surroundings(lines, _indices(chain(numbers, *repeated)))
    furniture = [found for found in repeated if _is_beside(found, beside, len(numbers)) or surroundings.recurs(found)]
    return _indices(chain(numbers, *furniture))


def _equal(lines: Iterable[_RepeatedLine]) -> Iterator[list[_RepeatedLine]]:
    """Yields the groups of lines whose numbers are equal too, where there are enough of them."""
    groups: dict[tuple[int, ...], list[_RepeatedLine]] = defaultdict(list)
    for line in lines:
        groups[line.numbers].append(line)
    yield from (group for group in groups.values() if len(group) >= _MIN_REPEATS)


def _edges(lines: Sequence[str]) -> Iterator[tuple[bool, int]]:
    """Yields the first and last lines of a page that are not blank, as pairs (whether at the head, index). On a page of
    few lines each belongs to the nearer edge."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    head = min(_EDGE_LINES, (len(filled) + 1) // 2)
    foot = min(_EDGE_LINES, len(filled) - head)
    yield from ((True, index) for index in filled[:head])
    yield from ((False, index) for index in filled[len(filled) - foot :])


def _shape(text: str) -> str:
    """Returns the words of a line with `#` for each number. It is empty for a line that is never furniture: one of
    nothing but ornament, the number of a clause, or a field that a reader is to fill in."""
    if len(text) > _MAX_LINE_CHARS:
        return ""
    words = " ".join(text.split()).lower()
    if roman := _ROMAN_LINE.fullmatch(words):
        return f"{roman['before']}#{roman['after']}{_ROMAN_MARK}"
    shape = _NUMBER.sub("#", words)
    is_empty = not any(char.isalnum() or char == "#" for char in shape)
    return "" if is_empty or shape.endswith(":") or _CLAUSE.fullmatch(shape) else shape


def _numbers(text: str) -> tuple[int, ...]:
    if roman := _ROMAN_LINE.fullmatch(" ".join(text.split()).lower()):
        return (roman_value(roman["roman"]),)
    return tuple(int(number) for number in _NUMBER.findall(text))


def _running(lines: Sequence[_RepeatedLine]) -> Iterator[_RepeatedLine]:
    """Yields those lines, of one shape at one edge, that form a series over several pages."""
    if len({line.page for line in lines}) < _MIN_REPEATS:
        return
    follows = [_follows(line, after) for line, after in pairwise(lines)]
    if sum(follows) < max(_MIN_REPEATS - 1, len(follows) / 2):
        return
    yield from (line for line, linked in zip(lines, _linked(follows), strict=True) if linked)


def _follows(line: _RepeatedLine, after: _RepeatedLine) -> bool:
    """Tells whether `after` is the same furniture on one of the next pages."""
    gap = after.page - line.page
    if not 0 < gap <= _MAX_PAGE_GAP:
        return False
    steps = [later - number for number, later in zip(line.numbers, after.numbers, strict=True)]
    return _counts(line.shape, steps, gap)


def _counts(shape: str, steps: Sequence[int], pages: int) -> bool:
    """Tells whether the numbers of two lines of one shape stay the same or, one of them, count the pages. A number
    without words must count; and the number of an article or a schedule must not."""
    moving = [step for step in steps if step]
    if not moving:
        return not _is_page_number(shape)
    return moving == [pages] and not _COUNTED.search(shape)


def _is_page_number(shape: str) -> bool:
    return bool(_PAGE_NUMBER.fullmatch(shape.removesuffix(_ROMAN_MARK)))


def _linked(follows: Sequence[bool]) -> Iterator[bool]:
    """Yields for each line whether it belongs to a series with one of its neighbours; `follows` says so for each
    pair."""
    yield from (before or after for before, after in pairwise((False, *follows, False)))


def _page_numbers(lines: Sequence[_RepeatedLine]) -> Iterator[_RepeatedLine]:
    """Yields those lines, of one shape in a text without pages, whose number counts up from page to page."""
    shape = lines[0].shape
    if not (_is_page_number(shape) or _is_worded(shape)) or _COUNTED.search(shape):
        return
    chains: dict[tuple[int, ...], list[_RepeatedLine]] = {}
    found: list[list[_RepeatedLine]] = []
    for line in lines:
        counted = _preceding(chains, line)
        if counted is None:
            counted = []
            found.append(counted)
        counted.append(line)
        chains[line.numbers] = counted
    yield from (line for counted in found if _is_paged(counted) for line in counted)


def _preceding(
    chains: Mapping[tuple[int, ...], list[_RepeatedLine]], line: _RepeatedLine
) -> list[_RepeatedLine] | None:
    """Returns the chain of lines that ends on the number before, one page above; None without one."""
    for position, number in enumerate(line.numbers):
        before = (*line.numbers[:position], number - 1, *line.numbers[position + 1 :])
        counted = chains.get(before)
        if counted and counted[-1].numbers == before and line.offset - counted[-1].offset < _PAGE_CHARS.stop:
            return counted
    return None


def _is_worded(shape: str) -> bool:
    """Tells whether a line has enough words beside its number to be recognised again."""
    return sum(word.isalpha() and len(word) > 1 for word in shape.split()) >= _MIN_REPEATS


def _is_paged(lines: Sequence[_RepeatedLine]) -> bool:
    return len(lines) >= _MIN_REPEATS and int(median(_gaps(lines))) in _PAGE_CHARS


def _gaps(lines: Sequence[_RepeatedLine]) -> list[int]:
    return [after.offset - line.offset for line, after in pairwise(lines)]


def _beside(numbers: Iterable[_RepeatedLine]) -> frozenset[int]:
    """Returns the indices of lines that are close to a page number."""
    reach = range(-_NEIGHBOUR_LINES, _NEIGHBOUR_LINES + 1)
    return frozenset(line.page + step for line in numbers for step in reach)


def _is_beside(lines: Sequence[_RepeatedLine], beside: frozenset[int], page_numbers: int) -> bool:
    """Tells whether equal lines stand beside page numbers, and beside many of them, not only where a table goes on."""
    return len(lines) >= _BESIDE_SHARE * page_numbers and sum(
        line.page in beside for line in lines
    ) >= _REGULAR_SHARE * len(lines)


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """The text around lines that repeat; `repeating` are the indices of all lines that come back."""

    lines: Sequence[str]
    repeating: frozenset[int]

    def recurs(self, equal: Sequence[_RepeatedLine]) -> bool:
        """Tells whether equal lines come back as regularly as pages do, and interrupt sentences as only furniture
        does."""
        return _is_regular(equal) and sum(map(self._interrupts, equal)) > _INTERRUPTING_SHARE * len(equal)

    def _interrupts(self, line: _RepeatedLine) -> bool:
        before = self._nearest(range(line.page - 1, max(-1, line.page - 1 - _NEIGHBOUR_LINES), -1)).rstrip()
        after = self._nearest(range(line.page + 1, min(len(self.lines), line.page + 1 + _NEIGHBOUR_LINES))).lstrip()
        return before[-1:] not in _SENTENCE_ENDS and after[:1].islower()

    def _nearest(self, indices: range) -> str:
        return next((self.lines[index] for index in indices if index not in self.repeating), "")


def _is_regular(lines: Sequence[_RepeatedLine]) -> bool:
    if len(lines) < _MIN_LONELY_REPEATS:
        return False
    gaps = _gaps(lines)
    usual = median(gaps)
    return int(usual) in _PAGE_CHARS and sum(0.4 * usual <= gap <= 1.8 * usual for gap in gaps) >= (
        _REGULAR_SHARE * len(gaps)
    )


def _indices(lines: Iterable[_RepeatedLine]) -> frozenset[int]:
    return frozenset(line.index for line in lines)
