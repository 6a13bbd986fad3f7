"""Reads web pages (HTML): the text that a browser shows.

- Scripts, styles, hidden elements and form fields are left out; lists keep their numbers, tables are read row by row. A
  table that only places paragraphs is read as paragraphs.
- Navigation stands in the text as furniture; headers and footers of articles may hold what matters and are text.
- Filings that were paged keep their pages where page numbers between rules or page breaks count on; pages are numbered
  from 1, and page numbers and running headers are furniture.
- Headings are those of the markup where their text reads as a title, then the titles of clauses, then lines that are
  bold, or underlined and centred.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from selectolax.lexbor import LexborNode

from proviso_service.reading.canonical import CanonicalText
from proviso_service.reading.furniture import recurring_lines, running_lines
from proviso_service.reading.html_blocks import HtmlBlock, PageBreak
from proviso_service.reading.html_flow import HtmlFlow
from proviso_service.reading.html_tree import body_of, decode_html
from proviso_service.reading.model import Heading, ParsedDocument, ReadingLimits, Span
from proviso_service.reading.outline import CAPITALS_LEVEL, complete_outline, reads_as_title, stands_out_as_title

# The name that the parser gives to a node of text.
_TEXT = "-text"

_MIN_PAGES = 3
_NUMBERED_SHARE = 0.6
_PAGE_NUMBER = re.compile(
    r"[-\u2013\u2014\s]{0,5}(?:page\s)?(?:[a-z]{1,2}-)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s(?:of|/)\s\d{1,4})?[-\u2013\u2014\s]{0,5}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Paging:
    """The pages of a web page that was made from a paged document. `starts` are the indices of the blocks that begin
    page 1, page 2, and so on; it is empty where there are no pages. `furniture` are the indices of running headers,
    footers and page numbers."""

    starts: tuple[int, ...] = ()
    furniture: frozenset[int] = field(default_factory=frozenset)


def paging(blocks: Sequence[HtmlBlock]) -> Paging:
    """Finds the pages. Breaks count as page breaks when most of them stand beside a page number that counts on, because
    rules divide other things too."""
    pages = [page for page in _pages(blocks) if page]
    running = running_lines([[blocks[index].text for index in page] for page in pages])
    furniture = frozenset(pages[page][line] for page, line in running)
    numbered = sum(any(index in furniture and is_page_number(blocks[index].text) for index in page) for page in pages)
    if len(pages) >= _MIN_PAGES and numbered >= _NUMBERED_SHARE * len(pages):
        return Paging(tuple(page[0] for page in pages), furniture)
    return Paging(furniture=recurring_lines([block.text for block in blocks]))


def is_page_number(text: str) -> bool:
    """Tells whether the text is a page number, such as "12", "- iv -" or "Page 3 of 10"."""
    return _PAGE_NUMBER.fullmatch(text) is not None


def _pages(blocks: Sequence[HtmlBlock]) -> Iterator[list[int]]:
    """Yields the indices of each page's blocks with text; pages end at page breaks, and at rules beside a page
    number."""
    page: list[int] = []
    for index, block in enumerate(blocks):
        ends_page = block.page_break is PageBreak.PAGE or (
            block.page_break is PageBreak.RULE and any(is_page_number(text) for text in _beside(blocks, index))
        )
        if block.text:
            page.append(index)
        elif ends_page and not _is_only_number(blocks, page):
            yield page
            page = []
    yield page


def _beside(blocks: Sequence[HtmlBlock], index: int) -> tuple[str, ...]:
    return tuple(block.text for block in (*blocks[max(0, index - 1) : index], *blocks[index + 1 : index + 2]))


def _is_only_number(blocks: Sequence[HtmlBlock], page: Sequence[int]) -> bool:
    """Tells whether the page is a page number alone: one that stands between a page break and a rule belongs to the
    page that follows."""
    return len(page) == 1 and is_page_number(blocks[page[0]].text)


def parse_html(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    """Returns the text, headings, pages and furniture of a web page. Raises UnreadableFile."""
    flow = HtmlFlow()
    body = body_of(decode_html(content))
    if body is not None:
        _walk(body, flow)
    blocks = flow.finish()
    return _assembled(blocks, paging(blocks), limits)


def _walk(top: LexborNode, flow: HtmlFlow) -> None:
    """Gives every text and element inside `top` to the flow. It works without recursion, so that deep nesting does
    no harm."""
    node, above = top.first_child, [top]
    while node is not None:
        tag = node.tag or ""
        inside = None
        if tag == _TEXT:
            flow.text(node.text_content or "")
        elif not tag.startswith("-"):
            inside = node.first_child if flow.open(tag, node) else None
            if inside is None:
                flow.close(tag)
            else:
                above.append(node)
        following = node.next if inside is None else inside
        while following is None and len(above) > 1:
            closed = above.pop()
            flow.close(closed.tag or "")
            following = closed.next
        node = following


def _assembled(blocks: Sequence[HtmlBlock], pages: Paging, limits: ReadingLimits) -> ParsedDocument:
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


def _append(canonical: CanonicalText, block: HtmlBlock, *, follows_item: bool) -> Span:
    if block.cells:
        return canonical.row(block.cells, first=block.opens_table)
    return canonical.line(block.text) if follows_item and block.is_item else canonical.paragraph(block.text)
