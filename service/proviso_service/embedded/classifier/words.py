"""Words as the classifier compares them: numbers that stand for stems."""

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from Stemmer import Stemmer as PorterStemmer

from proviso_service.reading.canonical import readable

Tokens = NDArray[np.uint32]
"""Stems of a text in order, and STOP where a sentence ends."""

STOP = 0
_WORD_OR_STOP = re.compile(r"[^\W_]+|[.;](?=\s|$)")
_MAX_KNOWN = 200_000
_MIN_STEMMED_CHARS = 3


class Stemmer:
    """Words to numbers; remembers words, of which texts have few. For one thread."""

    def __init__(self) -> None:
        self._stemmer = PorterStemmer("porter")
        self._known: dict[str, int] = {}

    def tokens(self, text: str) -> Tokens:
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
        known = self._known
        words = _WORD_OR_STOP.findall(readable(text).lower())
        for word in set(words).difference(known):
            known[word] = self.number(word)
        return np.array(list(map(known.__getitem__, words)), dtype=np.uint32)

    def words(self, text: str) -> list[int]:
        """Without the ends of sentences."""
        return [token for token in self.tokens(text).tolist() if token != STOP]

    def number(self, word: str) -> int:
        if word in ".;":
            return STOP
        stem = self._stemmer.stemWord(word) if len(word) >= _MIN_STEMMED_CHARS else word
        return zlib.crc32(stem.encode()) or 1


def distinct(words: Sequence[int]) -> list[int]:
    """In order of first appearance."""
    return list(dict.fromkeys(words))
