"""What reading makes of a file (its text, headings, pages and passages), the limits of reading, and its failures.

Offsets are Unicode code points; the end is exclusive."""

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document: its `level` from 1, and the position of its line in the text. A clause without a title
    of its own counts as a heading that is not `titled`: its number stands for the title."""

    level: int
    title: str
    start: int
    end: int
    titled: bool = True


@dataclass(frozen=True, slots=True)
class PageSpan:
    """One page of a document: its `number` from 1, and its part of the text."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, from `start` up to but without `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word of the text and the box around it, as shares of the width and height of its page as it is shown, measured
    from the upper left corner."""

    start: int
    end: int
    left: float
    top: float
    right: float
    bottom: float


PACKED_WORD = struct.Struct("<IHHHHH")
"""A word in PageWords.packed."""
WHOLE_PAGE = 0xFFFF
"""What the edges of boxes are measured in: the width or height of a page is so much."""


@dataclass(frozen=True, slots=True)
class PageWords:
    """A page as it is shown, with its words: its `number` from 1, and its size in points.

    `packed` has 14 bytes for each word, in the order of the text: how far it begins after the end of the word before,
    its length, and the edges of its box (left, top, right, bottom) as 65,535ths of the page."""

    number: int
    width: float
    height: float
    packed: bytes = b""

    @property
    def reach(self) -> int:
        """The position in the text where the last word ends."""
        return sum(gap + length for gap, length, *_ in PACKED_WORD.iter_unpack(self.packed))

    def words(self) -> Iterator[PlacedWord]:
        """Yields the words in the order of the text."""
        end = 0
        for gap, length, left, top, right, bottom in PACKED_WORD.iter_unpack(self.packed):
            start, end = end + gap, end + gap + length
            yield PlacedWord(start, end, left / WHOLE_PAGE, top / WHOLE_PAGE, right / WHOLE_PAGE, bottom / WHOLE_PAGE)


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The canonical text of a document with its structure; every later offset refers to `text`.

    `furniture` are running headers, footers and page numbers, in order: text that is read with the document but belongs
    to no passage. `page_words` are the pages of a PDF, in order, also those without text."""

    text: str
    headings: tuple[Heading, ...] = ()
    pages: tuple[PageSpan, ...] = ()
    furniture: tuple[Span, ...] = ()
    page_words: tuple[PageWords, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `text == document_text[start:end]`. The chunks of a document are in order and do not overlap.

    `clause_numbers` are the numbers of the clauses that it is part of or that begin in it, such as "12.3", "iv", "a" or
    "A" (of Exhibit A). They are as in the document, without brackets and without the last full stop."""

    ordinal: int
    start: int
    end: int
    text: str
    page: int = 0
    section_path: tuple[str, ...] = ()
    clause_numbers: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        return self.section_path[-1] if self.section_path else ""

    @property
    def content_sha256(self) -> str:
        """Hash of the text, in hexadecimal; equal passages share one embedding."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What reading a file gives: its canonical text, and the passages that the text is cut into."""

    parsed: ParsedDocument
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A place where a page or a section begins: from `start` on, the text is on `page` (0 without pages) and under
    `heading`."""

    start: int
    page: int
    heading: str


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What reading one file may yield and take; a file that passes a limit is an UnreadableFile.

    `chunk_chars` is the length of the longest passage in code points. `time_limit_s` and `memory_bytes` bound the
    process that reads, so only `ProcessReader` keeps to them."""

    max_text_chars: int = 20_000_000
    max_pages: int = 3_000
    chunk_chars: int = 900
    time_limit_s: float = 60.0
    memory_bytes: int = 1024**3


class UnreadableFile(Exception):
    """The file is not a document that can be read: its format is unknown, it is damaged or protected, it holds no text,
    or it passes a limit. `message` is a sentence or two for a person and says what can be done."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class FileTooLong(UnreadableFile):
    """The file passes a limit of size or structure; a part of it could be read."""


class ReadingTooSlow(UnreadableFile):
    """Reading the file took longer than the time limit."""


class ReaderUnavailable(Exception):
    """No process can be started to read files in; it may be possible later."""


class ReaderClosed(ReaderUnavailable):
    """The reader was closed and does not read any more."""
