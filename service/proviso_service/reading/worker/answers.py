"""What the child writes about a document, as frames, and how the service reads it.

The document may have taken over the child. So the service believes nothing: it checks that every offset lies in the
text, that everything is in order, and that nothing is larger than it may be. If one check fails, the whole answer is
broken."""

import json
import math
import struct
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

from proviso_service.reading.model import (
    PACKED_WORD,
    Chunk,
    FileTooLong,
    Heading,
    PageSpan,
    PageWords,
    ParsedDocument,
    ReadDocument,
    ReadingLimits,
    Span,
    UnreadableFile,
)
from proviso_service.reading.worker.messages import HEADER, frame

READ = b"."
UNSUPPORTED = b"U"
TOO_LONG = b"L"
OUT_OF_MEMORY = b"M"
FAULT = b"F"
_VERDICTS = (READ, UNSUPPORTED, TOO_LONG, OUT_OF_MEMORY, FAULT)
_TEXT = b"T"
_HEADINGS = b"H"
_PAGES = b"P"
_FURNITURE = b"N"
_TITLES = b"S"
"""Titles of section paths, each with the index in this list of the title above it, or -1."""
_CHUNKS = b"C"
_WORDS = b"W"
"""The words of one page: its number, width and height, and then PageWords.packed."""
_PAGE = struct.Struct("!Iff")

STRUCTURE_BYTES = 96 * 1024 * 1024
"""The most bytes of everything but the text."""
_TEXT_PIECE_CHARS = 64 * 1024
_BATCH = 200
_MAX_PAYLOAD_BYTES = 1024 * 1024
_MAX_REASON_CHARS = 500
_MAX_TITLE_CHARS = 1_000
_MAX_DEPTH = 64
_MAX_LEVEL = 1_000
_MAX_PAGE = 1_000_000
_MAX_POINTS = 1_000_000
_MAX_CLAUSE_NUMBERS = 32
_MAX_CLAUSE_NUMBER_CHARS = 40

T = TypeVar("T")
Fields = list[Any]


class BrokenAnswer(Exception):
    """The bytes are not an answer that a sound child gives."""


class ChildOutOfMemory(Exception):
    """The child says that its memory was not enough."""


class ChildFault(Exception):
    """The child says that its parser failed; the message says where."""


def encode_read(read: ReadDocument) -> Iterator[bytes]:
    """Yields the frames of a document that was read. Lone surrogates, which UTF-8 cannot hold, become question
    marks."""
    parsed = read.parsed
    for start in range(0, len(parsed.text), _TEXT_PIECE_CHARS):
        yield frame(_TEXT, parsed.text[start : start + _TEXT_PIECE_CHARS].encode("utf-8", "replace"))
    headings = ([h.level, h.title[:_MAX_TITLE_CHARS], h.start, h.end, h.titled] for h in parsed.headings)
    yield from _batches(_HEADINGS, headings)
    yield from _batches(_PAGES, ([page.number, page.start, page.end] for page in parsed.pages))
    yield from _batches(_FURNITURE, ([span.start, span.end] for span in parsed.furniture))
    for page in parsed.page_words:
        yield frame(_WORDS, _PAGE.pack(page.number, page.width, page.height) + page.packed)
    titles: dict[tuple[int, str], int] = {}
    paths = [_path_index(chunk.section_path, titles) for chunk in read.chunks]
    yield from _batches(_TITLES, ([above, title[:_MAX_TITLE_CHARS]] for above, title in titles))
    chunks = (
        [chunk.start, chunk.end, chunk.page, path, chunk.clause_numbers]
        for chunk, path in zip(read.chunks, paths, strict=True)
    )
    yield from _batches(_CHUNKS, chunks)
    yield frame(READ, b"")


def encode_unsupported(refused: UnreadableFile) -> bytes:
    """Returns the frame that refuses the document, with the reason for a person."""
    verdict = TOO_LONG if isinstance(refused, FileTooLong) else UNSUPPORTED
    return frame(verdict, refused.message[:_MAX_REASON_CHARS].encode("utf-8", "replace"))


def encode_fault(where: str) -> bytes:
    """Returns the frame that says where the parser failed."""
    return frame(FAULT, where[:_MAX_REASON_CHARS].encode("utf-8", "replace"))


def _path_index(path: Iterable[str], titles: dict[tuple[int, str], int]) -> int:
    index = -1
    for title in path:
        index = titles.setdefault((index, title), len(titles))
    return index


def _batches(kind: bytes, entries: Iterable[Sequence[object]]) -> Iterator[bytes]:
    batch: list[Sequence[object]] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) == _BATCH:
            yield _json_frame(kind, batch)
            batch = []
    if batch:
        yield _json_frame(kind, batch)


def _json_frame(kind: bytes, batch: Sequence[object]) -> bytes:
    return frame(kind, json.dumps(batch, ensure_ascii=False).encode("utf-8", "replace"))


def decode_answer(content: bytes | bytearray, limits: ReadingLimits) -> ReadDocument:
    """Returns the document. Raises UnreadableFile with the child's reason, ChildOutOfMemory, ChildFault, and
    BrokenAnswer for bytes that are no answer."""
    answer = _AnswerDecoder(limits)
    try:
        for kind, payload in _frames(content):
            _demand(not answer.verdict, "more after the end")
            answer.take(kind, payload)
        return answer.read()
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, UnicodeError) as error:
        raise BrokenAnswer(type(error).__name__) from error


def _frames(content: bytes | bytearray) -> Iterator[tuple[bytes, bytes]]:
    position = 0
    while position < len(content):
        _demand(len(content) - position >= HEADER.size, "half a frame")
        kind, size = HEADER.unpack_from(content, position)
        position += HEADER.size
        _demand(size <= min(_MAX_PAYLOAD_BYTES, len(content) - position), "a frame too large")
        yield kind, bytes(content[position : position + size])
        position += size


@dataclass(slots=True)
class _AnswerDecoder:
    """Collects an answer frame by frame and checks it."""

    limits: ReadingLimits
    verdict: bytes = b""
    message: str = ""
    _decoder: Any = field(default_factory=getincrementaldecoder("utf-8"))
    _pieces: list[str] = field(default_factory=list)
    _words: list[PageWords] = field(default_factory=list)
    _batches: dict[bytes, list[Fields]] = field(
        default_factory=lambda: {kind: [] for kind in (_HEADINGS, _PAGES, _FURNITURE, _TITLES, _CHUNKS)}
    )

    def take(self, kind: bytes, payload: bytes) -> None:
        if kind == _TEXT:
            self._pieces.append(self._decoder.decode(payload))
        elif kind in _VERDICTS:
            self.verdict = kind
            self.message = _line(str(payload, "utf-8"))
        elif kind == _WORDS:
            self._words.append(_page_words(payload))
        else:
            self._batches[kind].extend(json.loads(payload))

    def read(self) -> ReadDocument:
        if self.verdict == UNSUPPORTED and self.message:
            raise UnreadableFile(self.message)
        if self.verdict == TOO_LONG and self.message:
            raise FileTooLong(self.message)
        if self.verdict == OUT_OF_MEMORY:
            raise ChildOutOfMemory
        if self.verdict == FAULT:
            raise ChildFault(self.message)
        _demand(self.verdict == READ, "no verdict")
        self._decoder.decode(b"", final=True)
        text = "".join(self._pieces)
        _demand(0 < len(text) <= self.limits.max_text_chars and "\0" not in text, "its text")
        parsed = ParsedDocument(
            text,
            self._all(_HEADINGS, _heading, len(text)),
            self._all(_PAGES, _page, len(text)),
            self._all(_FURNITURE, _span, len(text)),
            tuple(self._words),
        )
        _demand(all(page.reach <= len(text) for page in self._words), "the words of a page")
        _demand(all(a.number < b.number for a, b in pairwise(self._words)), "the order of pages with words")
        _demand(all(a.start <= b.start for a, b in pairwise(parsed.headings)), "the order of headings")
        _demand(_are_apart(parsed.pages) and _are_apart(parsed.furniture), "the order of pages")
        return ReadDocument(parsed, self._chunks(text, {page.number for page in parsed.pages}))

    def _all(self, kind: bytes, make: Callable[[Fields, int], T], length: int) -> tuple[T, ...]:
        return tuple(make(fields, length) for fields in self._batches[kind])

    def _chunks(self, text: str, pages: set[int]) -> tuple[Chunk, ...]:
        paths = _paths(self._batches[_TITLES])
        chunks: list[Chunk] = []
        for start, end, page, path, numbers in self._batches[_CHUNKS]:
            _demand_range(start, end, len(text))
            _demand(0 < end - start <= self.limits.chunk_chars, "the length of a chunk")
            _demand(type(page) is int and (page == 0 or page in pages), "the page of a chunk")
            _demand(type(path) is int and -1 <= path < len(paths), "the path of a chunk")
            chunks.append(
                Chunk(
                    ordinal=len(chunks),
                    start=start,
                    end=end,
                    text=text[start:end],
                    page=page,
                    section_path=paths[path] if path >= 0 else (),
                    clause_numbers=_clause_numbers(numbers),
                )
            )
        _demand(bool(chunks) and _are_apart(chunks), "the order of chunks")
        return tuple(chunks)


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise BrokenAnswer(what)


def _demand_range(start: object, end: object, length: int) -> None:
    _demand(type(start) is int and type(end) is int and 0 <= start <= end <= length, "a position")


def _heading(fields: Fields, length: int) -> Heading:
    level, title, start, end, titled = fields
    _demand_range(start, end, length)
    _demand(type(titled) is bool, "whether a heading has a title")
    _demand(type(level) is int and 1 <= level <= _MAX_LEVEL, "the level of a heading")
    return Heading(level, _title(title), start, end, titled)


def _page(fields: Fields, length: int) -> PageSpan:
    number, start, end = fields
    _demand_range(start, end, length)
    _demand(type(number) is int and 1 <= number <= _MAX_PAGE, "the number of a page")
    return PageSpan(number, start, end)


def _page_words(payload: bytes) -> PageWords:
    _demand(len(payload) >= _PAGE.size and (len(payload) - _PAGE.size) % PACKED_WORD.size == 0, "half a word")
    number, width, height = _PAGE.unpack_from(payload)
    _demand(1 <= number <= _MAX_PAGE, "the number of a page")
    _demand(all(math.isfinite(side) and 0 <= side <= _MAX_POINTS for side in (width, height)), "the size of a page")
    return PageWords(number, width, height, payload[_PAGE.size :])


def _span(fields: Fields, length: int) -> Span:
    start, end = fields
    _demand_range(start, end, length)
    return Span(start, end)


def _are_apart(spans: Sequence[PageSpan | Span | Chunk]) -> bool:
    return all(before.end <= after.start for before, after in pairwise(spans))


def _paths(titles: Iterable[Fields]) -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    for above, title in titles:
        _demand(type(above) is int and -1 <= above < len(paths), "the place of a title")
        path = (*(paths[above] if above >= 0 else ()), _title(title))
        _demand(len(path) <= _MAX_DEPTH, "the depth of a title")
        paths.append(path)
    return paths


def _title(title: object) -> str:
    if type(title) is not str or not title or len(title) > _MAX_TITLE_CHARS or "\0" in title:
        raise BrokenAnswer("a title")
    title.encode()
    return title


def _clause_numbers(numbers: object) -> tuple[str, ...]:
    if type(numbers) is not list or len(numbers) > _MAX_CLAUSE_NUMBERS:
        raise BrokenAnswer("the numbers of a chunk")
    if not all(type(number) is str and number.isprintable() for number in numbers):
        raise BrokenAnswer("the number of a clause")
    _demand(all(0 < len(number) <= _MAX_CLAUSE_NUMBER_CHARS for number in numbers), "the number of a clause")
    return tuple(numbers)


def _line(text: str) -> str:
    """Returns what may be shown and logged: one line of visible characters."""
    return "".join(char if char.isprintable() else " " for char in text[:_MAX_REASON_CHARS])
