"""An index of items: the vectors of their chunks as one matrix, and their words with BM25 weights."""

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
from proviso_service.context.selection.glossary import Glossary
from proviso_service.models import Scores, Vectors
from proviso_service.reading import MESSAGE_STOP_WORDS, plain_words


def agent_candidates(items: Iterable[CatalogItem], session_items: Iterable[SessionItem]) -> list[CatalogItem]:
    """The enabled items of mode agent that are not in the session, in order."""
    in_session = {item.ref for item in session_items}
    return [
        item for item in items if item.include_mode is IncludeMode.AGENT and item.enabled and item.ref not in in_session
    ]


# No two repetitions side by side take the same characters, so that no text makes cutting slow.
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n\s*")
_SPACE = re.compile(r"\s+")


def chunks(text: str, max_chars: int) -> list[str]:
    """The text in pieces of at most `max_chars` code points that an embedding model reads whole.

    No piece is empty, white space is single spaces, and all words are there in their order. A piece ends at the end of
    a paragraph at the latest. A sentence is cut only when it is too long itself, between words where possible."""
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
"""For each stem: the items that have it, and what the stem adds to the BM25 score of each."""

_MESSAGE_CHARS = 8_000
"""Only this many characters of a message are searched for words. The rest of a pasted document would add time and
little else."""

_MESSAGE_WORDS = 64
_SATURATION = 1.2
_LENGTH_SHARE = 0.75
_FEWEST_ITEMS = 100
"""A word is taken to be as rare as in a catalog of so many items. In a catalog of ten, one that a single item has would
else count as common."""

_FEW = 3
"""A word that so many items have may tell them apart, however few items there are."""

_HALF = 6.0
"""The BM25 score that counts as one half. It is about what one rare word that message and item share is worth, or two
common ones."""


class WordIndex:
    """The words of items, by their English stems."""

    def __init__(self, stemmer: Stemmer.Stemmer, items: int, weights: Weights) -> None:
        self._stemmer = stemmer
        self._items = items
        self._weights = weights

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """The index of items that have these texts, one text for each item."""
        stemmer = Stemmer.Stemmer("english")
        counts = [Counter(stemmer.stemWords(_words(text))) for text in texts]
        return cls(stemmer, len(counts), _weights(counts))

    def has(self, word: str) -> bool:
        """Whether an item has the word in any form."""
        return self._stemmer.stemWord(word) in self._weights

    def tell_apart(self, message: str) -> bool:
        """Whether the message has a word that tells the items apart: one that some have, and most have not."""
        common = max(_FEW, self._items // 2)
        found = (self._weights.get(stem) for stem in self._stems(message))
        return any(weights is not None and len(weights[0]) <= common for weights in found)

    def scores(self, message: str) -> Scores:
        """How well each item's words are those of the message: shape (items,), each in [0, 1), and 0 for an item that
        has none of them."""
        total = np.zeros(self._items, dtype=np.float32)
        for stem in self._stems(message):
            if stem in self._weights:
                items, weights = self._weights[stem]
                total[items] += weights
        scores: Scores = total / (total + np.float32(_HALF))
        return scores

    def _stems(self, message: str) -> Iterable[str]:
        """The stems of the message's words, each once."""
        words = dict.fromkeys(_words(message[:_MESSAGE_CHARS]))
        return dict.fromkeys(self._stemmer.stemWords(list(words)[:_MESSAGE_WORDS]))


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
            np.array([share * _rarity(max(len(counts), _FEWEST_ITEMS), len(found)) for _, share in found], np.float32),
        )
        for stem, found in held.items()
    }


def _rarity(items: int, with_word: int) -> float:
    return math.log(1 + (items - with_word + 0.5) / (with_word + 0.5))


Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Matches:
    """How close items are to a message, one entry for each item in order. `scores` are those of each item's best chunk;
    `in_top` says whether that chunk is among the best chunks of all items. Both have the shape (items,)."""

    scores: Scores
    in_top: Flags


def item_chunks(item: CatalogItem, max_chars: int) -> list[str]:
    """The texts that are embedded for an item: its description, its keywords and its content in chunks. There is at
    least one."""
    texts = (item.description, ", ".join(item.keywords), item.content)
    return [chunk for text in texts for chunk in chunks(text, max_chars)] or [item.ref.name]


def item_words(item: CatalogItem) -> str:
    """The text of an item that is searched for words."""
    return " ".join((item.ref.name, item.description, *item.keywords, item.content))


def cosines(vectors: Vectors, vector: Vectors) -> Scores:
    """The cosine of each row with the vector, shape (rows,), with 0 in place of negative ones: the opposite of a text
    is no further away than any other text.

    This is not written as `vectors @ vector`. BLAS would share even this little work among threads, and on busy
    processors waiting for them takes twenty times as long as the work."""
    found: Scores = np.clip(np.einsum("ij,j->i", vectors, vector), 0.0, 1.0)
    return found


@dataclass(frozen=True, slots=True)
class ItemIndex:
    """Items that are ready to be searched.

    `vectors` has a row for each chunk, shape (chunks, dimensions), and the chunks of an item are side by side. `owners`
    is the item of each row, and `starts` the first row of each item."""

    vectors: Vectors
    owners: NDArray[np.intp]
    starts: NDArray[np.intp]
    words: WordIndex
    glossary: Glossary

    @classmethod
    def of(cls, chunk_counts: Sequence[int], vectors: Vectors, words: WordIndex, glossary: Glossary) -> "ItemIndex":
        """The index of items that have so many chunks each, at least one."""
        counts = np.array(chunk_counts, dtype=np.intp)
        return cls(vectors, np.repeat(np.arange(len(counts)), counts), np.cumsum(counts) - counts, words, glossary)

    def matches(self, words: str, vectors: Sequence[Vectors], wanted: Flags, word_weight: float, top_k: int) -> Matches:
        """The matches of the items that are `wanted`, as if there were no others. `words` are those of the message, and
        `vectors` those of the texts that say it, of which the closest one counts; without any, words alone count.

        The score of a chunk is in [0, 1]. The share `word_weight` of it says how well the item's words are those of the
        message, and the rest is the cosine of the chunk's vector with the message's."""
        scores = word_weight * self.words.scores(words)[self.owners]
        if vectors:
            meaning = np.maximum.reduce([cosines(self.vectors, vector) for vector in vectors])
            scores += (1 - word_weight) * meaning
        best: Scores = np.maximum.reduceat(scores, self.starts)[wanted]
        return Matches(best, best >= _nth_best(scores[wanted[self.owners]], top_k))


def _nth_best(scores: Scores, place: int) -> float:
    """The score at that position, counted from 1, or the lowest where there are fewer scores."""
    if len(scores) <= place:
        return float(scores.min(initial=1.0))
    return float(np.partition(scores, -place)[-place])
