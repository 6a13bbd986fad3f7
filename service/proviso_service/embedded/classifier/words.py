"""Turns passages and phrases into numbers that stand for stems. A phrase of legal drafting is a line such as
"shall|must not exceed .. amount": its words follow one another within a sentence, `|` separates alternatives, `..`
stands for up to eight other words and `...` for up to twenty."""

import re
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from Stemmer import Stemmer as PorterStemmer

from proviso_service.models import ModelPassage, PassageWords, WordLists
from proviso_service.reading import LETTERS_AND_DIGITS, WORD, readable

Tokens = NDArray[np.uint32]
"""The numbers of a text's stems in order, with STOP where a sentence ends."""

STOP = 0
_WORD_OR_STOP = re.compile(rf"{LETTERS_AND_DIGITS}|[.;](?=\s|$)")
_MAX_KNOWN = 200_000
_MIN_STEMMED_CHARS = 3

_GAPS = {"..": 8, "...": 20}

_MAX_KEPT_BYTES = 128_000_000
"""About what 150,000 passages take."""
_BYTES_PER_PASSAGE = 500
"""What a passage takes besides its tokens."""

_NUMBER = r"(?:\d+(?:\.\d+)*\.?|\([a-z\d]{1,4}\)|[A-Za-z][.)])"
_RUN_IN_TITLE = re.compile(
    rf"\s*(?:(?:article|section|clause)\s+)?{_NUMBER}?\s*"
    r"((?:[A-Z][\w'&/\u2019-]*)(?:[ ,]+(?:[A-Z][\w'&/\u2019-]*|of|and|or|the|to|for|in|on|by|with|a|an|without)){0,9})"
    r"\s*[.:\u2014\u2013-]\s",
)


_TITLE_NUMBER = re.compile(r"^\W*(?:(?:article|section)\s+)?(?:[\divxlc]+[.)\-:]|[\d.]+)*[\s.:\-]*", re.IGNORECASE)

# The title of a clause that has none is its number.
_NUMBER_ALONE = re.compile(r"(?:(?:section|clause|article|sec\.|\u00a7)\s*)?[\d.]+", re.IGNORECASE)
_OPENING_CHARS = 160


class Stemmer:
    """Turns words into numbers. It remembers the words that it has met, of which texts have few; to be used by one
    thread."""

    def __init__(self) -> None:
        self._stemmer = PorterStemmer("porter")
        self._known: dict[str, int] = {}

    def tokens(self, text: str) -> Tokens:
        """Returns the numbers of the text's words, and STOP for every end of a sentence."""
        return np.array(self._numbers(text), dtype=np.uint32)

    def words(self, text: str) -> list[int]:
        """Returns the numbers of the text's words without the ends of sentences."""
        return [number for number in self._numbers(text) if number != STOP]

    def _numbers(self, text: str) -> list[int]:
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
        return self.numbers(_WORD_OR_STOP.findall(readable(text).lower()))

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Returns the numbers of words in lower case."""
        known = self._known
        for word in set(words).difference(known):
            known[word] = self.number(word)
        return list(map(known.__getitem__, words))

    def number(self, word: str) -> int:
        """Returns the number of one word, or STOP for a mark that ends a sentence."""
        if word in ".;":
            return STOP
        stem = self._stemmer.stemWord(word) if len(word) >= _MIN_STEMMED_CHARS else word
        return zlib.crc32(stem.encode()) or 1


def distinct(words: Sequence[int]) -> list[int]:
    """Returns each number once, in the order of first appearance."""
    return list(dict.fromkeys(words))


@dataclass(frozen=True, slots=True)
class PhrasePart:
    """One place in a phrase: one of `words`, after at most `gap` other words."""

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
    """Reads a phrase from its notation."""
    parts, gap = [], 0
    for item in readable(line).lower().split():
        if item in _GAPS:
            gap = _GAPS[item]
            continue
        words = tuple(stemmer.numbers(WORD.findall(item)))
        parts.append(PhrasePart(words, gap))
        gap = 0
    return Phrase(tuple(parts))


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """The tokens of a passage. `title` holds those of the nearest heading and of a title with which the text begins."""

    text: Tokens
    title: Tokens

    @property
    def size(self) -> int:
        """The memory that the passage takes, in bytes."""
        return _BYTES_PER_PASSAGE + self.text.nbytes + self.title.nbytes


def read_passage(passage: ModelPassage, stemmer: Stemmer) -> ReadPassage:
    titles = " . ".join(titles_of(passage))
    return ReadPassage(stemmer.tokens(passage.text), stemmer.tokens(titles))


def words_of_passages(passages: Sequence[ModelPassage]) -> PassageWords:
    """Reads passages, in any thread."""
    stemmer = Stemmer()
    read = [read_passage(passage, stemmer) for passage in passages]
    return PassageWords(WordLists.of([one.text for one in read]), WordLists.of([one.title for one in read]))


class PassageReader:
    """Reads each passage once and keeps it, within a bound; to be used by one thread."""

    def __init__(self, stemmer: Stemmer) -> None:
        self._stemmer = stemmer
        self._kept: OrderedDict[str, ReadPassage] = OrderedDict()
        self._kept_bytes = 0

    def read(self, passage: ModelPassage) -> ReadPassage:
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


def titles_of(passage: ModelPassage) -> list[str]:
    """Returns the nearest heading that has words, and what reads like a title at the beginning of the text: where the
    text opens with that heading, in the line below it too."""
    titles = named_headings(passage)[-1:]
    opening = passage.text[:_OPENING_CHARS]
    first, _, below = opening.lstrip().partition("\n")
    texts = [opening, below] if titles and first.startswith(titles[0]) else [opening]
    return titles + [run_in[1] for text in texts if (run_in := _RUN_IN_TITLE.match(text))]


def named_headings(passage: ModelPassage) -> list[str]:
    """Returns the headings above a passage that have words, outermost first."""
    return [title for title in passage.section_path if not _NUMBER_ALONE.fullmatch(title)]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of many texts, one text after the other. For each token, `owner` is the index of its text, and `stops`
    counts the ends of sentences up to it; `lengths` has the number of tokens of each text."""

    tokens: Tokens
    owner: NDArray[np.int64]
    stops: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @property
    def count(self) -> int:
        return len(self.lengths)

    @classmethod
    def of(cls, texts: Sequence[Tokens]) -> "Words":
        return cls.of_lists(WordLists.of(texts))

    @classmethod
    def of_lists(cls, texts: WordLists) -> "Words":
        lengths = texts.lengths.astype(np.int64)
        owner = np.repeat(np.arange(len(texts)), lengths)
        return cls(texts.numbers, owner, np.cumsum(texts.numbers == STOP), lengths)


@dataclass(frozen=True, slots=True)
class PassageBlock:
    """Passages that are scored together."""

    texts: Words
    titles: Words

    @classmethod
    def of(cls, passages: Sequence[ReadPassage]) -> "PassageBlock":
        return cls(Words.of([one.text for one in passages]), Words.of([one.title for one in passages]))

    @classmethod
    def of_words(cls, words: PassageWords) -> "PassageBlock":
        return cls(Words.of_lists(words.texts), Words.of_lists(words.titles))


def plain_titles(passage: ModelPassage) -> tuple[str, ...]:
    """Returns the titles above a passage and in its first line, outermost first and without their numbers."""
    found = (_TITLE_NUMBER.sub("", title).strip(" .:") for title in titles_of(passage))
    return tuple(dict.fromkeys(filter(None, found)))
