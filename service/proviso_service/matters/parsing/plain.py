"""Plain text: pages from form feeds, headings from the way contracts are numbered."""

from collections.abc import Iterator

from proviso_service.matters.model import PageSpan, ParsedDocument
from proviso_service.matters.parsing.canonical import ReadingLimits
from proviso_service.matters.parsing.decoding import decode
from proviso_service.matters.parsing.outline import find_headings

_PAGE_BREAK = "\f"


def parse_plain(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    """The decoded text, unchanged but for its line ends. Raises UnsupportedDocument."""
    text = decode(content, limits)
    return ParsedDocument(text, find_headings(text), tuple(_pages(text)))


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
