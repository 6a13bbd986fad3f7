"""Phrases of legal drafting, as a line of words.

"shall|must not exceed .. amount": words follow one another within a sentence, `|` separates alternatives, `..` stands
for up to eight other words and `...` for up to twenty. Words are compared by their stems.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from proviso_service.embedded.classifier.words import Stemmer

_GAPS = {"..": 8, "...": 20}


@dataclass(frozen=True, slots=True)
class PhrasePart:
    """One of `words` after at most `gap` other words."""

    words: tuple[int, ...]
    gap: int


@dataclass(frozen=True, slots=True)
class Phrase:
    parts: tuple[PhrasePart, ...]

    @property
    def words(self) -> Iterator[int]:
        for part in self.parts:
            yield from part.words


def parse_phrase(line: str, stemmer: Stemmer) -> Phrase:
    parts, gap = [], 0
    for item in line.split():
        if item in _GAPS:
            gap = _GAPS[item]
            continue
        words = tuple(number for word in item.split("|") for number in stemmer.words(word))
        parts.append(PhrasePart(words, gap))
        gap = 0
    return Phrase(tuple(parts))
