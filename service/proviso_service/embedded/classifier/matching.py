"""Finds the words of a statement in passages, and measures how well they match."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded.classifier.words import STOP, Phrase, Stemmer, Words

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LOW_BITS = 20
_SATURATION, _LENGTH_SHARE, _MEAN_LENGTH = 1.2, 0.75, 110.0
_WINDOW_WORDS = 30
_WINDOW_HITS = 14
_MAX_WINDOW_TERMS = 60
_EMPTY_IN_TITLES = " ".join(
    (
        "the a an of to on for by this clause provision section article agreement contract lease statement work",
        *map(str, range(1, 100)),
    )
)


@dataclass(frozen=True, slots=True)
class WordPositions:
    """Where some words are found in texts, in order. `position` is the place among the tokens of the texts, and `word`
    the place among the words, which `words` gives by number."""

    position: Ints
    word: Ints
    words: Mapping[int, int]

    def positions_of(self, numbers: Sequence[int]) -> Ints:
        found = [self.position[self.word == self.words[number]] for number in numbers if number in self.words]
        return np.sort(np.concatenate([*found, np.empty(0, np.int64)]))


def find(tokens: NDArray[np.uint32], words: Sequence[int]) -> WordPositions:
    """Finds words among tokens. A table of the words' low bits gives candidates in one pass, and the whole numbers
    decide."""
    numbers = np.array(sorted(set(words)), dtype=np.uint32)
    mask = (1 << _LOW_BITS) - 1
    table = np.zeros(1 << _LOW_BITS, dtype=bool)
    table[numbers & mask] = True
    candidates = np.flatnonzero(table[tokens & mask])
    if not len(numbers) or not len(candidates):
        return WordPositions(np.empty(0, np.int64), np.empty(0, np.int64), {})
    found = tokens[candidates]
    index = np.minimum(np.searchsorted(numbers, found), len(numbers) - 1)
    same = numbers[index] == found
    return WordPositions(candidates[same], index[same], {int(number): place for place, number in enumerate(numbers)})


def phrase_holders(texts: Words, hits: WordPositions, phrase: Phrase) -> Ints:
    """Returns the indices of the texts that hold the phrase, each once."""
    ends = hits.positions_of(phrase.parts[0].words)
    for part in phrase.parts[1:]:
        following = hits.positions_of(part.words)
        if not len(ends) or not len(following):
            return np.empty(0, np.int64)
        place = np.searchsorted(following, ends + 1)
        in_reach = place < len(following)
        ends, reached = ends[in_reach], following[place[in_reach]]
        near = (
            (reached - ends <= part.gap + 1)
            & (texts.owner[reached] == texts.owner[ends])
            & (texts.stops[reached] == texts.stops[ends])
        )
        ends = np.unique(reached[near])
    return np.unique(texts.owner[ends])


@dataclass(frozen=True, slots=True)
class WeightedWords:
    """Words by number with their weights."""

    weights: Mapping[int, float]

    @property
    def mass(self) -> float:
        """The sum of all weights, or 1 where there are none."""
        return sum(self.weights.values()) or 1.0


class WordMatch:
    """Counts how often each of the weighted words is in each text."""

    def __init__(self, texts: Words, hits: WordPositions, query: WeightedWords) -> None:
        self._texts = texts
        self._numbers = [number for number in query.weights if number in hits.words]
        self._mass = query.mass
        self._weights = np.array([query.weights[number] for number in self._numbers])
        column = np.full(len(hits.words) + 1, -1)
        for place, number in enumerate(self._numbers):
            column[hits.words[number]] = place
        kept = column[hits.word] >= 0
        self._position, self._column = hits.position[kept], column[hits.word[kept]]
        self._owner = texts.owner[self._position]
        width = len(self._numbers)
        counts = np.bincount(self._owner * width + self._column, minlength=texts.count * width)
        self._counts = counts.reshape(texts.count, width)

    def bm25(self) -> Floats:
        """Returns Okapi BM25 of each text as a share of the largest value that these words can have."""
        length = 1 - _LENGTH_SHARE + _LENGTH_SHARE * self._texts.lengths[:, None] / _MEAN_LENGTH
        saturated = self._counts * (_SATURATION + 1) / (self._counts + _SATURATION * length)
        return _row_sums(saturated * self._weights) / (self._mass * (_SATURATION + 1))

    def coverage(self) -> Floats:
        """Returns the share of the words' weight that each text holds."""
        return _row_sums((self._counts > 0) * self._weights) / self._mass

    def density(self) -> Floats:
        """Returns the share of each text's words that belong to the query. A text of one word counts as one of two
        words."""
        found: Floats = self._counts.sum(axis=1) / np.maximum(self._texts.lengths, 2)
        return found

    def closeness(self) -> Floats:
        """Returns the largest share of the words' weight that is found within thirty words of each text."""
        best = np.zeros(self._texts.count)
        width = len(self._numbers)
        if not len(self._position) or width > _MAX_WINDOW_TERMS:
            return best
        own = np.left_shift(np.uint64(1), self._column.astype(np.uint64))
        seen = own.copy()
        for step in range(1, _WINDOW_HITS):
            near = (self._position[step:] - self._position[:-step] < _WINDOW_WORDS) & (
                self._owner[step:] == self._owner[:-step]
            )
            if not near.any():
                break
            seen[:-step] |= np.where(near, own[step:], np.uint64(0))
        sets, which = np.unique(seen, return_inverse=True)
        members = (sets[:, None] >> np.arange(width, dtype=np.uint64)) & np.uint64(1)
        np.maximum.at(best, self._owner, _row_sums(members * self._weights)[which])
        return best / self._mass

    def pairs(self, pairs: Sequence[tuple[int, int]]) -> Floats:
        """Returns the largest share of the words' weight that two words have which follow one another as in one of
        `pairs`."""
        best = np.zeros(self._texts.count)
        place = {number: index for index, number in enumerate(self._numbers)}
        wanted = np.zeros((len(place) + 1, len(place) + 1), dtype=bool)
        for first, second in pairs:
            if first in place and second in place and first != second:
                wanted[place[first], place[second]] = True
        if not wanted.any():
            return best
        before, after = self._column[:-1], self._column[1:]
        adjacent = (
            (self._position[1:] - self._position[:-1] <= 2)
            & (self._owner[1:] == self._owner[:-1])
            & wanted[before, after]
        )
        weight = (self._weights[before] + self._weights[after])[adjacent]
        np.maximum.at(best, self._owner[1:][adjacent], weight)
        return best / self._mass


def _row_sums(values: Floats) -> Floats:
    """Adds up rows, column by column, so that the sum of a row is the same whatever other rows there are."""
    total = np.zeros(len(values))
    for column in range(values.shape[1]):
        total += values[:, column]
    return total


class TitledPassages:
    """Tells which passages stand below a title that is the name of a kind of clause, or one of several names in it:
    "Term and Termination" is a title of termination clauses, "Restrictions after Termination" is none."""

    def __init__(self, stemmer: Stemmer) -> None:
        self._stemmer = stemmer
        self._between = frozenset((STOP, *stemmer.words("and or")))
        self._empty = frozenset(stemmer.words(_EMPTY_IN_TITLES))

    def find(self, kind: str, titles: Words) -> NDArray[np.bool_]:
        """Returns of each passage whether its title names the kind."""
        found = np.zeros(titles.count, dtype=np.bool_)
        wanted = frozenset(self._stemmer.words(kind)) - self._empty
        if not wanted:
            return found
        ends = np.cumsum(titles.lengths)
        for owner in np.unique(titles.owner[np.isin(titles.tokens, list(wanted))]).tolist():
            found[owner] = wanted in self._parts(
                titles.tokens[ends[owner] - titles.lengths[owner] : ends[owner]].tolist()
            )
        return found

    def _parts(self, title: Sequence[int]) -> list[set[int]]:
        parts: list[set[int]] = [set()]
        for word in title:
            if word in self._between:
                parts.append(set())
            elif word not in self._empty:
                parts[-1].add(word)
        return parts
