"""PDF: text in reading order with its pages, tables, outline, and running headers and footers set apart."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pypdfium2 import PdfDocument

from proviso_service.reading.canonical import ReadingLimits, text_too_long
from proviso_service.reading.model import ParsedDocument
from proviso_service.reading.pdf_assembly import PageMargins, assemble
from proviso_service.reading.pdf_bookmarks import read_bookmarks
from proviso_service.reading.pdf_furniture import repeated_stamps, running_rows
from proviso_service.reading.pdf_layout import Block, arrange, with_furniture
from proviso_service.reading.pdf_lines import PageText, frame_of, read_page
from proviso_service.reading.pdf_opening import is_dynamic_form, open_page, opened, without_text
from proviso_service.reading.pdf_outline import outline
from proviso_service.reading.pdf_paragraphs import paragraphs
from proviso_service.reading.pdf_rules import Grid, find_grids

_NOTICE = re.compile(r"please wait|to view the full contents", re.IGNORECASE)


def parse_pdf(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    """The document's text; pages as they are counted in the file. Raises UnsupportedDocument when it is protected,
    damaged, without text or over a limit."""
    with opened(content, limits) as document:
        pages = list(_read_pages(document, limits))
        blocks, margins = _arranged(pages)
        if not any(blocks) or _is_only_a_notice(document, pages):
            raise without_text(document)
        numbers = [page.number for page, _ in pages]
        assembled = assemble(paragraphs(numbers, blocks), margins, limits)
        parsed = assembled.parsed
        headings = outline(parsed.text, assembled.blocks, assembled.apart, read_bookmarks(document))
        return replace(parsed, headings=headings)


def _read_pages(document: PdfDocument, limits: ReadingLimits) -> Iterator[tuple[PageText, tuple[Grid, ...]]]:
    document.init_forms()
    chars = 0
    for index in range(min(len(document), limits.max_pages)):
        page = open_page(document, index)
        if page is None:
            continue
        try:
            text = read_page(page, index + 1)
            grids = find_grids(page, frame_of(page, text.quarter_turns)) if _has_cells(text) else ()
        finally:
            page.close()
        chars += sum(len(segment.text) for segment in text.segments) + sum(map(len, text.stamps))
        if chars > limits.max_text_chars:
            raise text_too_long(limits)
        yield text, grids


def _is_only_a_notice(document: PdfDocument, pages: Sequence[tuple[PageText, tuple[Grid, ...]]]) -> bool:
    """Whether a dynamic form holds nothing but the page that asks for another program."""
    if len(pages) > 1 or not is_dynamic_form(document):
        return False
    return any(_NOTICE.match(segment.text) for page, _ in pages for segment in page.segments)


def _has_cells(page: PageText) -> bool:
    """Whether any segments stand side by side."""
    return len({round(segment.baseline) for segment in page.segments}) < len(page.segments)


def _arranged(pages: Sequence[tuple[PageText, tuple[Grid, ...]]]) -> tuple[list[list[Block]], list[PageMargins]]:
    """What each page holds in reading order, and what stands in its margins."""
    texts = [text for text, _ in pages]
    repeated = repeated_stamps(texts)
    blocks: list[list[Block]] = []
    margins: list[PageMargins] = []
    for (text, grids), running in zip(pages, running_rows(texts), strict=True):
        blocks.append(with_furniture(arrange(running.segments, grids), running.inside))
        stamps = tuple(stamp for stamp in text.stamps if stamp in repeated)
        aside = tuple(stamp for stamp in text.stamps if stamp not in repeated)
        margins.append(PageMargins(text.number, running.top, running.bottom + stamps, aside))
    return blocks, margins
