"""Turns the elements of a web page into blocks of text, with its lists and tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from selectolax.lexbor import LexborNode

from proviso_service.reading.canonical import CELL_BREAK, is_layout_row, marked_item
from proviso_service.reading.html_blocks import BlockDraft, HtmlBlock, Look, PageBreak, texts_of
from proviso_service.reading.html_tree import (
    BLOCKS,
    BOLD,
    CELLS,
    CHANGING_LOOK,
    HEADINGS,
    KEPT_SPACE,
    LISTS,
    NAVIGATION,
    NOT_SHOWN,
    PAGE_BREAK,
    PLAIN,
    UNDERLINED,
    ElementStyle,
    style_of,
)
from proviso_service.reading.model import UnreadableFile
from proviso_service.reading.numerals import NumeralStyle, numeral

_MAX_TABLES_OPEN = 60
"""The most tables that may stand one inside the other. Each level moves the blocks inside it once more."""


BULLET = "-"

_MAX_DIGITS = 9
_TYPES: Mapping[str, str] = {
    "1": NumeralStyle.DECIMAL,
    "a": NumeralStyle.LOWER_LETTER,
    "A": NumeralStyle.UPPER_LETTER,
    "i": NumeralStyle.LOWER_ROMAN,
    "I": NumeralStyle.UPPER_ROMAN,
    "decimal": NumeralStyle.DECIMAL,
    "decimal-leading-zero": NumeralStyle.DECIMAL_ZERO,
    "lower-alpha": NumeralStyle.LOWER_LETTER,
    "lower-latin": NumeralStyle.LOWER_LETTER,
    "upper-alpha": NumeralStyle.UPPER_LETTER,
    "upper-latin": NumeralStyle.UPPER_LETTER,
    "lower-roman": NumeralStyle.LOWER_ROMAN,
    "upper-roman": NumeralStyle.UPPER_ROMAN,
}
_BULLETS = frozenset({"disc", "circle", "square"})
_UNMARKED = "none"


@dataclass(slots=True)
class OpenList:
    """A list that is being read. `list_type` is the `type` attribute or the type that the style gives; "" where there
    is neither."""

    ordered: bool
    list_type: str = ""
    next_number: int = 1
    step: int = 1

    def label(self, value: int | None) -> str:
        """Returns what stands before the next item; `value` is its number where the page gives one."""
        if not self.ordered:
            return "" if self.list_type == _UNMARKED else BULLET
        number = self.next_number if value is None else value
        self.next_number = number + self.step
        if self.list_type == _UNMARKED:
            return ""
        if self.list_type in _BULLETS:
            return BULLET
        return f"{numeral(number, _TYPES.get(self.list_type, NumeralStyle.DECIMAL))}."


def integer(text: str | None) -> int | None:
    """Returns the number; None for anything that is not a number of up to nine digits."""
    if not text:
        return None
    digits = text.strip().removeprefix("+")
    plain = digits.removeprefix("-")
    return int(digits) if plain.isascii() and plain.isdecimal() and len(plain) <= _MAX_DIGITS else None


_MAX_COLUMNS = 200
_MAX_SPAN = 1_000


@dataclass(slots=True)
class Cell:
    """A cell of a table. `column` is the first column that it takes; cells beyond the widest table share the last
    column."""

    column: int
    blocks: list[HtmlBlock] = field(default_factory=list)


@dataclass(slots=True)
class HtmlTable:
    """A table that is being read; its rows and cells are added as they open."""

    _rows: list[list[Cell]] = field(default_factory=list)
    _next_column: int = 0
    _taken: dict[int, int] = field(default_factory=dict)

    def open_row(self) -> None:
        """Begins the next row; cells above that span several rows take their columns in it."""
        self._rows.append([])
        self._next_column = 0
        self._taken = {column: rows - 1 for column, rows in self._taken.items() if rows > 1}

    def open_cell(self, columns: int, rows: int) -> list[HtmlBlock]:
        """Opens a cell that spans so many columns and rows, and returns the list for its blocks."""
        if not self._rows:
            self.open_row()
        while self._next_column in self._taken:
            self._next_column += 1
        first = min(self._next_column, _MAX_COLUMNS)
        self._next_column = min(first + max(1, min(columns, _MAX_SPAN)), _MAX_COLUMNS)
        if rows > 1:
            # The columns are taken from the next row on, so that the other cells of this row find their own place.
            self._taken |= dict.fromkeys(range(first, self._next_column), min(rows, _MAX_SPAN))
        cell = Cell(first)
        self._rows[-1].append(cell)
        return cell.blocks

    def blocks(self) -> Iterator[HtmlBlock]:
        """Yields the table in reading order: row by row, without the columns that are empty in all rows."""
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
                yield HtmlBlock(item)
                opens_table = True
            else:
                yield replace(_row(row, columns), opens_table=opens_table)
                opens_table = False


def _row(row: list[Cell], columns: list[int]) -> HtmlBlock:
    by_column: dict[int, str] = {}
    for cell in row:
        words = " ".join(texts_of(cell.blocks))
        if words:
            by_column[cell.column] = f"{by_column[cell.column]} {words}" if cell.column in by_column else words
    last = max(by_column)
    cells = tuple(by_column.get(column, "") for column in columns if column <= last)
    return HtmlBlock(CELL_BREAK.join(cells), cells=cells)


@dataclass(slots=True)
class _Open:
    """An element that is open; `container` takes the blocks inside it."""

    look: Look
    container: list[HtmlBlock]
    is_block: bool = False
    breaks_after: bool = False
    table: HtmlTable | None = None
    is_list: bool = False


@dataclass(slots=True)
class HtmlFlow:
    """Makes the blocks of a page while its tree is walked. `blocks` are complete after `finish`."""

    blocks: list[HtmlBlock] = field(default_factory=list)
    _open: list[_Open] = field(default_factory=list)
    _tables: list[HtmlTable] = field(default_factory=list)
    _lists: list[OpenList] = field(default_factory=list)
    _draft: BlockDraft = field(default_factory=BlockDraft)
    _label: str = ""

    def __post_init__(self) -> None:
        self._open.append(_Open(Look(), self.blocks))

    def open(self, tag: str, element: LexborNode) -> bool:
        """Takes an element that opens, and returns whether it is shown, so that the walk goes into it."""
        above = self._open[-1]
        attributes = element.attributes
        style = style_of(attributes["style"] or "") if "style" in attributes else PLAIN
        shown = tag not in NOT_SHOWN and style.shown and "hidden" not in attributes
        is_block = shown and _is_block(tag, style)
        if is_block:
            self._flush()
        self._open.append(
            _Open(
                _look(above.look, tag, attributes, style) if shown else above.look,
                above.container,
                is_block,
                breaks_after=shown and style.page_after,
            )
        )
        if shown:
            self._begin(tag, attributes, style)
        return shown

    def text(self, text: str) -> None:
        """Adds text to the block under way."""
        self._draft.add(text, self._open[-1].look)

    def close(self, tag: str) -> None:
        """Ends the block, table, list or page that the element has opened."""
        if self._open[-1].is_block:
            self._flush()
        closed = self._open.pop()
        if closed.table is not None:
            self._tables.pop()
            self._open[-1].container.extend(closed.table.blocks())
        if closed.is_list:
            self._lists.pop()
        if tag == "li":
            self._label = ""
        if closed.breaks_after:
            self._break(PageBreak.PAGE)

    def finish(self) -> list[HtmlBlock]:
        """Ends the last block and returns all blocks."""
        self._flush()
        return self.blocks

    def _begin(self, tag: str, attributes: dict[str, str | None], style: ElementStyle) -> None:
        """Does what an element does when it opens, beyond changing how text looks."""
        if style.page_before or tag == PAGE_BREAK:
            self._break(PageBreak.PAGE)
        if tag == "br":
            self._draft.break_line()
        elif tag == "hr":
            self._break(PageBreak.RULE)
        elif tag in LISTS:
            self._lists.append(_list(tag, attributes, style))
            self._open[-1].is_list = True
        elif tag == "li" and self._lists:
            self._label = self._lists[-1].label(integer(attributes.get("value")))
        elif tag == "table":
            self._open_table()
        elif tag == "tr" and self._tables:
            self._tables[-1].open_row()
        elif tag in CELLS and self._tables:
            columns, rows = (integer(attributes.get(name)) or 1 for name in ("colspan", "rowspan"))
            self._open[-1].container = self._tables[-1].open_cell(columns, rows)

    def _open_table(self) -> None:
        if len(self._tables) >= _MAX_TABLES_OPEN:
            raise UnreadableFile("The page's tables are nested too deeply to be read. Save it as text or PDF.")
        table = HtmlTable()
        self._tables.append(table)
        self._open[-1].table = table

    def _flush(self) -> None:
        if self._draft.is_empty:
            return
        current = self._open[-1]
        found = self._draft.blocks(current.look, label=self._label)
        if found:
            self._label = ""
            current.container.extend(found)
        self._draft = BlockDraft()

    def _break(self, page_break: PageBreak) -> None:
        self._flush()
        self._open[-1].container.append(HtmlBlock(page_break=page_break))


def _is_block(tag: str, style: ElementStyle) -> bool:
    if style.display is None or tag in CELLS:
        return tag in BLOCKS
    return not style.display.startswith("inline") and style.display != "contents"


def _look(above: Look, tag: str, attributes: dict[str, str | None], style: ElementStyle) -> Look:
    if style is PLAIN and tag not in CHANGING_LOOK and "align" not in attributes:
        return above
    bold = above.bold or tag in BOLD if style.bold is None else style.bold
    centred = above.centred or tag == "center"
    if "align" in attributes:
        centred = (attributes["align"] or "").lower() in ("center", "middle")
    return Look(
        bold=bold,
        underlined=above.underlined or tag in UNDERLINED or style.underlined,
        centred=centred if style.centred is None else style.centred,
        keeps_space=above.keeps_space or tag in KEPT_SPACE if style.keeps_space is None else style.keeps_space,
        is_navigation=above.is_navigation or tag == NAVIGATION,
        level=HEADINGS.get(tag, above.level),
    )


def _list(tag: str, attributes: dict[str, str | None], style: ElementStyle) -> OpenList:
    ordered = tag == "ol"
    start, step = integer(attributes.get("start")), 1
    if ordered and "reversed" in attributes:
        step = -1
    return OpenList(ordered, style.list_type or attributes.get("type") or "", 1 if start is None else start, step)
