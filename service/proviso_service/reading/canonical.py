"""Builds the canonical text of a document and records positions while it does, so that none has to be searched for
later."""

import re
from collections.abc import Iterable, Sequence
from unicodedata import normalize

from proviso_service.reading.model import (
    FileTooLong,
    Heading,
    PageSpan,
    ParsedDocument,
    ReadingLimits,
    Span,
)

_LIGATURES = {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st"} | {
    "\ufb06": "st"
}
# Soft hyphens, zero-width characters, the marks of reading direction and the tags of emblems cannot be seen, and a
# search would not find a word that holds one. Marks of direction can show a quotation in another order than it is
# stored in, and tags can hide whole sentences.
_INVISIBLE = "\u00ad\u200b\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
# Rarer ones are left out of texts that are kept, and not by `readable`: the index of words was built with that.
_RARE_INVISIBLE = "\u180e\u2061\u2062\u2063\u2064\u206a\u206b\u206c\u206d\u206e\u206f" + "".join(
    map(chr, range(0xE0000, 0xE0100))
)
# The joiner and the non-joiner belong to the spelling of Persian, Hindi and others, and to emoji: between two
# characters of such scripts, from Arabic on, or of emoji one of them stays. Elsewhere they only hide a word.
_JOINERS = "\u200c\u200d"
_JOINED = "[\u0600-\u1cff\u2190-\u2bff\ua800-\uabff\ufb50-\ufe0f\ufe70-\ufefc\U00010a00-\U0001faff]"
_JOINER = re.compile(f"(?<={_JOINED})([{_JOINERS}])[{_JOINERS}]*+(?={_JOINED})|[{_JOINERS}]+")
# One variation selector chooses the shape of the character before it; a row of them is seen no more than tags are.
_VARIATIONS = re.compile(r"(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
SEEN_ONLY = str.maketrans(dict.fromkeys(_INVISIBLE + _RARE_INVISIBLE, ""))
"""For `str.translate`: leaves out what cannot be seen, except for joiners and variation selectors."""
_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_CONTROLS = "".join(chr(code) for code in (*range(9), 11, *range(14, 32), *range(127, 160)) if code != 0x85)
_READABLE = str.maketrans(
    _LIGATURES
    | dict.fromkeys(_INVISIBLE + _CONTROLS, "")
    | dict.fromkeys(_SPACES, " ")
    | {"\u2028": "\n", "\u2029": "\n", "\u0085": "\n"}
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")

MAX_SECTIONS = 100_000
"""The most headings, and the most passages, that a document may have."""

PARAGRAPH_BREAK = "\n\n"
CELL_BREAK = " | "
"""What stands between the cells of a table's row."""


def text_too_long(limits: ReadingLimits) -> FileTooLong:
    """Returns the error for a text that is longer than the limit."""
    return FileTooLong(f"The text is longer than {limits.max_text_chars:,} characters. Split it and upload the parts.")


def too_many_pages(limits: ReadingLimits) -> FileTooLong:
    """Returns the error for a document with more pages than the limit."""
    return FileTooLong(f"The document has more than {limits.max_pages:,} pages. Split it and upload the parts.")


def check_sections(count: int) -> None:
    """Raises UnreadableFile for more headings, or more passages, than a document may have."""
    if count > MAX_SECTIONS:
        raise FileTooLong("The document has too many sections. Split it and upload the parts.")


def readable(text: str) -> str:
    """Returns the text as words are searched in it: ligatures become letters, accents are part of their letters, every
    space is an ordinary one, and characters that cannot be seen are left out. Line ends become newlines."""
    return without_joiners(_in_plain_characters(text))


def legible(text: str) -> str:
    """Returns the text as it is kept and shown: `readable`, but with the joiners that belong to its spelling."""
    return without_invisible(_in_plain_characters(text))


def _in_plain_characters(text: str) -> str:
    text = normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n").translate(_READABLE)
    return _SURROGATE.sub("\ufffd", text)


def without_joiners(text: str) -> str:
    """Returns the text without joiners and non-joiners, which people leave out when they type a word again."""
    return text.replace("\u200c", "").replace("\u200d", "")


def without_invisible(text: str) -> str:
    """Returns the text without the characters that cannot be seen, except for the joiners that belong to its spelling,
    and otherwise as it is."""
    if text.isascii():
        return text
    # Most texts hold none of these; to look at each character once is much faster than to translate it.
    is_all_seen = SEEN_ONLY.keys().isdisjoint(map(ord, set(text)))
    return _without_rows(text if is_all_seen else text.translate(SEEN_ONLY))


def _without_rows(text: str) -> str:
    """Returns the text with joiners in their place only, and with one variation selector where there is a row."""
    text = text if text.isascii() else _VARIATIONS.sub("", text)
    return _JOINER.sub(r"\1", text) if any(joiner in text for joiner in _JOINERS) else text


class CanonicalText:
    """The canonical text under construction. Blocks are appended in reading order; each is one paragraph, and a blank
    line separates it from the next. Every text passes through `legible` and loses its outer white space; a block with
    nothing left is left out.

    Methods raise UnreadableFile once the text is longer than the limit."""

    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._pages: list[tuple[int, int]] = []
        self._next_page: int | None = None
        self._furniture: list[Span] = []

    @property
    def length(self) -> int:
        """The length so far in code points: where the separator of the next block begins."""
        return self._length

    def paragraph(self, text: str) -> Span:
        """Appends a block of text; newlines inside it are kept."""
        return self._block(text, PARAGRAPH_BREAK)

    def line(self, text: str) -> Span:
        """Appends a block on the line after the block before, as the items of a list stand."""
        return self._block(text, "\n")

    def continuation(self, text: str, separator: str = " ") -> Span:
        """Appends more of the block before, as where a paragraph goes on over the end of a page."""
        return self._block(text, separator)

    def heading(self, text: str, level: int) -> Span:
        """Appends a heading of the outline in a block of its own; `level` counts from 1."""
        span = self.paragraph(" ".join(legible(text).split()))
        self.mark_heading(span, level)
        return span

    def mark_heading(self, span: Span, level: int, title: str = "") -> None:
        """Makes a heading of a block that was appended; its title is its text unless another is given."""
        words = " ".join((title or self._slice(span)).split())
        if words:
            self._headings.append(Heading(level, words, span.start, span.end))

    def row(self, cells: Iterable[str], *, first: bool = False) -> Span:
        """Appends one row of a table, its cells in one line; `first` opens the table with a blank line. Empty cells
        keep their place."""
        words = [" ".join(legible(cell).split()) for cell in cells]
        if not any(words):
            return Span(self._length, self._length)
        return self._block(CELL_BREAK.join(words), PARAGRAPH_BREAK if first else "\n", strip=False)

    def furniture(self, text: str) -> Span:
        """Appends a running header, footer or page number, in a block of its own that no passage takes in."""
        span = self.paragraph(text)
        if span.start < span.end:
            self._furniture.append(span)
        return span

    def begin_page(self, number: int) -> None:
        """Puts everything that is appended from now on onto page `number`; pages come in order. Raises UnreadableFile
        beyond the limit of pages."""
        if number > self._limits.max_pages:
            raise too_many_pages(self._limits)
        self._next_page = number

    def finish(self) -> ParsedDocument:
        """Returns the document. A page reaches from its first block to the start of the next page; an empty page is
        left out."""
        starts = [start for _, start in self._pages] + [self._length]
        pages = [PageSpan(number, start, end) for (number, start), end in zip(self._pages, starts[1:], strict=True)]
        return ParsedDocument("".join(self._parts), tuple(self._headings), tuple(pages), tuple(self._furniture))

    def _block(self, text: str, separator: str, *, strip: bool = True) -> Span:
        words = legible(text)
        words = words.strip() if strip else words
        if not words:
            return Span(self._length, self._length)
        if self._parts:
            self._append(separator)
        start = self._length
        if self._next_page is not None:
            self._pages.append((self._next_page, start))
            self._next_page = None
        self._append(words)
        return Span(start, self._length)

    def _append(self, text: str) -> None:
        self._length += len(text)
        if self._length > self._limits.max_text_chars:
            raise text_too_long(self._limits)
        self._parts.append(text)

    def _slice(self, span: Span) -> str:
        """Returns the text of a span. It looks back from the end, because headings are marked soon after they are
        appended."""
        found: list[str] = []
        position = self._length
        for part in reversed(self._parts):
            position -= len(part)
            if position < span.end:
                found.append(part[max(0, span.start - position) : span.end - position])
            if position <= span.start:
                break
        return "".join(reversed(found))


_MAX_ROW_CHARS = 500
_MAX_VALUE_CHARS = 60
_MARKER = re.compile(
    r"(?:[(\[]?(?:\d{1,3}|[ivxlcIVXLC]{1,6}|[a-zA-Z]{1,2})[.)\]]{1,2}|\d{1,3}(?:\.\d{1,3}){1,5}\.?|[-*\u2022\u00b7\u25cf\u25aa\u2013])"
)


def is_layout_row(cells: Sequence[Sequence[str]]) -> bool:
    """Tells whether a row of a table is to be read as paragraphs, cell by cell: a single cell holds all the text, and
    more than a value; or the cells hold several paragraphs that are too long for one line. `cells` has the paragraphs
    of each cell, none of them empty."""
    filled = [cell for cell in cells if cell]
    chars = sum(len(text) for cell in filled for text in cell)
    several = any(len(cell) > 1 for cell in filled)
    if len(filled) == 1:
        return several or len(cells) == 1 or chars > _MAX_VALUE_CHARS
    return several and chars > _MAX_ROW_CHARS


def marked_item(cells: Sequence[Sequence[str]]) -> str:
    """Returns the text of a row that is an item of a list, with its number or bullet in a cell of its own; "" for any
    other row."""
    filled = [cell for cell in cells if cell]
    if len(filled) == 2 and _MARKER.fullmatch(filled[0][0]):
        return f"{filled[0][0]} {' '.join(filled[1])}"
    return ""
