"""Reads the text of a PDF page as segments with positions, turned upright."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import byref, c_double, c_int, create_string_buffer
from dataclasses import dataclass
from operator import itemgetter

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from proviso_service.reading.pdf_words import BoxPacker, Run, SetText

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
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page holds: its segments in the order of drawing, and in `stamps` text that is set across the direction of
    reading, such as a stamp in a margin or a watermark. `quarter_turns` says how far the direction of reading is turned
    from the page's own axes; `shown` is the width and height of the page as it is shown."""

    number: int
    width: float
    height: float
    segments: tuple[Segment, ...]
    stamps: tuple[SetText, ...]
    quarter_turns: int
    shown: tuple[float, float]


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
        turns = page.get_rotation() // 90
        shown = frame_of(page, turns)
        frame = frame_of(page, _reading_direction(spans, turns))
        lines = _LineReader(glyphs, frame, shown, number)
        segments: list[Segment] = []
        stamps: list[SetText] = []
        for span in spans:
            if span.quarter_turns == frame.quarter_turns:
                segments += lines.segments(span, len(segments))
            else:
                stamps.append(lines.stamp(span))
        return PageText(number, *frame.size, tuple(segments), tuple(stamps), frame.quarter_turns, shown.size)
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


_Box = tuple[float, float, float, float]
"""The edges of a character's box on the page: left, bottom, right and top."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """The direction of reading: which edges of a character's box come first and last, and where the page begins."""

    first_edge: Callable[[_Box], float]
    last_edge: Callable[[_Box], float]
    sign: int
    origin: float

    def start(self, box: _Box) -> float:
        """Returns where a character begins, in the direction of reading."""
        return _finite(self.sign * self.first_edge(box) - self.origin)

    def end(self, box: _Box) -> float:
        """Returns where the character after it should begin."""
        return _finite(self.sign * self.last_edge(box) - self.origin)


def _axis(frame: Frame) -> _Axis:
    left, bottom, right, top = map(itemgetter, range(4))
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

    def box(self, position: int) -> _Box:
        """Returns the box of a character, which is as high as its font and reaches to where the next character should
        begin."""
        box, index = self._box, self._index(position) if self._is_mapped else position
        pdfium.FPDFText_GetLooseCharBox(self._raw, index, self._box_ref)
        return box.left, box.bottom, box.right, box.top

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


@dataclass(frozen=True, slots=True)
class _LinePart:
    """A part of a line without a wide gap in it, from `left` to `right`; `boxes` are those of its words."""

    start: int
    end: int
    left: float
    right: float
    boxes: bytes


class _LineReader:
    """Makes segments of the lines of a page: `frame` is the page as it is read, `shown` the page as it is shown."""

    def __init__(self, glyphs: _Glyphs, frame: Frame, shown: Frame, page: int) -> None:
        self._glyphs = glyphs
        self._frame = frame
        self._axis = _axis(frame)
        self._boxes = BoxPacker(shown.upright, shown.size)
        self._page = page

    def segments(self, line: _GlyphLine, order: int) -> Iterator[Segment]:
        """Yields the segments of a line in the direction of reading; `order` is that of the first."""
        glyphs = self._glyphs
        _, baseline = self._frame.upright(*glyphs.origin(line.start))
        starts_bold, fixed_pitch = glyphs.font(line.start)
        wide = line.size * (_WIDE_GAP_TYPEWRITTEN if fixed_pitch else _WIDE_GAP)
        for part in self._parts(line, wide):
            text = glyphs.words(part.start, part.end) + ("-" if line.hyphenated and part.end == line.end else "")
            bold = starts_bold if part.start == line.start else glyphs.font(part.start)[0]
            bold = bold and glyphs.font(part.end - 1)[0]
            run = Run(self._page, text, part.boxes)
            yield Segment(text, part.left, part.right, baseline, line.size, bold, order, (run,))
            order += 1

    def stamp(self, line: _GlyphLine) -> SetText:
        """Returns a line that is set across the direction of reading."""
        text = self._glyphs.words(line.start, line.end)
        (whole,) = self._parts(line, math.inf)
        return SetText(text, (Run(self._page, text, whole.boxes),))

    def _parts(self, line: _GlyphLine, wide: float) -> Iterator[_LinePart]:
        """Divides the line at its wide gaps."""
        glyphs, axis = self._glyphs, self._axis
        start, first = line.start, glyphs.box(line.start)
        left, boxes = axis.start(first), bytearray()
        for space in _SPACES.finditer(glyphs.text, line.start, line.end):
            before, after = space.span()
            last, following = glyphs.box(before - 1), glyphs.box(after)
            boxes += self._around(first, last)
            right, next_left = axis.end(last), axis.start(following)
            if next_left - right > wide:
                yield _LinePart(start, before, left, right, bytes(boxes))
                start, left, boxes = after, next_left, bytearray()
            first = following
        last = glyphs.box(line.end - 1)
        yield _LinePart(start, line.end, left, axis.end(last), bytes(boxes + self._around(first, last)))

    def _around(self, first: _Box, last: _Box) -> bytes:
        """Returns the packed box around a word, given those of its first and its last character."""
        return self._boxes.packed(
            min(last[0], first[0]),
            min(last[1], first[1]),
            max(last[2], first[2]),
            max(last[3], first[3]),
        )


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


def runs_of(row: Iterable[Segment]) -> tuple[Run, ...]:
    """Returns the runs of a row, in the order of its text."""
    return tuple(run for segment in row for run in segment.runs)


def _is_beside(segment: Segment, row: Sequence[Segment]) -> bool:
    if segment.baseline - row[0].baseline > _SAME_LINE * min(segment.size, row[0].size):
        return False
    overlap = _MAX_OVERLAP * segment.size
    return all(segment.left > other.right - overlap or segment.right < other.left + overlap for other in row)
