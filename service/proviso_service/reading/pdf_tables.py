"""Tables of a page: ruled ones by their grid, others by rows whose cells stand under each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from proviso_service.reading.pdf_lines import Segment
from proviso_service.reading.pdf_rows import Row, text_of
from proviso_service.reading.pdf_rules import Grid

# Of the font size.
_ALIGNED = 0.6
_MAX_ROW_PITCH = 4.0
_MAX_WRAPPED_PITCH = 1.5
_CLEAR_GAP = 2.0
# Without clear gaps: two lines of justified text can have gaps at the same place by chance.
_MIN_ROWS = 3
_MAX_CELL_LINES = 40
_MAX_COLUMNS = 40
_MAX_FIGURE_CHARS = 24


@dataclass(frozen=True, slots=True)
class Table:
    """The cells' text, row by row; empty cells are empty."""

    rows: tuple[tuple[str, ...], ...]


def ruled_table(grid: Grid, segments: Sequence[Segment]) -> Table:
    """The segments in the cells of the grid; several lines of a cell are joined."""
    cells: dict[tuple[int, int], list[Segment]] = {}
    for segment in segments:
        cells.setdefault(grid.cell_of(segment), []).append(segment)
    rows = []
    for row in sorted({row for row, _ in cells}):
        held = (cells.get((row, column), ()) for column in range(len(grid.columns) - 1))
        rows.append(tuple(text_of(sorted(cell, key=lambda s: (round(s.baseline), s.left))) for cell in held))
    return Table(tuple(rows))


def cut_tables(rows: Sequence[Row]) -> Iterator[Sequence[Row] | Table]:
    """The rows of a page, its tables taken out: rows of several cells each, aligned with each other."""
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
    """Number of rows of the table that begins with this one, with the further lines of their cells; 1 where none
    begins."""
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
    """Whether both are rows of one table: close to each other, two cells or more aligned, not only the first ones."""
    columns = range(2, _MAX_COLUMNS + 1)
    if len(above) not in columns or len(row) not in columns:
        return False
    if row[0].baseline - above[0].baseline > _MAX_ROW_PITCH * row[0].size:
        return False
    needed = 1 if _aligned(above[0], row[0]) else 2
    others = (lower for lower in row[1:] if any(_aligned(upper, lower) for upper in above[1:]))
    return len(list(islice(others, needed))) == needed


def _is_wrapped(above: Row, row: Row, full: Row) -> bool:
    """Whether the row holds further lines of cells of the full row: it was drawn before those were all done, or there
    is nothing in it but a line under a cell other than the first."""
    if row[0].baseline - above[0].baseline > _MAX_WRAPPED_PITCH * row[0].size:
        return False
    if _first_drawn(row) < max(cell.order for cell in full):
        return True
    return len(row) == 1 and any(abs(cell.left - row[0].left) < row[0].size / 4 for cell in full[1:])


def _first_drawn(row: Row) -> int:
    return min(cell.order for cell in row)


def _aligned(upper: Segment, lower: Segment) -> bool:
    """By their left edges; figures and the heads of columns also by their right edges or their middles, but justified
    lines have their right edges in common anyway."""
    distances = [abs(upper.left - lower.left)]
    if max(len(upper.text), len(lower.text)) <= _MAX_FIGURE_CHARS:
        distances.append(abs(upper.right - lower.right))
        distances.append(abs(upper.left + upper.right - lower.left - lower.right) / 2)
    return min(distances) < _ALIGNED * lower.size


def _has_clear_gaps(row: Row) -> bool:
    return all(right.left - left.right > _CLEAR_GAP * left.size for left, right in pairwise(row))


def _aligned_table(rows: Sequence[Row]) -> Table:
    columns = max(rows, key=len)
    groups: list[list[Row]] = []
    for row in rows:
        if groups and _is_wrapped(groups[-1][-1], row, groups[-1][0]):
            groups[-1].append(row)
        else:
            groups.append([row])
    if len(groups) == 1:
        # Drawn column by column.
        groups = [[row] for row in rows]
    return Table(tuple(_together([_placed(row, columns) for row in group]) for group in groups))


def _together(lines: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The lines of one row, cell by cell."""
    return tuple(" ".join(filter(None, cell)) for cell in zip(*lines, strict=True))


def _placed(row: Row, columns: Row) -> tuple[str, ...]:
    """The row's text in the columns that its cells are closest to."""
    if len(row) == len(columns):
        return tuple(cell.text for cell in row)
    placed: list[list[Segment]] = [[] for _ in columns]
    for cell in row:
        nearest = min(range(len(columns)), key=lambda index: _distance(cell, columns[index]))
        placed[nearest].append(cell)
    return tuple(map(text_of, placed))


def _distance(cell: Segment, column: Segment) -> float:
    middle = abs(cell.left + cell.right - column.left - column.right) / 2
    return min(abs(cell.left - column.left), abs(cell.right - column.right), middle)
