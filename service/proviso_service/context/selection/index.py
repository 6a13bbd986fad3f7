"""Items ready to be searched: their chunks' vectors as one matrix, and their words."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import Stemmer
from numpy.typing import NDArray

from proviso_service.context.catalog.items import CatalogItem
from proviso_service.context.model import IncludeMode, SessionItem
from proviso_service.models import Scores, Vectors
from proviso_service.reading import MESSAGE_STOP_WORDS, plain_words


def agent_candidates(items: Iterable[CatalogItem], session_items: Iterable[SessionItem]) -> list[CatalogItem]:
    """Enabled items of mode agent that are not in the session, in order (the design's getAgentModeItems)."""
    in_session = {item.ref for item in session_items}
    return [
        item for item in items if item.include_mode is IncludeMode.AGENT and item.enabled and item.ref not in in_session
    ]


# No two repetitions side by side take the same characters, so that no text makes cutting slow.
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n\s*")
_SPACE = re.compile(r"\s+")


def chunks(text: str, max_chars: int) -> list[str]:
    """Pieces of at most `max_chars` code points with single spaces, none of them empty, which hold all words in order.
    A piece never goes over a paragraph's end; a sentence is cut, between words where it can be, only if it is too long
    itself."""
    found: list[str] = []
    for paragraph in _PARAGRAPH_END.split(text):
        found += _joined(_sentences(paragraph, max_chars), max_chars)
    return found


def _sentences(paragraph: str, max_chars: int) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(paragraph):
        yield from _cut(_SPACE.sub(" ", sentence).strip(), max_chars)


def _cut(sentence: str, max_chars: int) -> Iterator[str]:
    start = 0
    while len(sentence) - start > max_chars:
        space = sentence.rfind(" ", start + 1, start + max_chars + 1)
        end = space if space > start else start + max_chars
        yield sentence[start:end]
        start = end + (end == space)
    if start < len(sentence):
        yield sentence[start:]


def _joined(sentences: Iterator[str], max_chars: int) -> Iterator[str]:
    piece = ""
    for sentence in sentences:
        if piece and len(piece) + 1 + len(sentence) > max_chars:
            yield piece
            piece = sentence
        else:
            piece = f"{piece} {sentence}" if piece else sentence
    if piece:
        yield piece


Weights = dict[str, tuple[NDArray[np.intp], NDArray[np.float32]]]
"""For each stem the items that have it, and what it adds to the BM25 of each."""

_MESSAGE_CHARS = 8_000
"""What counts of a message; the rest of a pasted document adds time and little else."""

_MESSAGE_WORDS = 64
_SATURATION = 1.2
_LENGTH_SHARE = 0.75
_HALF = 6.0
"""BM25 at which an item's score is one half: about what one rare word that both share is worth, or two common ones."""


class WordIndex:
    """The words of items by their English stems."""

    def __init__(self, stemmer: Stemmer.Stemmer, items: int, weights: Weights) -> None:
        self._stemmer = stemmer
        self._items = items
        self._weights = weights

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Of one text for each item."""
        stemmer = Stemmer.Stemmer("english")
        counts = [Counter(stemmer.stemWords(_words(text))) for text in texts]
        return cls(stemmer, len(counts), _weights(counts))

    def scores(self, message: str) -> Scores:
        """Shape (items,), in [0, 1): 0 for an item that has none of the message's words."""
        words = dict.fromkeys(_words(message[:_MESSAGE_CHARS]))
        total = np.zeros(self._items, dtype=np.float32)
        for stem in dict.fromkeys(self._stemmer.stemWords(list(words)[:_MESSAGE_WORDS])):
            if stem in self._weights:
                items, weights = self._weights[stem]
                total[items] += weights
        scores: Scores = total / (total + np.float32(_HALF))
        return scores


def _words(text: str) -> list[str]:
    return [word for word in plain_words(text) if word not in MESSAGE_STOP_WORDS]


def _weights(counts: Sequence[Counter[str]]) -> Weights:
    lengths = [sum(count.values()) for count in counts]
    mean = max(1.0, sum(lengths) / max(1, len(lengths)))
    held: dict[str, list[tuple[int, float]]] = {}
    for item, (count, length) in enumerate(zip(counts, lengths, strict=True)):
        norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / mean)
        for stem, times in count.items():
            held.setdefault(stem, []).append((item, times * (_SATURATION + 1) / (times + norm)))
    return {
        stem: (
            np.array([item for item, _ in found], dtype=np.intp),
            np.array([share * _rarity(len(counts), len(found)) for _, share in found], dtype=np.float32),
        )
        for stem, found in held.items()
    }


def _rarity(items: int, with_word: int) -> float:
    return math.log(1 + (items - with_word + 0.5) / (with_word + 0.5))


Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Matches:
    """For each item, in order, its similarity to a message, that of its best chunk, and whether this chunk is among the
    best of all. Both of shape (items,)."""

    scores: Scores
    in_top: Flags


def item_chunks(item: CatalogItem, max_chars: int) -> list[str]:
    """What is embedded of an item: its description and its content in chunks; at least one."""
    return [*chunks(item.description, max_chars), *chunks(item.content, max_chars)] or [item.ref.name]


def item_words(item: CatalogItem) -> str:
    """What is searched for words of an item."""
    return f"{item.ref.name} {item.description} {item.content}"


def cosines(vectors: Vectors, vector: Vectors) -> Scores:
    """Of each row with the vector, shape (rows,), from 0: the opposite of a text is as far from it as any other.

    Not `vectors @ vector`: BLAS shares even this little among threads, and where the processors are busy waiting for
    them takes twenty times as long as the work."""
    found: Scores = np.clip(np.einsum("ij,j->i", vectors, vector), 0.0, 1.0)
    return found


@dataclass(frozen=True, slots=True)
class ItemIndex:
    """`vectors` has a row for each chunk, of shape (chunks, dimensions), the chunks of an item side by side; `owners`
    the item of each row, `starts` the first row of each item."""

    vectors: Vectors
    owners: NDArray[np.intp]
    starts: NDArray[np.intp]
    words: WordIndex

    @classmethod
    def of(cls, chunk_counts: Sequence[int], vectors: Vectors, words: WordIndex) -> "ItemIndex":
        """Every item has at least one chunk."""
        counts = np.array(chunk_counts, dtype=np.intp)
        return cls(vectors, np.repeat(np.arange(len(counts)), counts), np.cumsum(counts) - counts, words)

    def matches(self, message: str, vector: Vectors, wanted: Flags, word_weight: float, top_k: int) -> Matches:
        """Of the items that are wanted, as if there were no others; `vector` is the message's. A chunk's score, in
        [0, 1], is the cosine of its vector, mixed with how well its item's words are the message's: `word_weight` of
        the words, the rest of the cosine."""
        meaning = cosines(self.vectors, vector)
        scores = (1 - word_weight) * meaning + word_weight * self.words.scores(message)[self.owners]
        best: Scores = np.maximum.reduceat(scores, self.starts)[wanted]
        return Matches(best, best >= _nth_best(scores[wanted[self.owners]], top_k))


def _nth_best(scores: Scores, place: int) -> float:
    """The score at that place, from 1, or the lowest where there are fewer."""
    if len(scores) <= place:
        return float(scores.min(initial=1.0))
    return float(np.partition(scores, -place)[-place])
