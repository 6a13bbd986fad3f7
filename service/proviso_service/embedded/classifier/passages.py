"""Passages in the form that statements are compared with, and their memory."""

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proviso_service.embedded.classifier.words import STOP, Stemmer, Tokens
from proviso_service.models import Passage

_MAX_KEPT_BYTES = 128_000_000
"""What some 150,000 passages take."""
_BYTES_PER_PASSAGE = 500
"""Besides its tokens."""

_NUMBER = r"(?:\d+(?:\.\d+)*\.?|\([a-z\d]{1,4}\)|[A-Za-z][.)])"
_RUN_IN_TITLE = re.compile(
    rf"\s*(?:(?:article|section|clause)\s+)?{_NUMBER}?\s*"
    r"((?:[A-Z][\w'&/\u2019-]*)(?:[ ,]+(?:[A-Z][\w'&/\u2019-]*|of|and|or|the|to|for|in|on|by|with|a|an|without)){0,9})"
    r"\s*[.:\u2014\u2013-]\s",
)


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """`title` has the words of the headings right above and of a title that the text opens with."""

    text: Tokens
    title: Tokens

    @property
    def size(self) -> int:
        """In bytes."""
        return _BYTES_PER_PASSAGE + self.text.nbytes + self.title.nbytes


def read_passage(passage: Passage, stemmer: Stemmer) -> ReadPassage:
    titles = " . ".join(titles_of(passage))
    return ReadPassage(stemmer.tokens(passage.text), stemmer.tokens(titles))


class PassageReader:
    """Reads passages once. For one thread; bounded."""

    def __init__(self, stemmer: Stemmer) -> None:
        self._stemmer = stemmer
        self._kept: OrderedDict[str, ReadPassage] = OrderedDict()
        self._kept_bytes = 0

    def read(self, passage: Passage) -> ReadPassage:
        key = passage.sha256
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
            return known
        read = read_passage(passage, self._stemmer)
        self._kept[key] = read
        self._kept_bytes += read.size
        while self._kept_bytes > _MAX_KEPT_BYTES:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= dropped.size
        return read


def titles_of(passage: Passage) -> list[str]:
    """The nearest heading, and what reads like a title at the beginning of the text."""
    titles = list(passage.section_path[-1:])
    run_in = _RUN_IN_TITLE.match(passage.text[:160])
    if run_in:
        titles.append(run_in[1])
    return titles


@dataclass(frozen=True, slots=True)
class Words:
    """The words of many texts end to end: `owner` is the text of each, `stops` counts the ends of sentences so far,
    `lengths` is by text."""

    tokens: Tokens
    owner: NDArray[np.int64]
    stops: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @property
    def count(self) -> int:
        return len(self.lengths)

    @classmethod
    def of(cls, texts: Sequence[Tokens]) -> "Words":
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        tokens = np.concatenate([*texts, np.empty(0, np.uint32)])
        return cls(tokens, np.repeat(np.arange(len(texts)), lengths), np.cumsum(tokens == STOP), lengths)


@dataclass(frozen=True, slots=True)
class Block:
    """Passages that are scored in one go."""

    texts: Words
    titles: Words

    @classmethod
    def of(cls, passages: Sequence[ReadPassage]) -> "Block":
        return cls(Words.of([one.text for one in passages]), Words.of([one.title for one in passages]))
