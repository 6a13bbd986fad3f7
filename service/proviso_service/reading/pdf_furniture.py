"""Finds the running headers, footers and page numbers of a PDF: rows at the edges of pages that come back from page to
page."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proviso_service.reading.furniture import recurring_lines, running_lines
from proviso_service.reading.pdf_lines import PageText, Row, Segment, rows_of, runs_of, text_of
from proviso_service.reading.pdf_tables import is_next_row
from proviso_service.reading.pdf_words import SetText

# Shares of the page's height, measured from its nearer edge. Page numbers may stand anywhere: filings have them where
# the pages of an earlier print ended.
_MARGIN = 0.15
_SAME_PLACE = 0.012
# The distance of two lines as a multiple of the font size, and the length of a full line as a share of the page's
# width.
_CLOSE = 1.5
_FULL = 0.6
# In a document of fewer pages nothing can come back often enough to be recognised.
_FEW_PAGES = 3
_EDGE_ROWS = 4

_NUMBER = re.compile(r"\d{1,9}")
_PAGE_NUMBER = re.compile(
    r"(?:page\s*)?[-\u2013\u2014\[(\s]*(?:[a-z]{1,2}-)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|/)\s*\d{1,4})?"
    r"[-\u2013\u2014\])\s]*",
    re.IGNORECASE,
)
_PART = re.compile(r"(?:article|section|clause|exhibit|schedule|annex|appendix|attachment|part)\b", re.IGNORECASE)
# Lines that are to be filled in or signed.
_FORM_LINE = re.compile(r"_{3}|^(?:by|name|title|date|signature|signed)\b.{0,3}:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageFurniture:
    """The furniture of one page in reading order, and in `segments` the rest of the page. Furniture `inside` the page
    has its baselines."""

    top: tuple[SetText, ...]
    inside: tuple[tuple[float, SetText], ...]
    bottom: tuple[SetText, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class _PageRow:
    """A row of a page with the rows above and below it."""

    page: PageText
    row: Row
    text: str
    before: Row | None
    after: Row | None

    @property
    def as_set(self) -> SetText:
        return SetText(self.text, runs_of(self.row))

    @property
    def place(self) -> float:
        """The row's place as a share of the page's height, from the upper edge."""
        return self.row[0].baseline / max(self.page.height, 1.0)

    @property
    def is_page_number(self) -> bool:
        return _PAGE_NUMBER.fullmatch(self.text) is not None

    @property
    def in_margin(self) -> bool:
        return not _MARGIN < self.place < 1 - _MARGIN

    @property
    def may_run(self) -> bool:
        """Tells whether the row looks like furniture, apart from its place and from coming back."""
        if self.is_page_number:
            return True
        in_table = (self.before and is_next_row(self.before, self.row)) or (
            self.after and is_next_row(self.row, self.after)
        )
        return not in_table and not _FORM_LINE.search(self.text)


def running_rows(pages: Sequence[PageText]) -> list[PageFurniture]:
    """Separates the furniture of each page from its text. Most furniture stands at an edge, with nothing but furniture
    beyond it. The rest belongs to an earlier print that the document reproduces: its page numbers, and what stands with
    them."""
    rows = [list(_page_rows(page)) for page in pages]
    bodies = _bodies(rows, _at_edges(rows))
    inside = _inside(rows, bodies)
    return [
        PageFurniture(
            tuple(row.as_set for row in page_rows[: body.start]),
            tuple((page_rows[index].row[0].baseline, page_rows[index].as_set) for index in sorted(inner)),
            tuple(row.as_set for row in page_rows[body.stop :]),
            tuple(segment for index in body if index not in inner for segment in page_rows[index].row),
        )
        for page_rows, body, inner in zip(rows, bodies, inside, strict=True)
    ]


def repeated_stamps(pages: Sequence[PageText]) -> frozenset[str]:
    """Returns the texts that are set across the direction of reading and stand on several pages."""
    on_pages: defaultdict[str, set[int]] = defaultdict(set)
    for page in pages:
        for stamp in page.stamps:
            on_pages[stamp.text].add(page.number)
    return frozenset(stamp for stamp, numbers in on_pages.items() if len(numbers) > 1)


def _page_rows(page: PageText) -> Iterator[_PageRow]:
    rows = rows_of(page.segments)
    for row, before, after in zip(rows, [None, *rows], [*rows[1:], None], strict=False):
        yield _PageRow(page, row, " ".join(text_of(row).split()), before, after)


def _at_edges(rows: Sequence[Sequence[_PageRow]]) -> list[set[int]]:
    """Returns for each page the edge rows that come back from page to page, and rows at the other edge with the same
    words."""
    found = running_lines([[row.text for row in page] for page in rows])
    running = {(page, index) for page, index in found if _may_run_at_edge(rows[page][index])}
    if len(rows) <= _FEW_PAGES:
        running |= _repeated(rows)
    known = {rows[page][index].text for page, index in running if not rows[page][index].is_page_number}
    running |= {(page, index) for page, index, row in _edge_rows(rows) if row.text in known and row.may_run}
    on_page: list[set[int]] = [set() for _ in rows]
    for page, index in running - _part_openings(rows, running):
        on_page[page].add(index)
    return on_page


def _may_run_at_edge(row: _PageRow) -> bool:
    return row.may_run and (row.in_margin or row.is_page_number)


def _edge_rows(rows: Sequence[Sequence[_PageRow]]) -> Iterator[tuple[int, int, _PageRow]]:
    """Yields the rows at the edges of pages as (index of the page, index of the row, row)."""
    for page, page_rows in enumerate(rows):
        for index, row in enumerate(page_rows):
            if min(index, len(page_rows) - 1 - index) < _EDGE_ROWS:
                yield page, index, row


def _repeated(rows: Sequence[Sequence[_PageRow]]) -> set[tuple[int, int]]:
    """Yields the rows that stand at the same place of two pages, with the same words or with numbers that count the
    pages."""
    places: defaultdict[str, list[tuple[int, int, float]]] = defaultdict(list)
    for page, index, row in _edge_rows(rows):
        if _may_run_at_edge(row):
            words = _from_first_page(row.text, page) if row.is_page_number else row.text
            places[words].append((page, index, row.place))
    return {
        (page, index)
        for found in places.values()
        for page, index, place in found
        if any(other != page and abs(there - place) < _SAME_PLACE for other, _, there in found)
    }


def _from_first_page(text: str, page: int) -> str:
    """Returns a page number as it would read on the first page, so that the numbers of one series become equal."""
    return _NUMBER.sub(lambda number: str(int(number[0]) - page), text)


def _part_openings(rows: Sequence[Sequence[_PageRow]], running: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Yields the first occurrences of running headers that name a part, such as an exhibit: there they are the part's
    heading."""
    first: dict[str, tuple[int, int]] = {}
    for page, index in sorted(running):
        if _PART.match(rows[page][index].text):
            first.setdefault(rows[page][index].text, (page, index))
    return set(first.values())


def _bodies(rows: Sequence[Sequence[_PageRow]], running: Sequence[set[int]]) -> list[range]:
    """Returns the rows of each page between its furniture."""
    return [_body(page_rows, at_edges) for page_rows, at_edges in zip(rows, running, strict=True)]


def _body(rows: Sequence[_PageRow], running: set[int]) -> range:
    top = next((index for index in range(len(rows)) if index not in running), len(rows))
    while 0 < top < len(rows) and not _is_set_apart(rows[top - 1], rows[top - 1].row, rows[top].row):
        top -= 1
    bottom = next((index + 1 for index in range(len(rows) - 1, top - 1, -1) if index not in running), top)
    while top < bottom < len(rows) and not _is_set_apart(rows[bottom], rows[bottom - 1].row, rows[bottom].row):
        bottom += 1
    return range(top, bottom)


def _is_set_apart(running: _PageRow, upper: Row, lower: Row) -> bool:
    """Tells whether a running row next to the text is set apart from it. If not, it is a line of the text: pages of a
    form can begin with the same words."""
    close = lower[0].baseline - upper[0].baseline < _CLOSE * lower[0].size
    full = running.row[-1].right - running.row[0].left > _FULL * running.page.width
    goes_on = running.row is lower and running.text[:1].islower()
    return running.is_page_number or not (close and (full or goes_on) and upper[0].size == lower[0].size)


def _inside(rows: Sequence[Sequence[_PageRow]], bodies: Sequence[range]) -> list[set[int]]:
    """Returns the rows of each page's body that are furniture of an earlier print."""
    places = [(page, index) for page, body in enumerate(bodies) for index in body]
    found = recurring_lines([rows[page][index].text for page, index in places])
    on_page: list[set[int]] = [set() for _ in rows]
    for page, index in (places[position] for position in found):
        if rows[page][index].may_run:
            on_page[page].add(index)
    return on_page
