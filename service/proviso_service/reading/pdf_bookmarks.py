"""The bookmarks of a PDF."""

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import pypdfium2.raw as pdfium
from pypdfium2 import PdfBookmark, PdfDocument

_MAX_BOOKMARKS = 2_000
_MAX_DEPTH = 6
_MAX_TITLE_CHARS = 300
_NOT_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """`level` from 1; `page` from 1, 0 where it leads nowhere."""

    title: str
    level: int
    page: int


def read_bookmarks(document: PdfDocument) -> list[Bookmark]:
    """In the order of the outline, the deepest and the last ones of very large outlines left out."""
    return list(islice(_bookmarks(document), _MAX_BOOKMARKS))


def letters_of(text: str) -> str:
    """Only letters and digits: what titles are compared by."""
    return _NOT_LETTERS.sub("", text).casefold()


def _bookmarks(document: PdfDocument) -> Iterator[Bookmark]:
    """None twice: a damaged outline can run in circles."""
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
