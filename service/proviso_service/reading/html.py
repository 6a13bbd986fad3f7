"""Web pages (HTML): the text that a browser shows.

- Scripts, styles, hidden elements and form fields are left out; lists keep their numbers, tables are read row by row. A
  table that only places paragraphs is read as paragraphs.
- Navigation stands in the text as furniture; headers and footers of articles may hold what matters and are text.
- Filings that were paged keep their pages where page numbers between rules or page breaks count on, first page 1; the
  page numbers and running headers are furniture.
- Headings are those of the markup where their text reads as a title, then the titles of clauses, then lines that are
  bold, or underlined and centred.
"""

from collections.abc import Sequence
from dataclasses import replace

from proviso_service.reading.canonical import CanonicalText, ReadingLimits
from proviso_service.reading.headings import complete_outline, reads_as_title, stands_out_as_title
from proviso_service.reading.html_blocks import Block
from proviso_service.reading.html_decoding import decode_html
from proviso_service.reading.html_flow import Flow
from proviso_service.reading.html_pages import Paging, paging
from proviso_service.reading.html_tree import body_of, walk
from proviso_service.reading.model import Heading, ParsedDocument, Span
from proviso_service.reading.outline import CAPITALS_LEVEL


def parse_html(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    """Text, headings, pages and furniture of a web page. Raises UnsupportedDocument."""
    flow = Flow()
    body = body_of(decode_html(content))
    if body is not None:
        walk(body, flow)
    blocks = flow.finish()
    return _assembled(blocks, paging(blocks), limits)


def _assembled(blocks: Sequence[Block], pages: Paging, limits: ReadingLimits) -> ParsedDocument:
    canonical = CanonicalText(limits)
    likely: list[Span] = []
    page_of_start = {start: page for page, start in enumerate(pages.starts, start=1)}
    follows_item = False
    for index, block in enumerate(blocks):
        if index in page_of_start:
            canonical.begin_page(page_of_start[index])
        if index in pages.furniture or block.is_navigation:
            canonical.furniture(block.text)
        elif block.level and reads_as_title(block.text):
            canonical.heading(block.text, block.level)
        else:
            span = _append(canonical, block, follows_item=follows_item)
            if block.stands_out and stands_out_as_title(block.text):
                likely.append(span)
        follows_item = block.is_item
    parsed = canonical.finish()
    found = (
        Heading(CAPITALS_LEVEL, " ".join(parsed.text[span.start : span.end].split()), span.start, span.end)
        for span in likely
        if span.start < span.end
    )
    return replace(parsed, headings=complete_outline(parsed.text, parsed.headings, found, parsed.furniture))


def _append(canonical: CanonicalText, block: Block, *, follows_item: bool) -> Span:
    if block.cells:
        return canonical.row(block.cells, first=block.opens_table)
    return canonical.line(block.text) if follows_item and block.is_item else canonical.paragraph(block.text)
