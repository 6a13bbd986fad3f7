"""Reads plain text: pages come from form feeds, headings from the way contracts are numbered, and running lines from
coming back."""

import codecs
import re
from collections.abc import Iterator

from proviso_service.reading.canonical import text_too_long, too_many_pages, without_invisible
from proviso_service.reading.furniture import recurring_lines, running_lines
from proviso_service.reading.model import PageSpan, ParsedDocument, ReadingLimits, Span, UnreadableFile
from proviso_service.reading.outline import find_headings

_PAGE_BREAK = "\f"
# A line from its first visible character on.
_LINE = re.compile(r"\S[^\n\f]*")


def parse_plain(content: bytes, limits: ReadingLimits) -> ParsedDocument:
    """Returns the decoded text. Raises UnreadableFile."""
    text = decode(content, limits)
    if text.count(_PAGE_BREAK) >= limits.max_pages:
        raise too_many_pages(limits)
    furniture = tuple(_furniture(text))
    return ParsedDocument(text, find_headings(text, furniture), tuple(_pages(text)), furniture)


def _pages(text: str) -> Iterator[PageSpan]:
    """Yields one page up to each form feed and one after the last; none when there is no form feed."""
    if _PAGE_BREAK not in text:
        return
    start = 0
    for number, page in enumerate(text.split(_PAGE_BREAK), start=1):
        end = min(start + len(page) + 1, len(text))
        if start < end:
            yield PageSpan(number, start, end)
        start = end


def _furniture(text: str) -> Iterator[Span]:
    """Yields the running headers, footers and page numbers, each as a line without the white space around it."""
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
    """Returns the lines of a part of the text that are not blank, without the white space around them, and the
    positions where they begin."""
    lines: list[str] = []
    starts: list[int] = []
    for match in _LINE.finditer(text, start, end):
        lines.append(match[0].rstrip())
        starts.append(match.start())
    return lines, starts


_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1a\x1b"))
_FEW_CONTROLS = 32
_MAX_CONTROL_SHARE = 0.02
_BINARY = "The file holds binary data, not text. Upload the document in the format that it was written in."


def decode(content: bytes, limits: ReadingLimits) -> str:
    """Returns the text with every line end as one newline, without a byte order mark and without characters that cannot
    be seen. It reads UTF-8, and UTF-16 where a mark says so; half characters of UTF-16 become the replacement
    character. Raises UnreadableFile for anything else, and for a text over the limit."""
    mark, encoding = next(
        ((mark, encoding) for mark, encoding in _BYTE_ORDER_MARKS if content.startswith(mark)), (b"", "utf-8")
    )
    text = _characters(content, len(mark), encoding)
    if len(text) > limits.max_text_chars:
        raise text_too_long(limits)
    if _is_binary(text):
        raise UnreadableFile(_BINARY)
    return without_invisible(text).replace("\r\n", "\n").replace("\r", "\n")


def _characters(content: bytes, start: int, encoding: str) -> str:
    errors = "strict" if encoding == "utf-8" else "surrogatepass"
    try:
        text = content[start:].decode(encoding, errors)
    except UnicodeDecodeError as error:
        if b"\0" in content[:1024] and not start:
            raise UnreadableFile(_BINARY) from error
        raise UnreadableFile(
            f"The file is not readable text (byte {error.start + start + 1:,}). Open it in the program that it comes"
            " from and save it with the encoding UTF-8."
        ) from error
    return _LONE_SURROGATE.sub("\ufffd", text)


def _is_binary(text: str) -> bool:
    content = text.encode()
    controls = len(content) - len(content.translate(None, _CONTROLS))
    return "\0" in text or controls > max(_FEW_CONTROLS, _MAX_CONTROL_SHARE * len(content))
