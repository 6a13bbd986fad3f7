"""How well the words of a message are those of an item: BM25."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np
import Stemmer
from numpy.typing import NDArray

from proviso_service.models import Scores
from proviso_service.reading import MESSAGE_STOP_WORDS, plain_words

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
