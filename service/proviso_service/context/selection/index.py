"""Items ready to be searched: their chunks' vectors as one matrix, and their words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proviso_service.context.selection.candidates import Candidate
from proviso_service.context.selection.chunking import chunks
from proviso_service.context.selection.embedding import cosines
from proviso_service.context.selection.words import WordIndex
from proviso_service.models import Scores, Vectors

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Matches:
    """For each item, in order, its similarity to a message, that of its best chunk, and whether this chunk is among the
    best of all. Both of shape (items,)."""

    scores: Scores
    in_top: Flags


def item_chunks(item: Candidate, max_chars: int) -> list[str]:
    """What is embedded of an item: its description and its content in chunks; at least one."""
    return [*chunks(item.description, max_chars), *chunks(item.content, max_chars)] or [item.ref.name]


def item_words(item: Candidate) -> str:
    """What is searched for words of an item."""
    return f"{item.ref.name} {item.description} {item.content}"


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
