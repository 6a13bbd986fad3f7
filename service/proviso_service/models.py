"""The ports of the models that are not chat models; chat models are LangChain's BaseChatModel. A port says what a
model does; the embedded models and those of Isaacus implement it."""

import hashlib
import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from proviso_service.errors import NotReady, TooBusy

Vectors = NDArray[np.float32]

Scores = NDArray[np.float32]
"""Shape (count,), each in [0, 1]."""


class ModelBusy(TooBusy):
    """As many calls wait for a model as are allowed to; the call may be made again after `retry_after_s`."""


class ModelClosed(NotReady):
    """A model was closed before it answered: the service is stopping."""


class ModelLost(NotReady):
    """The process of a model ended during a call, and so did the one that took its place."""


class Embedder(Protocol):
    """Turns texts into unit vectors. An implementation never blocks the event loop, and it bounds the number of calls
    that wait."""

    @property
    def model_id(self) -> str:
        """Identifies the model with its settings. Vectors with different ids cannot be compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Returns vectors of shape (len(texts), dimensions), float32, with L2-normalised rows, in order. Raises
        ModelClosed, and ModelBusy when the queue is full."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """Returns a vector of shape (dimensions,), float32, L2-normalised. Queries are served before documents that
        wait."""
        ...


@dataclass(frozen=True, slots=True)
class ModelPassage:
    """A passage of a document as models judge it: its text and the titles of the headings above it, outermost first.
    `vector` is what the embedder makes of the text, of shape (dimensions,), where it is at hand."""

    text: str
    section_path: tuple[str, ...] = ()
    vector: Vectors | None = field(default=None, compare=False, repr=False)

    @property
    def sha256(self) -> str:
        """The hash of the text and of the section path, in hexadecimal. Equal passages have equal scores."""
        digest = hashlib.sha256()
        for part in (self.text, *self.section_path):
            encoded = part.encode(errors="surrogatepass")
            digest.update(len(encoded).to_bytes(8, "little"))
            digest.update(encoded)
        return digest.hexdigest()


class Classifier(Protocol):
    """Tells how surely passages satisfy a statement in words. An implementation never blocks the event loop, and it
    bounds the number of calls that wait."""

    @property
    def model_id(self) -> str:
        """Identifies the model with its settings. It changes whenever a score could change."""
        ...

    async def score(self, statement: str, passages: Sequence[ModelPassage]) -> Scores:
        """Returns a score in [0, 1] for each passage, float32, of shape (len(passages),), in order; above 0.5 the
        passage satisfies the statement. A score depends on the statement and the passage alone, never on other
        passages, and is the same every time. Raises ModelClosed, and ModelBusy when the queue is full."""
        ...


@dataclass(frozen=True, slots=True)
class WordLists:
    """Lists of words as numbers, one list after the other; `lengths` are theirs. The arrays are never changed."""

    numbers: NDArray[np.uint32]
    lengths: NDArray[np.uint32]

    @classmethod
    def of(cls, lists: Sequence[NDArray[np.uint32]]) -> Self:
        lengths = np.array([len(one) for one in lists], dtype=np.uint32)
        return cls(np.concatenate([*lists, np.empty(0, np.uint32)]), lengths)

    @classmethod
    def joined(cls, parts: "Sequence[WordLists]") -> "WordLists":
        if len(parts) == 1:
            return parts[0]
        nothing = np.empty(0, np.uint32)
        return cls(
            np.concatenate([*(part.numbers for part in parts), nothing]),
            np.concatenate([*(part.lengths for part in parts), nothing]),
        )

    def __len__(self) -> int:
        """The number of lists."""
        return len(self.lengths)

    def part(self, first: int, end: int) -> "WordLists":
        """The lists from `first` to before `end`."""
        start = int(self.lengths[:first].sum(dtype=np.int64))
        lengths = self.lengths[first:end]
        return WordLists(self.numbers[start : start + int(lengths.sum(dtype=np.int64))], lengths)


_WORDS_HEADER = struct.Struct("<3I")


@dataclass(frozen=True, slots=True)
class PassageWords:
    """The words of passages and those of their titles, as the numbers that a classifier has given them; one list of
    each for every passage."""

    texts: WordLists
    titles: WordLists

    @classmethod
    def joined(cls, parts: "Sequence[PassageWords]") -> "PassageWords":
        return cls(WordLists.joined([one.texts for one in parts]), WordLists.joined([one.titles for one in parts]))

    def __len__(self) -> int:
        """The number of passages."""
        return len(self.texts)

    def part(self, first: int, end: int) -> "PassageWords":
        """The passages from `first` to before `end`."""
        return PassageWords(self.texts.part(first, end), self.titles.part(first, end))

    def packed(self) -> bytes:
        """Returns all of it as bytes, in an order that does not depend on the machine."""
        header = _WORDS_HEADER.pack(len(self), len(self.texts.numbers), len(self.titles.numbers))
        arrays = (self.texts.lengths, self.titles.lengths, self.texts.numbers, self.titles.numbers)
        return header + b"".join(array.astype("<u4", copy=False).tobytes() for array in arrays)

    @classmethod
    def unpacked(cls, packed: bytes) -> Self:
        """The inverse of `packed`; the arrays are views of the bytes."""
        count, words, title_words = _WORDS_HEADER.unpack_from(packed)
        numbers = np.frombuffer(packed, "<u4", offset=_WORDS_HEADER.size)
        lengths, title_lengths, texts, titles, _ = np.split(numbers, np.cumsum([count, count, words, title_words]))
        return cls(WordLists(texts, lengths), WordLists(titles, title_lengths))


@dataclass(frozen=True, slots=True)
class ReadPassages:
    """Passages that were read before: their words, and their vectors, with one row for each."""

    words: PassageWords
    vectors: Vectors


class ReadingClassifier(ABC):
    """A Classifier that reads passages once and judges them by that, for most statements. What it has read is kept with
    the documents, so that the first statement on them costs what later ones cost."""

    @property
    @abstractmethod
    def words_id(self) -> str:
        """Identifies what `read` makes of passages. It changes whenever that could change."""

    @abstractmethod
    def read(self, passages: Sequence[ModelPassage]) -> PassageWords:
        """Returns the words of passages. Slow: run it in a thread. It may run in several at once."""

    @abstractmethod
    def needs_texts(self, statement: str) -> bool:
        """Tells whether the statement can only be judged by `Classifier.score`."""

    @abstractmethod
    async def score_read(self, statements: Sequence[str], parts: Sequence[ReadPassages]) -> Sequence[Scores]:
        """Returns for each statement, none of which needs texts, the scores of all passages of the parts, in order.
        They equal those of `Classifier.score`. Raises what that raises."""


class StatementJudge(Protocol):
    """Reads passages together with a statement: slower than a Classifier and surer, so for the likeliest passages. An
    implementation never blocks the event loop, and it bounds the number of calls that wait."""

    def judges(self, statement: str) -> bool:
        """Tells whether scores of the statement get better by it."""
        ...

    async def judge(self, statement: str, passages: Sequence[ModelPassage], scores: Scores) -> Scores:
        """Returns the scores that take the place of the classifier's `scores` of the passages. A score depends on the
        statement, the passage and its score alone, and is the same every time. Raises ModelClosed, and ModelBusy when
        the queue is full."""
        ...


MOST_RERANKED = 50
"""How many passages of a search a hosted reranker looks at."""


class Reranker(Protocol):
    """Tells how relevant passages are to a query. An implementation never blocks the event loop, and it bounds the
    number of calls that wait."""

    @property
    def model_id(self) -> str: ...

    @property
    def most(self) -> int:
        """How many passages of a search it is asked about at most."""
        ...

    async def score(self, query: str, passages: Sequence[ModelPassage]) -> Scores:
        """The passages come best first, as far as the search can tell. Shape (len(passages),), float32, in [0, 1], in
        order. Raises ModelClosed, ModelBusy when the queue is full, and ModelApiError."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """An answer in a passage's text, from `start` to `end` in code points, end exclusive. `score`, in [0, 1], is how
    surely it answers the question."""

    start: int
    end: int
    score: float


class AnswerExtractor(Protocol):
    """Finds the spans of passages that answer a question. An implementation never blocks the event loop, and it bounds
    the number of calls that wait."""

    @property
    def model_id(self) -> str: ...

    async def extract(self, question: str, passages: Sequence[ModelPassage]) -> Sequence[Sequence[AnswerSpan]]:
        """For each passage, in order, its answers, best first, without overlap; none where it has none. Scores are
        comparable between passages. Raises ModelClosed, ModelBusy when the queue is full, and ModelApiError."""
        ...
