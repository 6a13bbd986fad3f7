"""Builds the outline of a PDF from its bookmarks, the titles of its clauses, and lines that are set larger or bolder
than the text."""

import ctypes
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

import pypdfium2.raw as pdfium
from pypdfium2 import PdfBookmark, PdfDocument

from proviso_service.reading.model import Heading, Span
from proviso_service.reading.outline import (
    CAPITALS_LEVEL,
    CLAUSE_LEVEL,
    PART_LEVEL,
    complete_outline,
    stands_out_as_title,
)

_MAX_BOOKMARKS = 2_000
_MAX_DEPTH = 6
_MAX_TITLE_CHARS = 300
_NOT_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the file's outline. `level` counts from 1; `page` counts from 1 and is 0 where the bookmark leads
    nowhere."""

    title: str
    level: int
    page: int


def read_bookmarks(document: PdfDocument) -> list[Bookmark]:
    """Reads the bookmarks in the order of the outline. The deepest and the last ones of a very large outline are left
    out."""
    return list(islice(_bookmarks(document), _MAX_BOOKMARKS))


def letters_of(text: str) -> str:
    """Returns only the letters and digits of a text: titles are compared by them."""
    return _NOT_LETTERS.sub("", text).casefold()


def _bookmarks(document: PdfDocument) -> Iterator[Bookmark]:
    """Yields each bookmark once, because a damaged outline can run in circles."""
    seen: set[int] = set()
    following = [(pdfium.FPDFBookmark_GetFirstChild(document, None), 1)]
    while following:
        raw, level = following.pop()
        if not raw or (address := ctypes.addressof(raw.contents)) in seen:
            continue
        seen.add(address)
        following.append((pdfium.FPDFBookmark_GetNextSibling(document, raw), level))
        if level < _MAX_DEPTH:
            following.append((pdfium.FPDFBookmark_GetFirstChild(document, raw), level + 1))
        bookmark = PdfBookmark(raw, document, level)
        destination = bookmark.get_dest()
        page = destination.get_index() if destination else None
        yield Bookmark(bookmark.get_title()[:_MAX_TITLE_CHARS], level, 0 if page is None else page + 1)


_MAX_LINES = 3
_MAX_BOOKMARK_CHARS = 500
_LARGER = 1.1
# These are set like titles but are none: names of parties, and lines to be signed.
_NO_TITLE = re.compile(
    r"\b(?:inc|llc|l\.l\.c|corp|corporation|ltd|limited|l\.p|lp|llp|plc|gmbh|s\.a|n\.a|company)[.,]*$"
    r"|^(?:by|and|between|name|title|date|signed|signature)\b.{0,3}(?::|$)",
    re.IGNORECASE,
)

Style = tuple[float, bool]
"""The font size in half points, and whether the text is bold."""


@dataclass(frozen=True, slots=True)
class SetBlock:
    """A paragraph of the canonical text and how it is set. `page` is the page that it begins on."""

    span: Span
    page: int
    size: float
    bold: bool
    line_count: int

    @property
    def style(self) -> Style:
        return round(self.size * 2) / 2, self.bold


def outline(
    text: str, blocks: Sequence[SetBlock], apart: Sequence[Span], bookmarks: Sequence[Bookmark]
) -> tuple[Heading, ...]:
    """Returns the headings in order; no two overlap, and none lies in the spans `apart`, which are furniture and rows
    of tables in order."""
    marked = list(_marked(text, blocks, bookmarks))
    return complete_outline(_without(text, apart), marked, _titles(text, blocks), apart)


def _without(text: str, apart: Sequence[Span]) -> str:
    """Returns the text with blanks in place of the spans, so that what repeats there does not count as a running
    title."""
    ends = [0, *(span.end for span in apart)]
    starts = [*(span.start for span in apart), len(text)]
    kept = (text[start:end] for start, end in zip(ends, starts, strict=True))
    blanks = (" " * (span.end - span.start) for span in apart)
    return "".join(chain.from_iterable(zip_longest(kept, blanks, fillvalue="")))


def _titles(text: str, blocks: Sequence[SetBlock]) -> Iterator[Heading]:
    """Yields the blocks that are set like titles: the largest on the first level, other large ones on the second, and
    bold ones on the level of clauses."""
    body_size, body_bold = _body_style(blocks)
    titles = [block for block in blocks if block.line_count <= _MAX_LINES and _is_title(text, block.span)]
    largest = max((block.style[0] for block in titles), default=0.0)
    for block in titles:
        size, bold = block.style
        if size > body_size * _LARGER:
            level = PART_LEVEL if size == largest else CAPITALS_LEVEL
        elif bold and not body_bold and size >= body_size:
            level = CLAUSE_LEVEL
        else:
            continue
        yield Heading(level, _words(text, block.span), block.span.start, block.span.end)


def _body_style(blocks: Sequence[SetBlock]) -> Style:
    """Returns the style of most of the text."""
    lengths: Counter[Style] = Counter()
    for block in blocks:
        lengths[block.style] += block.span.end - block.span.start
    return lengths.most_common(1)[0][0] if lengths else (0.0, False)


def _is_title(text: str, span: Span) -> bool:
    words = text[span.start : span.end]
    return stands_out_as_title(words) and not _NO_TITLE.search(words)


def _words(text: str, span: Span) -> str:
    return " ".join(text[span.start : span.end].split())


def _marked(text: str, blocks: Sequence[SetBlock], bookmarks: Sequence[Bookmark]) -> Iterator[Heading]:
    """Yields a heading for each bookmark that leads to a block on its page which opens with the bookmark's title.
    Blocks and bookmarks are both in order."""
    on_page: defaultdict[int, list[SetBlock]] = defaultdict(list)
    for block in blocks if bookmarks else ():
        on_page[block.page].append(block)
    reached = 0
    for bookmark in bookmarks:
        candidates = (block.span for block in on_page[bookmark.page] if block.span.start >= reached)
        found = (title for span in candidates if (title := _opening(text, span, letters_of(bookmark.title))))
        if title := next(found, None):
            reached = title.end
            yield Heading(bookmark.level, _words(text, title), title.start, title.end)


def _opening(text: str, span: Span, letters: str) -> Span | None:
    """Returns the part of a block that is the title with these letters; None when the block does not open with them."""
    matched = 0
    for position in range(span.start, min(span.end, span.start + _MAX_BOOKMARK_CHARS)):
        char = letters_of(text[position])
        if not letters.startswith(char, matched):
            return None
        matched += len(char)
        if char and matched == len(letters):
            whole = position + 1 == span.end or not text[position + 1].isalnum()
            return Span(span.start, position + 1) if whole else None
    return None
