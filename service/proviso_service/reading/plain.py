"""Plain text: pages from form feeds, headings from the way contracts are numbered, running lines from their return."""

import re
from collections.abc import Iterator

from proviso_service.reading.canonical import ReadingLimits, too_many_pages
from proviso_service.reading.decoding import decode
from proviso_service.reading.furniture import recurring_lines, running_lines
from proviso_service.reading.model import PageSpan, ParsedDocument, Span
from proviso_service.reading.outline import find_headings

_PAGE_BREAK = "\f"
# What stands in a line, from its first character that is seen.
_LINE = re.compile(r"\S[^\n\f]*")


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
    if _PAGE_BREAK in text:
        yield from _running(text)
        return
    lines, starts = _lines(text, 0, len(text))
    for index in sorted(recurring_lines(lines, starts)):
        yield Span(starts[index], starts[index] + len(lines[index]))


def _running(text: str) -> Iterator[Span]:
    pages = [_lines(text, page.start, page.end) for page in _pages(text)]
    for page, index in sorted(running_lines([lines for lines, _ in pages])):
        lines, starts = pages[page]
        yield Span(starts[index], starts[index] + len(lines[index]))


def _lines(text: str, start: int, end: int) -> tuple[list[str], list[int]]:
    """The lines of a part of the text that are not blank, without the white space around them, and where they begin."""
    lines: list[str] = []
    starts: list[int] = []
    for match in _LINE.finditer(text, start, end):
        lines.append(match[0].rstrip())
        starts.append(match.start())
    return lines, starts
