"""Finds the tables of a page: ruled ones by the grid of their lines, others by rows whose cells stand under each
other."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from ctypes import byref, c_float
from dataclasses import dataclass
from itertools import islice, pairwise
from math import isfinite

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage

from proviso_service.reading.pdf_lines import Frame, Row, Segment, runs_of, text_of
from proviso_service.reading.pdf_words import SetText

# These are in points.
_MAX_THICKNESS = 3.0
_MIN_LENGTH = 6.0
_TOUCHING = 3.0
_MAX_OBJECTS = 20_000
# A page with more lines than this is a drawing.
_MAX_RULES = 20_000
_MAX_LINES = 400
# The smallest table has two columns, hence three vertical rules, and one rule above and below.
_MIN_LINES = 5


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line in upright positions; either its width or its height is next to nothing."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def vertical(self) -> bool:
        return self.bottom - self.top > self.right - self.left

    def touches(self, other: "Rule") -> bool:
        """Tells whether the rules touch, or almost do."""
        return (
            self.left <= other.right + _TOUCHING
            and other.left <= self.right + _TOUCHING
            and self.top <= other.bottom + _TOUCHING
            and other.top <= self.bottom + _TOUCHING
        )


@dataclass(frozen=True, slots=True)
class Grid:
    """The lines of a table: `columns` and `rows` are the positions of its vertical and horizontal rules, ascending."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]

    def holds(self, segment: Segment) -> bool:
        """Tells whether the middle of the segment lies in the grid."""
        x, y = _middle(segment)
        return self.columns[0] <= x < self.columns[-1] and self.rows[0] <= y < self.rows[-1]

    def cell_of(self, segment: Segment) -> tuple[int, int]:
        """Returns the (row, column) of a segment that lies in the grid."""
        x, y = _middle(segment)
        return bisect_right(self.rows, y) - 1, bisect_right(self.columns, x) - 1


def _middle(segment: Segment) -> tuple[float, float]:
    """Returns the middle of the segment's small letters."""
    return (segment.left + segment.right) / 2, segment.baseline - segment.size / 4


def find_grids(page: PdfPage, frame: Frame) -> tuple[Grid, ...]:
    """Returns the ruled tables of a page, from its top: groups of lines that touch and have at least two columns
    between them."""
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
    """Yields the box itself if it is a line, and its four edges otherwise."""
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
    """Joins rules of one direction that continue each other, because many programs draw the lines of every cell by
    themselves."""
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
    """Returns where the rule stands, in steps of a few points, and where it begins."""
    if rule.vertical:
        return round((rule.left + rule.right) / 2 / _TOUCHING), rule.top
    return round((rule.top + rule.bottom) / 2 / _TOUCHING), rule.left


def _touching(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Yields the groups of rules that touch each other."""
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
    """Returns the positions in ascending order; neighbours count as one."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > _TOUCHING:
            found.append(value)
    return tuple(found)


# Multiples of the font size.
_ALIGNED = 0.6
_MAX_ROW_PITCH = 4.0
_MAX_WRAPPED_PITCH = 1.5
_CLEAR_GAP = 2.0
# Rows that are needed where the gaps are not clear: two lines of justified text can have gaps at the same place by
# chance.
_MIN_ROWS = 3
_MAX_CELL_LINES = 40
_MAX_COLUMNS = 40
_MAX_FIGURE_CHARS = 24


@dataclass(frozen=True, slots=True)
class PdfTable:
    """The cells, row by row; an empty cell has no text."""

    rows: tuple[tuple[SetText, ...], ...]


def ruled_table(grid: Grid, segments: Sequence[Segment]) -> PdfTable:
    """Puts the segments into the cells of the grid; several lines of a cell are joined."""
    cells: dict[tuple[int, int], list[Segment]] = {}
    for segment in segments:
        cells.setdefault(grid.cell_of(segment), []).append(segment)
    rows = []
    for row in sorted({row for row, _ in cells}):
        held = (cells.get((row, column), ()) for column in range(len(grid.columns) - 1))
        rows.append(tuple(_cell(sorted(cell, key=lambda s: (round(s.baseline), s.left))) for cell in held))
    return PdfTable(tuple(rows))


def cut_tables(rows: Sequence[Row]) -> Iterator[Sequence[Row] | PdfTable]:
    """Yields the rows of a page with its tables taken out. A table is a run of rows that have several cells each,
    aligned with each other."""
    before: list[Row] = []
    index = 0
    while index < len(rows):
        length = _table_length(rows, index)
        if length < 2:
            before.append(rows[index])
            index += 1
            continue
        if before:
            yield before
            before = []
        yield _aligned_table(rows[index : index + length])
        index += length
    if before:
        yield before


def _table_length(rows: Sequence[Row], start: int) -> int:
    """Returns the number of rows of the table that begins at `start`, including those that only continue its cells; 1
    where no table begins."""
    if len(rows[start]) < 2:
        return 1
    full, last = [rows[start]], start
    end = start + 1
    while end < len(rows):
        if is_next_row(full[-1], rows[end]):
            full.append(rows[end])
            last = end
        elif end - last > _MAX_CELL_LINES or not _is_wrapped(rows[end - 1], rows[end], full[-1]):
            break
        end += 1
    is_table = len(full) >= _MIN_ROWS or (len(full) == 2 and all(map(_has_clear_gaps, full)))
    return end - start if is_table else 1


def is_next_row(above: Row, row: Row) -> bool:
    """Tells whether both are rows of one table: they are close to each other, and at least two of their cells are
    aligned, not only the first."""
    columns = range(2, _MAX_COLUMNS + 1)
    if len(above) not in columns or len(row) not in columns:
        return False
    if row[0].baseline - above[0].baseline > _MAX_ROW_PITCH * row[0].size:
        return False
    needed = 1 if _aligned(above[0], row[0]) else 2
    others = (lower for lower in row[1:] if any(_aligned(upper, lower) for upper in above[1:]))
    return len(list(islice(others, needed))) == needed


def _is_wrapped(above: Row, row: Row, full: Row) -> bool:
    """Tells whether `row` continues the cells of the row `full`: it was drawn before all of those were done, or it
    holds nothing but a line under a cell other than the first."""
    if row[0].baseline - above[0].baseline > _MAX_WRAPPED_PITCH * row[0].size:
        return False
    if _first_drawn(row) < max(cell.order for cell in full):
        return True
    return len(row) == 1 and any(abs(cell.left - row[0].left) < row[0].size / 4 for cell in full[1:])


def _first_drawn(row: Row) -> int:
    return min(cell.order for cell in row)


def _aligned(upper: Segment, lower: Segment) -> bool:
    """Tells whether two segments are aligned by their left edges. Figures and the heads of columns may also share their
    right edges or middles; the right edges of justified lines would always agree, so longer text does not count
    there."""
    distances = [abs(upper.left - lower.left)]
    if max(len(upper.text), len(lower.text)) <= _MAX_FIGURE_CHARS:
        distances.append(abs(upper.right - lower.right))
        distances.append(abs(upper.left + upper.right - lower.left - lower.right) / 2)
    return min(distances) < _ALIGNED * lower.size


def _has_clear_gaps(row: Row) -> bool:
    return all(right.left - left.right > _CLEAR_GAP * left.size for left, right in pairwise(row))


def _aligned_table(rows: Sequence[Row]) -> PdfTable:
    columns = max(rows, key=len)
    groups: list[list[Row]] = []
    for row in rows:
        if groups and _is_wrapped(groups[-1][-1], row, groups[-1][0]):
            groups[-1].append(row)
        else:
            groups.append([row])
    if len(groups) == 1:
        # Everything seems to be one row because the table was drawn column by column.
        groups = [[row] for row in rows]
    return PdfTable(tuple(_together([_placed(row, columns) for row in group]) for group in groups))


def _together(lines: Sequence[Sequence[SetText]]) -> tuple[SetText, ...]:
    """Joins the lines of one row, cell by cell."""
    return tuple(
        SetText(" ".join(line.text for line in cell if line.text), tuple(run for line in cell for run in line.runs))
        for cell in zip(*lines, strict=True)
    )


def _cell(segments: Iterable[Segment]) -> SetText:
    held = tuple(segments)
    return SetText(text_of(held), runs_of(held))


def _placed(row: Row, columns: Row) -> tuple[SetText, ...]:
    """Puts the row's text into the columns that its cells are closest to."""
    if len(row) == len(columns):
        return tuple(SetText(cell.text, cell.runs) for cell in row)
    placed: list[list[Segment]] = [[] for _ in columns]
    for cell in row:
        nearest = min(range(len(columns)), key=lambda index: _distance(cell, columns[index]))
        placed[nearest].append(cell)
    return tuple(map(_cell, placed))


def _distance(cell: Segment, column: Segment) -> float:
    middle = abs(cell.left + cell.right - column.left - column.right) / 2
    return min(abs(cell.left - column.left), abs(cell.right - column.right), middle)
