"""Reads the text of a PDF page as segments with positions, turned upright."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import byref, c_double, c_int, create_string_buffer
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

# PDFium puts this character in place of a hyphen at the end of a line that the next line continues.
_HYPHEN_MARK = "\ufffe"
# A soft hyphen that is drawn in a PDF is visible, so it is kept as a hyphen.
_SOFT_HYPHEN = "\u00ad"
_LINE = re.compile(r"[^\r\n\ufffe]+\ufffe?")
_SPACES = re.compile(r"[ \t\u00a0]+")
_OUTER = " \t\u00a0\ufffe"

_BOLD_NAME = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
_TYPEWRITER_NAME = re.compile(rb"courier|mono|consol|typewriter", re.IGNORECASE)
_FIXED_PITCH = 1
_FORCE_BOLD = 1 << 18
_BOLD_WEIGHT = 600

# Text with more skew than this is neither a line of text nor a stamp in a margin, but a watermark.
_MAX_SKEW_DEGREES = 5
# Multiples of the font size. A wide gap is wider than the space between two words, except in justified text that is set
# very loosely.
_WIDE_GAP = 0.9
_WIDE_GAP_TYPEWRITTEN = 2.0


@dataclass(frozen=True, slots=True)
class Segment:
    """Text on one line without a wide gap in it. Positions are in points from the upper left corner of the page as it
    is read, so `baseline` grows downwards. `order` is the segment's place in the page's own order of drawing."""

    text: str
    left: float
    right: float
    baseline: float
    size: float
    bold: bool
    order: int


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page holds: its segments in the order of drawing, and in `stamps` text that is set across the direction of
    reading, such as a stamp in a margin or a watermark. `quarter_turns` says how far the direction of reading is turned
    from the page's own axes."""

    number: int
    width: float
    height: float
    segments: tuple[Segment, ...]
    stamps: tuple[str, ...] = ()
    quarter_turns: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """Turns positions on a page, whose y grows upwards, into positions on the page as it is read."""

    quarter_turns: int
    left: float
    bottom: float
    right: float
    top: float

    def upright(self, x: float, y: float) -> tuple[float, float]:
        """Returns the position as measured from the upper left corner, downwards."""
        if self.quarter_turns == 1:
            return y - self.bottom, x - self.left
        if self.quarter_turns == 2:
            return self.right - x, y - self.bottom
        if self.quarter_turns == 3:
            return self.top - y, self.right - x
        return x - self.left, self.top - y

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the page as it is read."""
        width, height = self.right - self.left, self.top - self.bottom
        return (height, width) if self.quarter_turns % 2 else (width, height)


def frame_of(page: PdfPage, quarter_turns: int) -> Frame:
    """Returns the frame of a page whose direction of reading is turned so."""
    return Frame(quarter_turns, *page.get_bbox())


def read_page(page: PdfPage, number: int) -> PageText:
    """Reads the text of a page; `number` counts from 1."""
    textpage = page.get_textpage()
    try:
        glyphs = _Glyphs(textpage)
        spans = list(_spans(glyphs))
        frame = frame_of(page, _reading_direction(spans, page.get_rotation() // 90))
        segments: list[Segment] = []
        stamps: list[str] = []
        for span in spans:
            if span.quarter_turns == frame.quarter_turns:
                segments += _segments(glyphs, span, frame, len(segments))
            else:
                stamps.append(glyphs.words(span.start, span.end))
        return PageText(number, *frame.size, tuple(segments), tuple(stamps), frame.quarter_turns)
    finally:
        textpage.close()


@dataclass(frozen=True, slots=True)
class _GlyphLine:
    """One line of the extracted text. `quarter_turns` is None for skewed text."""

    start: int
    end: int
    size: float
    quarter_turns: int | None
    hyphenated: bool


@dataclass(frozen=True, slots=True)
class _Axis:
    """The direction of reading: which edges of a character's box come first and last, and where the page begins."""

    start: Callable[[Any], float]
    end: Callable[[Any], float]
    sign: int
    origin: float

    def position(self, edge: float) -> float:
        return _finite(self.sign * edge - self.origin)


def _axis(frame: Frame) -> _Axis:
    left, bottom, right, top = map(attrgetter, ("left", "bottom", "right", "top"))
    if frame.quarter_turns == 1:
        return _Axis(bottom, top, 1, frame.bottom)
    if frame.quarter_turns == 2:
        return _Axis(right, left, -1, -frame.right)
    if frame.quarter_turns == 3:
        return _Axis(top, bottom, -1, -frame.top)
    return _Axis(left, right, 1, frame.left)


class _Glyphs:
    """The extracted text of a page, one character for each UTF-16 unit, and the positions of its characters."""

    def __init__(self, textpage: PdfTextPage) -> None:
        self._raw = textpage.raw
        self._box = pdfium.FS_RECTF()
        self._box_ref = byref(self._box)
        self._matrix = pdfium.FS_MATRIX()
        self._x, self._y = c_double(), c_double()
        self._name, self._flags = create_string_buffer(256), c_int()
        text = _text_of(textpage)
        self._has_pairs = bool(text) and max(text) > "\uffff"
        self.text = _units(text) if self._has_pairs else text
        self._is_mapped = len(self.text) != textpage.count_chars()

    def words(self, start: int, end: int) -> str:
        text = self.text[start:end]
        if self._has_pairs:
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text.replace(_HYPHEN_MARK, "").replace(_SOFT_HYPHEN, "-").replace("\u00a0", " ")

    def extent(self, position: int, axis: _Axis) -> tuple[float, float]:
        """Returns where a character begins and where the next one should begin, in the direction of reading."""
        pdfium.FPDFText_GetLooseCharBox(self._raw, self._index(position), self._box_ref)
        return axis.position(axis.start(self._box)), axis.position(axis.end(self._box))

    def gap(self, before: int, after: int, axis: _Axis) -> tuple[float, float]:
        """Returns where one character ends and another begins, in the direction of reading."""
        box, reference = self._box, self._box_ref
        if self._is_mapped:
            before, after = self._index(before), self._index(after)
        pdfium.FPDFText_GetLooseCharBox(self._raw, before, reference)
        end = axis.end(box)
        pdfium.FPDFText_GetLooseCharBox(self._raw, after, reference)
        return axis.position(end), axis.position(axis.start(box))

    def origin(self, position: int) -> tuple[float, float]:
        pdfium.FPDFText_GetCharOrigin(self._raw, self._index(position), byref(self._x), byref(self._y))
        return _finite(self._x.value), _finite(self._y.value)

    def size_and_angle(self, position: int) -> tuple[float, float]:
        """Returns the font size in points as it is drawn, and the direction of the text in degrees,
        counterclockwise."""
        index = self._index(position)
        pdfium.FPDFText_GetMatrix(self._raw, index, byref(self._matrix))
        matrix = self._matrix
        size = abs(pdfium.FPDFText_GetFontSize(self._raw, index) * math.hypot(matrix.c, matrix.d))
        return _finite(size), _finite(math.degrees(math.atan2(matrix.b, matrix.a)))

    def font(self, position: int) -> tuple[bool, bool]:
        """Returns whether the font is bold, and whether all its letters have the same width."""
        index = self._index(position)
        pdfium.FPDFText_GetFontInfo(self._raw, index, self._name, len(self._name), byref(self._flags))
        name, flags = self._name.value, self._flags.value
        bold = flags & _FORCE_BOLD or _BOLD_NAME.search(name)
        bold = bold or pdfium.FPDFText_GetFontWeight(self._raw, index) >= _BOLD_WEIGHT
        return bool(bold), bool(flags & _FIXED_PITCH or _TYPEWRITER_NAME.search(name))

    def is_hyphen(self, position: int) -> bool:
        return bool(pdfium.FPDFText_IsHyphen(self._raw, self._index(position)) == 1)

    def _index(self, position: int) -> int:
        if self._is_mapped:
            return max(0, int(pdfium.FPDFText_GetCharIndexFromTextIndex(self._raw, position)))
        return position


def _spans(glyphs: _Glyphs) -> Iterator[_GlyphLine]:
    for line in _LINE.finditer(glyphs.text):
        words = line[0].rstrip(_OUTER)
        start = line.end() - len(line[0].lstrip(_OUTER))
        end = line.start() + len(words)
        if start >= end:
            continue
        hyphenated = line[0].endswith(_HYPHEN_MARK) and glyphs.is_hyphen(line.end() - 1)
        size, angle = glyphs.size_and_angle(start)
        turns = round(angle / 90)
        skewed = abs(angle - 90 * turns) > _MAX_SKEW_DEGREES
        yield _GlyphLine(start, end, size, None if skewed else turns % 4, hyphenated)


def _reading_direction(spans: Sequence[_GlyphLine], page_turns: int) -> int:
    """Returns the direction of most of the text; a page without text has that of the page itself, `page_turns`."""
    lengths: Counter[int] = Counter()
    for span in spans:
        if span.quarter_turns is not None:
            lengths[span.quarter_turns] += span.end - span.start
    return lengths.most_common(1)[0][0] if lengths else page_turns % 4


def _segments(glyphs: _Glyphs, span: _GlyphLine, frame: Frame, order: int) -> Iterator[Segment]:
    _, baseline = frame.upright(*glyphs.origin(span.start))
    starts_bold, fixed_pitch = glyphs.font(span.start)
    wide = span.size * (_WIDE_GAP_TYPEWRITTEN if fixed_pitch else _WIDE_GAP)
    for part in _parts(glyphs, span, _axis(frame), wide):
        text = glyphs.words(part.start, part.end) + ("-" if span.hyphenated and part.end == span.end else "")
        bold = starts_bold if part.start == span.start else glyphs.font(part.start)[0]
        bold = bold and glyphs.font(part.end - 1)[0]
        yield Segment(text, part.left, part.right, baseline, span.size, bold, order)
        order += 1


@dataclass(frozen=True, slots=True)
class _LinePart:
    start: int
    end: int
    left: float
    right: float


def _parts(glyphs: _Glyphs, span: _GlyphLine, axis: _Axis, wide: float) -> Iterator[_LinePart]:
    """Divides the line at its wide gaps."""
    start = span.start
    left, _ = glyphs.extent(start, axis)
    for space in _SPACES.finditer(glyphs.text, span.start, span.end):
        before, after = space.span()
        right, next_left = glyphs.gap(before - 1, after, axis)
        if next_left - right > wide:
            yield _LinePart(start, before, left, right)
            start, left = after, next_left
    yield _LinePart(start, span.end, left, glyphs.extent(span.end - 1, axis)[1])


def _finite(value: float) -> float:
    """Moves positions that are infinite or no number to the page's corner."""
    return value if math.isfinite(value) else 0.0


def _text_of(textpage: PdfTextPage) -> str:
    """Returns all text of the page except for characters at either end that stand for nothing."""
    active = pdfium.FPDFText_GetTextIndexFromCharIndex
    count = textpage.count_chars()
    first = next((index for index in range(count) if active(textpage, index) >= 0), count)
    last = next((index for index in range(count - 1, first - 1, -1) if active(textpage, index) >= 0), first - 1)
    return str(textpage.get_text_range(first, last - first + 1, errors="surrogatepass")) if first <= last else ""


def _units(text: str) -> str:
    """Returns one character for each UTF-16 unit, because positions in a text page are counted so."""
    return "".join(map(chr, memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")))


Row = tuple[Segment, ...]
"""Segments on one baseline, from left to right."""

# As a share of the font size.
_SAME_LINE = 0.35
_MAX_OVERLAP = 0.5
# A row with more pieces than this is no line that anybody reads.
_MAX_PIECES = 200


def rows_of(segments: Iterable[Segment]) -> list[Row]:
    """Groups segments that stand side by side into rows, from the top."""
    rows: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda s: (s.baseline, s.left)):
        if rows and len(rows[-1]) < _MAX_PIECES and _is_beside(segment, rows[-1]):
            rows[-1].append(segment)
        else:
            rows.append([segment])
    return [tuple(sorted(row, key=lambda s: s.left)) for row in rows]


def text_of(row: Iterable[Segment]) -> str:
    """Returns the text of a row, its segments separated by spaces."""
    return " ".join(segment.text for segment in row)


def _is_beside(segment: Segment, row: Sequence[Segment]) -> bool:
    if segment.baseline - row[0].baseline > _SAME_LINE * min(segment.size, row[0].size):
        return False
    overlap = _MAX_OVERLAP * segment.size
    return all(segment.left > other.right - overlap or segment.right < other.left + overlap for other in row)
