"""Cuts passages into pieces, the sentences and list items that can be an answer, and computes their features: the
numbers from which the logistic model makes scores."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from proviso_service.embedded.classifier.features import NAMES as STATEMENT_NAMES
from proviso_service.embedded.classifier.matching import Floats
from proviso_service.embedded.extractor.questions import AnswerKind, UnderstoodQuestion, values_in
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
_PART_END = re.compile(r"[;,:]\s+")
_SPACE = re.compile(r"\s+")
_MAX_TITLE_WORDS = 8
_SMALL_WORDS = frozenset(("a", "an", "and", "by", "for", "in", "of", "on", "or", "the", "to", "with"))

_OF_PIECE = (
    "bm25",
    "coverage",
    "closeness",
    "pairs",
    "widened bm25",
    "widened coverage",
    "widened closeness",
    "concept",
    "concept by cover",
)
_OF_PASSAGE = (*_OF_PIECE, "title")
_OF_QUESTION = ("no concept", "statement length")
NAMES = (
    *(f"passage: {name}" for name in _OF_PASSAGE),
    *(f"piece: {name}" for name in _OF_PIECE),
    *(f"question: {name}" for name in _OF_QUESTION),
    "has value",
    "has period",
    "has date",
    "has amount",
    "has law",
    "has parties",
    "has title",
    "lacks value",
    "value in opening",
    "value by coverage",
    "value by concept",
    "length",
    "share of coverage",
    "concept of both",
)
_KINDS = (
    (AnswerKind.DURATION, AnswerKind.PERIOD),
    (AnswerKind.DATE,),
    (AnswerKind.SUM, AnswerKind.MONEY, AnswerKind.PERCENTAGE, AnswerKind.NUMBER),
    (AnswerKind.LAW,),
    (AnswerKind.PARTIES,),
    (AnswerKind.TITLE,),
)
# How a contract introduces itself, with its title, date and parties.
_OPENING = re.compile(
    r"\b(?:agreement|contract|lease|deed|amendment|plan)\b.{0,160}?\b(?:made|entered|dated|effective|between|among)\b"
    r"|\bby and (?:between|among)\b|\bwitnesseth\b",
    re.IGNORECASE | re.DOTALL,
)
_USUAL_CHARS = 100
_LEAST_COVERAGE = 0.01


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


def _cut(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _blocks(text):
        stops = [start, *sentence_ends(text, start, end)]
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


def features(question: UnderstoodQuestion, pieces: Sequence[Piece], of_passages: Floats, of_pieces: Floats) -> Floats:
    """Returns the features, of shape (len(pieces), len(NAMES)). `of_passages` and `of_pieces` are the classifier's
    features of each piece's passage and of the piece alone."""
    passage, piece = _columns(of_passages), _columns(of_pieces)
    value = np.array([bool(values_in(one.text, question.answer_kind)) for one in pieces], dtype=np.float64)
    lacks_value = (1 - value) * (question.answer_kind is not AnswerKind.STATEMENT)
    columns = (
        *(passage[name] for name in _OF_PASSAGE),
        *(piece[name] for name in _OF_PIECE),
        *(piece[name] for name in _OF_QUESTION),
        value,
        *(value * (question.answer_kind in kinds) for kinds in _KINDS),
        lacks_value,
        value * np.array([bool(_OPENING.search(one.text)) for one in pieces]),
        value * piece["coverage"],
        value * piece["concept"],
        np.log([len(one.text) / _USUAL_CHARS for one in pieces]),
        np.minimum(1, piece["coverage"] / np.maximum(passage["coverage"], _LEAST_COVERAGE)),
        passage["concept"] * piece["concept"],
    )
    return np.stack(columns, axis=1)


def _columns(rows: Floats) -> dict[str, Floats]:
    return dict(zip(STATEMENT_NAMES, rows.T, strict=True))
