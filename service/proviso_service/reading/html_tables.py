"""Tables of a web page: values in rows, or paragraphs that are only placed by it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from proviso_service.reading.canonical import CELL_BREAK
from proviso_service.reading.html_blocks import Block, texts_of
from proviso_service.reading.layout import is_layout_row, marked_item

_MAX_COLUMNS = 200
_MAX_SPAN = 1_000


@dataclass(slots=True)
class Cell:
    """`column` is the first that it takes; cells beyond the widest table share the last."""

    column: int
    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class Table:
    """Filled as its rows and cells open."""

    _rows: list[list[Cell]] = field(default_factory=list)
    _next_column: int = 0
    _taken: dict[int, int] = field(default_factory=dict)

    def open_row(self) -> None:
        self._rows.append([])
        self._next_column = 0
        self._taken = {column: rows - 1 for column, rows in self._taken.items() if rows > 1}

    def open_cell(self, columns: int, rows: int) -> list[Block]:
        """A cell that spans so many columns and rows; returns what its blocks are to be put in."""
        if not self._rows:
            self.open_row()
        while self._next_column in self._taken:
            self._next_column += 1
        first = min(self._next_column, _MAX_COLUMNS)
        self._next_column = min(first + max(1, min(columns, _MAX_SPAN)), _MAX_COLUMNS)
        if rows > 1:
            # From the next row on, so that this row's remaining cells find their own place.
            self._taken |= dict.fromkeys(range(first, self._next_column), min(rows, _MAX_SPAN))
        cell = Cell(first)
        self._rows[-1].append(cell)
        return cell.blocks

    def blocks(self) -> Iterator[Block]:
        """The table in reading order: its rows, without the columns that are empty throughout."""
        columns = sorted({cell.column for row in self._rows for cell in row if texts_of(cell.blocks)})
        opens_table = True
        for row in self._rows:
            texts = [texts_of(cell.blocks) for cell in row]
            if not any(texts):
                continue
            if is_layout_row(texts):
                yield from (block for cell in row for block in cell.blocks)
                opens_table = True
            elif item := marked_item(texts):
                yield Block(item)
                opens_table = True
            else:
                yield replace(_row(row, columns), opens_table=opens_table)
                opens_table = False


def _row(row: list[Cell], columns: list[int]) -> Block:
    by_column: dict[int, str] = {}
    for cell in row:
        words = " ".join(texts_of(cell.blocks))
        if words:
            by_column[cell.column] = f"{by_column[cell.column]} {words}" if cell.column in by_column else words
    last = max(by_column)
    cells = tuple(by_column.get(column, "") for column in columns if column <= last)
    return Block(CELL_BREAK.join(cells), cells=cells)
