"""Ruled tables: the grids that the drawn lines of a page make."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from ctypes import byref, c_float
from dataclasses import dataclass
from itertools import islice
from math import isfinite

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage

from proviso_service.reading.pdf_lines import Frame, Segment

# In points.
_MAX_THICKNESS = 3.0
_MIN_LENGTH = 6.0
_TOUCHING = 3.0
_MAX_OBJECTS = 20_000
# A page with more is a drawing.
_MAX_RULES = 20_000
_MAX_LINES = 400
# Two columns have three rules beside them, and one above and below.
_MIN_LINES = 5


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line, upright positions; either its width or its height is next to nothing."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def vertical(self) -> bool:
        return self.bottom - self.top > self.right - self.left

    def touches(self, other: "Rule") -> bool:
        return (
            self.left <= other.right + _TOUCHING
            and other.left <= self.right + _TOUCHING
            and self.top <= other.bottom + _TOUCHING
            and other.top <= self.bottom + _TOUCHING
        )


@dataclass(frozen=True, slots=True)
class Grid:
    """A table's lines: `columns` and `rows` are the positions of its vertical and horizontal rules, ascending."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]

    def holds(self, segment: Segment) -> bool:
        x, y = _middle(segment)
        return self.columns[0] <= x < self.columns[-1] and self.rows[0] <= y < self.rows[-1]

    def cell_of(self, segment: Segment) -> tuple[int, int]:
        """(row, column) of a segment that it holds."""
        x, y = _middle(segment)
        return bisect_right(self.rows, y) - 1, bisect_right(self.columns, x) - 1


def _middle(segment: Segment) -> tuple[float, float]:
    """Of its small letters."""
    return (segment.left + segment.right) / 2, segment.baseline - segment.size / 4


def find_grids(page: PdfPage, frame: Frame) -> tuple[Grid, ...]:
    """The ruled tables of a page, from its top: lines that touch, with at least two columns between them."""
    rules = list(islice(_rules(page, frame), _MAX_RULES))
    lines = [*_lined_up([r for r in rules if r.vertical]), *_lined_up([r for r in rules if not r.vertical])]
    if not _MIN_LINES <= len(lines) <= _MAX_LINES:
        return ()
    grids = (_grid(group) for group in _touching(lines))
    return tuple(sorted((grid for grid in grids if grid), key=lambda grid: grid.rows[0]))


def _rules(page: PdfPage, frame: Frame) -> Iterator[Rule]:
    edges = tuple(c_float() for _ in range(4))
    for index in range(min(pdfium.FPDFPage_CountObjects(page), _MAX_OBJECTS)):
        drawn = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if pdfium.FPDFPageObj_GetBounds(drawn, *map(byref, edges)):
            left, bottom, right, top = (edge.value for edge in edges)
            if all(map(isfinite, (left, bottom, right, top))):
                yield from _edges(_box(frame.upright(left, bottom), frame.upright(right, top)))


def _box(corner: tuple[float, float], other: tuple[float, float]) -> Rule:
    (x, y), (other_x, other_y) = corner, other
    return Rule(min(x, other_x), min(y, other_y), max(x, other_x), max(y, other_y))


def _edges(box: Rule) -> Iterator[Rule]:
    """The line itself, or the four edges of a box."""
    width, height = box.right - box.left, box.bottom - box.top
    if width <= _MAX_THICKNESS or height <= _MAX_THICKNESS:
        if max(width, height) >= _MIN_LENGTH:
            yield box
        return
    yield Rule(box.left, box.top, box.right, box.top)
    yield Rule(box.left, box.bottom, box.right, box.bottom)
    yield Rule(box.left, box.top, box.left, box.bottom)
    yield Rule(box.right, box.top, box.right, box.bottom)


def _lined_up(rules: Iterable[Rule]) -> list[Rule]:
    """Rules of one direction, those that continue each other as one: many programs draw every cell's own."""
    lines: list[Rule] = []
    for rule in sorted(rules, key=_along):
        last = lines[-1] if lines else None
        if last and _along(last)[0] == _along(rule)[0] and last.touches(rule):
            lines[-1] = Rule(
                min(last.left, rule.left),
                min(last.top, rule.top),
                max(last.right, rule.right),
                max(last.bottom, rule.bottom),
            )
        else:
            lines.append(rule)
    return lines


def _along(rule: Rule) -> tuple[int, float]:
    """Where the rule stands, in steps of a few points, and where it begins."""
    if rule.vertical:
        return round((rule.left + rule.right) / 2 / _TOUCHING), rule.top
    return round((rule.top + rule.bottom) / 2 / _TOUCHING), rule.left


def _touching(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Groups of rules that hang together."""
    left = list(rules)
    while left:
        group, reached = [], [left.pop()]
        while reached:
            rule = reached.pop()
            group.append(rule)
            near = [other for other in left if other.touches(rule)]
            if near:
                left = [other for other in left if not other.touches(rule)]
                reached.extend(near)
        yield group


def _grid(rules: Sequence[Rule]) -> Grid | None:
    columns = _positions((rule.left + rule.right) / 2 for rule in rules if rule.vertical)
    rows = _positions((rule.top + rule.bottom) / 2 for rule in rules if not rule.vertical)
    return Grid(columns, rows) if len(columns) >= 3 and len(rows) >= 2 else None


def _positions(values: Iterable[float]) -> tuple[float, ...]:
    """Ascending, those that are next to each other taken as one."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > _TOUCHING:
            found.append(value)
    return tuple(found)
