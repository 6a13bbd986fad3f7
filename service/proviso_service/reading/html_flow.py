"""From the elements of a web page to blocks of text."""

from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from proviso_service.errors import UnsupportedDocument
from proviso_service.reading.html_blocks import Block, Break, Draft, Look
from proviso_service.reading.html_elements import (
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
    Style,
    style_of,
)
from proviso_service.reading.html_lists import OpenList, integer
from proviso_service.reading.html_tables import Table

_MAX_TABLES_OPEN = 60
"""One inside the other; every one moves the blocks inside it once."""


@dataclass(slots=True)
class _Open:
    """An element under way; `container` takes the blocks inside it."""

    look: Look
    container: list[Block]
    is_block: bool = False
    breaks_after: bool = False
    table: Table | None = None
    is_list: bool = False


@dataclass(slots=True)
class Flow:
    """A visitor of a page's tree. `blocks` are complete after `finish`."""

    blocks: list[Block] = field(default_factory=list)
    _open: list[_Open] = field(default_factory=list)
    _tables: list[Table] = field(default_factory=list)
    _lists: list[OpenList] = field(default_factory=list)
    _draft: Draft = field(default_factory=Draft)
    _label: str = ""

    def __post_init__(self) -> None:
        self._open.append(_Open(Look(), self.blocks))

    def open(self, tag: str, element: LexborNode) -> bool:
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
        self._draft.add(text, self._open[-1].look)

    def close(self, tag: str) -> None:
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
            self._break(Break.PAGE)

    def finish(self) -> list[Block]:
        self._flush()
        return self.blocks

    def _begin(self, tag: str, attributes: dict[str, str | None], style: Style) -> None:
        """What an element does when it opens, beyond how it looks."""
        if style.page_before or tag == PAGE_BREAK:
            self._break(Break.PAGE)
        if tag == "br":
            self._draft.break_line()
        elif tag == "hr":
            self._break(Break.RULE)
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
            raise UnsupportedDocument("The page's tables are nested too deeply to be read. Save it as text or PDF.")
        table = Table()
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
        self._draft = Draft()

    def _break(self, page_break: Break) -> None:
        self._flush()
        self._open[-1].container.append(Block(page_break=page_break))


def _is_block(tag: str, style: Style) -> bool:
    if style.display is None or tag in CELLS:
        return tag in BLOCKS
    return not style.display.startswith("inline") and style.display != "contents"


def _look(above: Look, tag: str, attributes: dict[str, str | None], style: Style) -> Look:
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


def _list(tag: str, attributes: dict[str, str | None], style: Style) -> OpenList:
    ordered = tag == "ol"
    start, step = integer(attributes.get("start")), 1
    if ordered and "reversed" in attributes:
        step = -1
    return OpenList(ordered, style.list_type or attributes.get("type") or "", 1 if start is None else start, step)
