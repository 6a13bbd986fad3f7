"""Writes the canonical text of a PDF from its paragraphs, tables and furniture."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from proviso_service.reading.canonical import CanonicalText
from proviso_service.reading.model import ParsedDocument, ReadingLimits, Span
from proviso_service.reading.pdf_outline import SetBlock
from proviso_service.reading.pdf_paragraphs import ParagraphBreak, PdfParagraph, PdfPart, PlacedFurniture, PlacedTable
from proviso_service.reading.pdf_words import Run, SetText


@dataclass(frozen=True, slots=True)
class PageMargins:
    """What goes before and after the text of a page: furniture (`top` and `bottom`), and other text that is set across
    the direction of reading (`aside`)."""

    number: int
    top: tuple[SetText, ...]
    bottom: tuple[SetText, ...]
    aside: tuple[SetText, ...]


@dataclass(frozen=True, slots=True)
class Assembled:
    """The text of a PDF with what its outline is made from: how its paragraphs are set, and in `apart` the spans of
    furniture and table rows, in order. `runs` are what the text was written from, in its order."""

    parsed: ParsedDocument
    blocks: tuple[SetBlock, ...]
    apart: tuple[Span, ...]
    runs: tuple[Run, ...]


def assemble(parts: Iterable[PdfPart], margins: Sequence[PageMargins], limits: ReadingLimits) -> Assembled:
    """Writes the parts of a document in order. Raises UnreadableFile when the text becomes too long."""
    writer = _Writer(margins, limits)
    for part in parts:
        match part:
            case PdfParagraph():
                writer.paragraph(part)
            case PlacedTable():
                writer.table(part)
            case PlacedFurniture():
                writer.furniture(part)
    return writer.finish()


class _Writer:
    """Writes in reading order. Where a paragraph goes on from one page to the next, what stands in the margins between
    the two waits for the end of the paragraph."""

    def __init__(self, margins: Sequence[PageMargins], limits: ReadingLimits) -> None:
        self._text = CanonicalText(limits)
        self._margins = margins
        self._page = -1
        self._waiting: list[tuple[SetText, bool]] = []
        self._aside: tuple[SetText, ...] = ()
        self._blocks: list[SetBlock] = []
        self._apart: list[Span] = []
        self._runs: list[Run] = []

    def paragraph(self, paragraph: PdfParagraph) -> None:
        """Writes the pieces of a paragraph, which may stand on several pages."""
        start = end = 0
        for page, pieces in groupby(paragraph.pieces, key=lambda piece: piece.page):
            first, *more = pieces
            text = first.text + "".join(piece.space + piece.text for piece in more)
            if start < end:
                self._turn_to(page)
                end = self._text.continuation(text, first.space).end
            else:
                span = self._begin(page, paragraph)(text)
                start, end, begun_on = span.start, span.end, page
            self._runs += (run for piece in (first, *more) for run in piece.runs)
        if start < end:
            lines = len(paragraph.pieces)
            self._blocks.append(SetBlock(Span(start, end), begun_on, paragraph.size, paragraph.bold, lines))

    def _begin(self, page: int, paragraph: PdfParagraph) -> Callable[[str], Span]:
        """Goes to the page and returns the method that appends a paragraph there."""
        between = self._go_to(page)
        if page < paragraph.pieces[-1].page:
            between |= self._write_aside()
        return self._text.line if paragraph.start is ParagraphBreak.LINE and not between else self._text.paragraph

    def table(self, placed: PlacedTable) -> None:
        self._go_to(placed.page)
        for index, row in enumerate(placed.table.rows):
            self._apart.append(self._text.row((cell.text for cell in row), first=index == 0))
            self._runs += (run for cell in row for run in cell.runs)

    def furniture(self, placed: PlacedFurniture) -> None:
        self._go_to(placed.page)
        self._write_furniture(placed.running)

    def finish(self) -> Assembled:
        """Writes the margins of the pages that are left and returns the whole document."""
        if self._margins:
            self._go_to(self._margins[-1].number)
            self._leave_page()
            self._write_waiting()
        parsed = self._text.finish()
        apart = sorted((*self._apart, *parsed.furniture), key=lambda span: span.start)
        return Assembled(parsed, tuple(self._blocks), tuple(apart), tuple(self._runs))

    def _go_to(self, number: int) -> bool:
        """Goes to a page between two blocks. Returns whether anything that stands in margins was written on the way."""
        written = self._write_waiting()
        while self._page < 0 or self._margins[self._page].number < number:
            self._leave_page()
            written |= self._write_waiting()
            self._enter_page()
            written |= self._write_waiting()
        return written

    def _turn_to(self, number: int) -> None:
        """Goes to a page inside a paragraph."""
        while self._margins[self._page].number < number:
            self._leave_page()
            self._enter_page()

    def _leave_page(self) -> None:
        if self._page >= 0:
            self._waiting += [(running, True) for running in self._margins[self._page].bottom]
            self._waiting += [(stamp, False) for stamp in self._aside]
            self._aside = ()

    def _write_aside(self) -> bool:
        """Writes what stands aside on this page before a paragraph that goes on to the next one, because after it the
        text would count as the next page's. Returns whether anything was written."""
        written = bool(self._aside)
        for stamp in self._aside:
            self._write_stamp(stamp)
        self._aside = ()
        return written

    def _enter_page(self) -> None:
        self._page += 1
        margins = self._margins[self._page]
        self._text.begin_page(margins.number)
        self._aside = margins.aside
        self._waiting += [(running, True) for running in margins.top]

    def _write_waiting(self) -> bool:
        for text, is_furniture in self._waiting:
            if is_furniture:
                self._write_furniture(text)
            else:
                self._write_stamp(text)
        written = bool(self._waiting)
        self._waiting.clear()
        return written

    def _write_furniture(self, running: SetText) -> None:
        self._text.furniture(running.text)
        self._runs += running.runs

    def _write_stamp(self, stamp: SetText) -> None:
        self._text.paragraph(stamp.text)
        self._runs += stamp.runs
