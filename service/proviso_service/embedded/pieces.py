"""Cuts passages into pieces: the sentences and list items that can be an answer, or say what is stated."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from proviso_service.reading import sentence_ends

_MAX_CHARS = 900
_MIN_CHARS = 12

_BLOCK_END = re.compile(r"\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*#\u2022]|\(?[a-z\d]{1,4}[.)])[ \t])", re.IGNORECASE)
_LIST_MARK = re.compile(
    r"(?:[-*#>\u2022]+[ \t]+|(?:(?:article|section|clause)[ \t]+)?\d{1,3}(?:\.\d{1,3}){0,4}[.)]?\s+(?=\S)"
    r"|\(?[a-z\d]{1,4}[.)]\s+)(?=\S)",
    re.IGNORECASE,
)
_MAX_MARKS = 3
_NUMBERED_ITEM = re.compile(r";\s+(?=\(?\d{1,2}[.)][ \t]*[A-Z])")
_PART_END = re.compile(r"[;,:]\s+")
_SPACE = re.compile(r"\s+")
_MAX_TITLE_WORDS = 8
_SMALL_WORDS = frozenset(("a", "an", "and", "by", "for", "in", "of", "on", "or", "the", "to", "with"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence or list item: `text` is what stands in the passage from `start` to `end`, in code points, end
    exclusive."""

    start: int
    end: int
    text: str

    @property
    def is_title(self) -> bool:
        """Whether the piece names a subject and states nothing."""
        words = self.text.split()
        return len(words) <= _MAX_TITLE_WORDS and (self.text.isupper() or all(map(_is_title_word, words)))


def pieces_of(text: str) -> list[Piece]:
    """Returns the pieces in order, without overlap, and without the white space and list marks around them. A long
    sentence is cut after a semicolon or a comma."""
    found = (_trimmed(text, *bounds) for bounds in _cut(text))
    return [piece for piece in found if len(piece.text) >= _MIN_CHARS]


def sayings_of(text: str) -> list[str]:
    """Returns what each piece says: an item of a list together with the words that open the list."""
    found: list[str] = []
    opening = ""
    for piece in pieces_of(text):
        if piece.text.endswith(":"):
            opening = piece.text
        elif not piece.is_title:
            found.append(f"{opening} {piece.text}".lstrip())
            opening = "" if piece.text.endswith(".") else opening
    return found


def _cut(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _blocks(text):
        items = (match.end() for match in _NUMBERED_ITEM.finditer(text, start, end))
        stops = sorted({start, *items, *sentence_ends(text, start, end)})
        for begin, stop in pairwise(stops):
            yield from _parts(text, begin, stop)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _BLOCK_END.finditer(text):
        yield start, match.end()
        start = match.end()
    yield start, len(text)


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > _MAX_CHARS:
        stop = _last_break(text, start, start + _MAX_CHARS)
        yield start, stop
        start = stop
    yield start, end


def _last_break(text: str, start: int, limit: int) -> int:
    for pattern in (_PART_END, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, start + _MAX_CHARS // 3, limit)]
        if ends:
            return ends[-1]
    return limit


def _trimmed(text: str, start: int, end: int) -> Piece:
    for _ in range(_MAX_MARKS):
        start = _space_end(text, start, end)
        mark = _LIST_MARK.match(text, start, end)
        if mark is None:
            break
        start = mark.end()
    start = _space_end(text, start, end)
    found = text[start:end].rstrip()
    return Piece(start, start + len(found), found)


def _space_end(text: str, start: int, end: int) -> int:
    space = _SPACE.match(text, start, end)
    return space.end() if space else start


def _is_title_word(word: str) -> bool:
    return not word[0].islower() or word in _SMALL_WORDS
