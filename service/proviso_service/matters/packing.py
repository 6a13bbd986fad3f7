"""Packs what a search needs of a document into one row: the vectors of its passages, and their words as postings.

Texts are cut into terms here, while a document is ingested, and never during a search. The packed form can be made anew
from the passages at any time: a change of the terms needs a migration that does so."""

import struct
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, count
from typing import Self

import numpy as np
from numpy.typing import NDArray

from proviso_service.matters.wording import searchable
from proviso_service.models import Vectors
from proviso_service.reading import Chunk, SearchTerms, levels_of

_HEADER = struct.Struct("<3I")
_MAX_FREQUENCY = 65_535
# A term of a text begins with a letter or a digit, so these are the terms of clauses alone.
_CLAUSE = "="
_BELOW = "<"


@dataclass(frozen=True, slots=True)
class PackedWords:
    """The words of one document, by term. `lengths` are the numbers of terms of its passages. The passages that hold
    the first term are the first `counts[0]` of `ordinals`, in order, and so on; `frequencies` say how often."""

    lengths: NDArray[np.uint32]
    terms: Sequence[str]
    counts: NDArray[np.uint32]
    ordinals: NDArray[np.uint32]
    frequencies: NDArray[np.uint16]

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> Self:
        """Finds the terms of all passages. Slow for a long document: run it in a thread."""
        terms, clause_terms = SearchTerms(), cache(_clause_terms)
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        lengths: list[int] = []
        sizes: list[int] = []
        found: list[int] = []
        frequencies: list[int] = []
        for chunk in chunks:
            counts = terms.counts(searchable(chunk.text))
            lengths.append(sum(counts.values()))
            counts |= dict.fromkeys(chain.from_iterable(map(clause_terms, chunk.clause_numbers)), 1)
            sizes.append(len(counts))
            found += map(numbers.__getitem__, counts)
            frequencies += counts.values()
        by_term = np.argsort(np.array(found, dtype=np.intp), kind="stable")
        return cls(
            np.array(lengths, dtype="<u4"),
            tuple(numbers),
            np.bincount(found, minlength=len(numbers)).astype("<u4"),
            np.repeat(np.arange(len(sizes), dtype="<u4"), sizes)[by_term],
            np.minimum(frequencies, _MAX_FREQUENCY).astype("<u2")[by_term],
        )

    def packed(self) -> bytes:
        """Returns all of it as bytes, in an order that does not depend on the machine."""
        header = _HEADER.pack(len(self.lengths), len(self.counts), len(self.ordinals))
        arrays = (self.lengths, self.counts, self.ordinals, self.frequencies)
        return header + b"".join(array.tobytes() for array in arrays) + "\n".join(self.terms).encode()

    @classmethod
    def unpacked(cls, packed: bytes) -> Self:
        """The inverse of `packed`."""
        chunk_count, term_count, posting_count = _HEADER.unpack_from(packed)
        place = _HEADER.size
        arrays = []
        for kind, size in (("<u4", chunk_count), ("<u4", term_count), ("<u4", posting_count), ("<u2", posting_count)):
            arrays.append(np.frombuffer(packed, kind, size, place))
            place += arrays[-1].nbytes
        lengths, counts, ordinals, frequencies = arrays
        terms = packed[place:].decode().split("\n") if term_count else ()
        return cls(lengths, terms, counts, ordinals, frequencies)


@dataclass(frozen=True, slots=True)
class PackedDocument:
    """A READY document as a search sees it: `words` are PackedWords.packed(), and `vectors` have one row for each
    passage, or none where another model made them."""

    document_id: str
    filename: str
    chunk_count: int
    words: bytes
    vectors: Vectors

    @property
    def is_whole(self) -> bool:
        """Whether the passages have their vectors."""
        return len(self.vectors) == self.chunk_count


def clause_term(levels: Sequence[str]) -> str:
    """The term of the passages of a clause, the same for upper and lower case."""
    return _CLAUSE + _path(levels)


def below_term(levels: Sequence[str]) -> str:
    """The term of the passages of a clause and of those below it."""
    return _BELOW + _path(levels)


def _clause_terms(number: str) -> Sequence[str]:
    levels = levels_of(number)
    return [clause_term(levels), *(below_term(levels[:depth]) for depth in range(1, len(levels) + 1))]


def _path(levels: Sequence[str]) -> str:
    return "/".join(levels).lower()
