"""Plain text: pages from form feeds, headings from the way contracts are numbered, running lines from their return."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from proviso_service.matters.model import PageSpan, ParsedDocument, Span
from proviso_service.matters.parsing.canonical import ReadingLimits, too_many_pages
from proviso_service.matters.parsing.decoding import decode
from proviso_service.matters.parsing.furniture import recurring_lines, running_lines
from proviso_service.matters.parsing.outline import find_headings

_PAGE_BREAK = "\f"


def parse_plain(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    """The decoded text, unchanged but for its line ends. Raises UnsupportedDocument."""
    text = decode(content, limits)
    if text.count(_PAGE_BREAK) >= limits.max_pages:
        raise too_many_pages(limits)
    furniture = tuple(_furniture(text))
    return ParsedDocument(text, find_headings(text, furniture), tuple(_pages(text)), furniture)


def _pages(text: str) -> Iterator[PageSpan]:
    """One page up to each form feed and one after the last; none when there is no form feed."""
    if _PAGE_BREAK not in text:
        return
    start = 0
    for number, page in enumerate(text.split(_PAGE_BREAK), start=1):
        end = min(start + len(page) + 1, len(text))
        if start < end:
            yield PageSpan(number, start, end)
        start = end


def _furniture(text: str) -> Iterator[Span]:
    """Running headers, footers and page numbers: each a line without the white space around it."""
    lines = text.replace(_PAGE_BREAK, "\n").split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for index in sorted(_running(text) if _PAGE_BREAK in text else recurring_lines(lines)):
        words = lines[index].strip()
        start = starts[index] + lines[index].index(words)
        yield Span(start, start + len(words))


def _running(text: str) -> Sequence[int]:
    """Indices among all lines, a page break ending a line too."""
    pages = [page.split("\n") for page in text.split(_PAGE_BREAK)]
    firsts = list(accumulate((len(page) for page in pages), initial=0))
    return [firsts[page] + line for page, line in running_lines(pages)]
