"""Keeps where the words of a PDF stand on its pages: boxes are packed when a page is read, and tied to the canonical
text when that is written."""

import re
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from proviso_service.reading.canonical import readable
from proviso_service.reading.model import PACKED_WORD, WHOLE_PAGE, PageWords

MAX_PAGE_WORDS = 50_000
"""Further words of a page have no box."""
MAX_WORDS = 2_000_000
"""Further words of a document have no box."""
_MAX_WORD_CHARS = 0xFFFF
# Separators of empty cells may stand between two words.
_REACH_CHARS = 200
_SPACES = re.compile(r"[ \t]+")
_ALPHANUMERIC = re.compile(r"[^\W_]")
_BOX = struct.Struct("<4H")


@dataclass(frozen=True, slots=True)
class Run:
    """Words that stand on one line of a page with spaces between them; `boxes` has a packed box for each."""

    page: int
    text: str
    boxes: bytes

    def words(self) -> Iterator[tuple[str, tuple[int, int, int, int]]]:
        return zip(_SPACES.split(self.text), _BOX.iter_unpack(self.boxes), strict=True)


@dataclass(frozen=True, slots=True)
class SetText:
    """A text as it is to be written, and the runs that it was made from, in its order."""

    text: str
    runs: tuple[Run, ...] = ()


class BoxPacker:
    """Packs boxes by their edges on the page as it is shown (left, top, right, bottom), which are shares of its width
    and height. `upright` turns a position on the page into one on the page as it is shown, which has this `size`."""

    def __init__(self, upright: Callable[[float, float], tuple[float, float]], size: tuple[float, float]) -> None:
        (self._x, self._y), (right, down), (up_x, up_y) = upright(0, 0), upright(1, 0), upright(0, 1)
        self._x_of_x, self._y_of_x = right - self._x, down - self._y
        self._x_of_y, self._y_of_y = up_x - self._x, up_y - self._y
        self._width, self._height = (WHOLE_PAGE / length if length > 0 else 0.0 for length in size)

    def packed(self, left: float, bottom: float, right: float, top: float) -> bytes:
        """Packs a box. What lies beyond the page, or is no number, is moved to its edges."""
        x = (self._x + self._x_of_x * left + self._x_of_y * bottom) * self._width
        other_x = (self._x + self._x_of_x * right + self._x_of_y * top) * self._width
        y = (self._y + self._y_of_x * left + self._y_of_y * bottom) * self._height
        other_y = (self._y + self._y_of_x * right + self._y_of_y * top) * self._height
        x, other_x = (x, other_x) if x < other_x else (other_x, x)
        y, other_y = (y, other_y) if y < other_y else (other_y, y)
        edges = (x, y, other_x, other_y)
        try:
            return _BOX.pack(*map(int, edges))
        except (struct.error, ValueError, OverflowError):
            return _BOX.pack(*map(_on_page, edges))


def _on_page(edge: float) -> int:
    # The numbers come first in the comparisons, because NaN is neither less nor more than anything.
    return int(max(0.0, min(WHOLE_PAGE, edge)))


def page_words(
    text: str, runs: Iterable[Run], pages: Iterable[tuple[int, tuple[float, float]]]
) -> tuple[PageWords, ...]:
    """Finds the words of the runs in the canonical text, which was written in their order. `pages` are the number and
    the size of each page."""
    packed: defaultdict[int, bytearray] = defaultdict(bytearray)
    ends: defaultdict[int, int] = defaultdict(int)
    places = _Places(text)
    count = 0
    for run in runs:
        words = packed[run.page]
        for word, box in run.words():
            place = places.next(word)
            if place and len(words) < MAX_PAGE_WORDS * PACKED_WORD.size and count < MAX_WORDS:
                start, end = place
                words += PACKED_WORD.pack(start - ends[run.page], end - start, *box)
                ends[run.page] = end
                count += 1
    return tuple(PageWords(number, *size, bytes(packed[number])) for number, size in pages)


class _Places:
    """Finds one word after the other in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._missed_chars = 0

    def next(self, word: str) -> tuple[int, int] | None:
        """Returns where the word begins and ends; None for a word that is not there, or cannot be seen."""
        word = word if word.isascii() and word.isprintable() else "".join(readable(word).split())
        # A hyphen is left out where the lines of a paragraph are joined.
        core = word.rstrip("-") or word
        if not 0 < len(core) <= _MAX_WORD_CHARS:
            return None
        found = self._find(core)
        if found is None:
            self._missed_chars += 2 * len(core)
            return None
        start, end = found
        while end - start < len(word) and self._text.startswith("-", end):
            end += 1
        self._end, self._missed_chars = end, 0
        return start, end

    def _find(self, core: str) -> tuple[int, int] | None:
        limit = self._end + _REACH_CHARS + self._missed_chars + len(core)
        start = self._text.find(core, self._end, limit)
        if start >= 0 and self._may_skip_to(start):
            return start, start + len(core)
        # A space may have been put between a clause's number and its text.
        spaced = re.compile(r"\s*".join(map(re.escape, core))).search(self._text, self._end, limit)
        return spaced.span() if spaced and self._may_skip_to(spaced.start()) else None

    def _may_skip_to(self, start: int) -> bool:
        """Tells whether nothing but separators, or words that were not found, lies before the position."""
        return self._missed_chars > 0 or start - self._end < 2 or not _ALPHANUMERIC.search(self._text, self._end, start)
