"""The embedded classifier: it scores passages by their words, by the grammar of drafting and by embeddings."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from importlib import resources
from typing import Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from proviso_service import reading
from proviso_service.embedded.classifier.conflicts import conflicts
from proviso_service.embedded.classifier.content import Concepts, ContentReader, load_concepts
from proviso_service.embedded.classifier.features import Meaning, features, meaning, similarities
from proviso_service.embedded.classifier.fitted import FittedClassifier, from_bytes
from proviso_service.embedded.classifier.forms import burden_shares, form_scores
from proviso_service.embedded.classifier.matching import Floats, TitledPassages
from proviso_service.embedded.classifier.statements import (
    Form,
    UnderstoodStatement,
    asserts,
    kind_of,
    understand,
    wordings,
)
from proviso_service.embedded.classifier.words import PassageBlock, PassageReader, Stemmer, words_of_passages
from proviso_service.embedded.judge import Judge, Margins, margins_of, readable_pairs, supports_of
from proviso_service.embedded.pieces import sayings_of
from proviso_service.models import (
    Embedder,
    ModelBusy,
    ModelClosed,
    ModelPassage,
    PassageWords,
    ReadingClassifier,
    ReadPassages,
    Scores,
    Vectors,
)
from proviso_service.reading import readable

P = ParamSpec("P")
T = TypeVar("T")

_FITTED = "fitted.npz"
_WORDS = "words.py"
_SOURCES = (".py", ".toml", ".npz")
"""The files on which scores depend: code and data. Their hash is the model's id."""

_READING = ("canonical", "chunking", "number_words", "numerals", "values", "words")
_BLOCK_PASSAGES = 4_096
_DECIMALS = 5
_TITLED = 0.85
"""What stands below the name of a kind of clause is likely one of that kind, whatever else it says."""

_RETRY_AFTER_S = 1.0
_MAX_WAITING = 64
_MAX_KNOWN_STATEMENTS = 256
_MAY_MATCH = -1.0
"""A text for which the judge's margin is lower hardly comes above 0.5, whatever its score."""


async def judged_margins(judge: Judge, statement: str, texts: Sequence[str]) -> Margins:
    """Returns by how much each text rather decides what is asked than not, or supports what is asserted. One that may
    support it says what the best of its sentences says: read whole, a clause that says something of one party seems to
    say it of another one, too. Raises as the judge does."""
    verdicts = await judge.verdicts([(statement, text) for text in texts])
    if not asserts(statement):
        return margins_of(verdicts)
    margins = supports_of(verdicts)
    closely = np.flatnonzero(margins > _MAY_MATCH).tolist()
    sayings = [(index, saying) for index in closely for saying in sayings_of(texts[index])]
    supports = supports_of(await judge.verdicts([(statement, saying) for _, saying in sayings]))
    for index in closely:
        of_text = [support for (owner, _), support in zip(sayings, supports, strict=True) if owner == index]
        margins[index] = max(of_text, default=margins[index])
    return margins


def shared_source() -> bytes:
    """Returns the source code of what the models take from the reading library, its words, numerals, figures, sentences
    and readable texts, and of how passages are cut. Scores follow from it, so it is a part of the model's id."""
    library = resources.files(reading)
    cut = resources.files("proviso_service.embedded").joinpath("pieces.py")
    files = [*(library.joinpath(f"{name}.py") for name in _READING), cut]
    return b"\0".join(file.read_bytes() for file in files)


class StatementScorer:
    """Scores statements in the calling thread, from vectors that are given to it; to be used by one thread."""

    def __init__(self, fitted: FittedClassifier) -> None:
        stemmer = Stemmer()
        self.fitted = fitted
        self.concepts: Concepts = load_concepts(stemmer)
        self._passages = PassageReader(stemmer)
        self._titled = TitledPassages(stemmer)
        # A statement comes once for each batch of documents.
        self._content = lru_cache(_MAX_KNOWN_STATEMENTS)(ContentReader(stemmer, fitted.words, self.concepts).read)

    def features(self, text: str, vector: Vectors, passages: Sequence[ModelPassage], vectors: Vectors) -> Floats:
        """Returns the features for one wording of a statement about content, of shape (len(passages), number of
        features)."""
        return self._features(text, vector, self._block(passages), vectors)

    def score(
        self,
        statement: UnderstoodStatement,
        meant: Sequence[Vectors],
        passages: Sequence[ModelPassage],
        vectors: Vectors,
    ) -> Scores:
        """Scores the passages; `meant` holds the vectors of the statement's wordings, `vectors` those of the
        passages."""
        if statement.form is Form.CONTENT:
            found = self._content_scores(statement, meant, self._block(passages), vectors)
            found *= burden_shares(statement, passages)
        else:
            found = form_scores(statement.form, statement.name, passages)
        return _scores(statement, found)

    def joined(self, parts: Sequence[ReadPassages]) -> tuple[PassageBlock, Vectors]:
        """Puts the passages of several documents together, once for all statements."""
        vectors = parts[0].vectors if len(parts) == 1 else np.concatenate([part.vectors for part in parts])
        return PassageBlock.of_words(PassageWords.joined([part.words for part in parts])), vectors

    def score_block(
        self, statement: UnderstoodStatement, meant: Sequence[Vectors], block: PassageBlock, vectors: Vectors
    ) -> Scores:
        """Scores passages by their words and vectors alone; the statement is about content, and about no party's duty
        or right."""
        return _scores(statement, self._content_scores(statement, meant, block, vectors))

    def judged(self, statement: str, texts: Sequence[str], scores: Scores, margins: Margins) -> Scores:
        """Returns the scores with what the judge adds, which are the margins of `judged_margins`, and what conflicts
        take off."""
        head = self.fitted.asserted if asserts(statement) else self.fitted.judged
        found = head.scores(scores.astype(np.float64), margins, conflicts(statement, texts))
        return np.round(found, _DECIMALS).astype(np.float32)

    def _content_scores(
        self, statement: UnderstoodStatement, meant: Sequence[Vectors], block: PassageBlock, vectors: Vectors
    ) -> Floats:
        texts = wordings(statement)
        logit = np.zeros(len(vectors))
        for text, vector in zip(texts, meant, strict=True):
            logit += self.fitted.head.logit(self._features(text, vector, block, vectors)) / len(texts)
        found: Floats = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
        if kind := kind_of(statement.asked):
            found[self._titled.find(kind, block.titles) & (found < _TITLED)] = _TITLED
        return found

    def _block(self, passages: Sequence[ModelPassage]) -> PassageBlock:
        return PassageBlock.of([self._passages.read(passage) for passage in passages])

    def _features(self, text: str, vector: Vectors, block: PassageBlock, vectors: Vectors) -> Floats:
        meant = self._meaning(vector)
        own, topic = similarities(self.fitted.topics, meant, vectors) if meant else (np.zeros(len(vectors)),) * 2
        return features(block, self._content(text), self.concepts, own, topic)

    def _meaning(self, vector: Vectors) -> Meaning | None:
        """Returns None for a vector of another model than the one that the numbers were fitted with."""
        return meaning(self.fitted.topics, vector) if len(vector) == len(self.fitted.topics.mean) else None


def _scores(statement: UnderstoodStatement, found: Floats) -> Scores:
    scores: Scores = np.round(1 - found if statement.is_denied else found, _DECIMALS).astype(np.float32)
    return scores


class EmbeddedClassifier(ReadingClassifier):
    """Implements Classifier. It scores in one thread of its own, which `close` ends, and which makes the scorer with
    the first passages."""

    def __init__(
        self,
        embedder: Embedder,
        judge: Judge | None,
        load: Callable[[], StatementScorer],
        model_id: str,
        words_id: str,
    ) -> None:
        self._embedder = embedder
        self._judge = judge
        self._load = load
        self._model_id = model_id
        self._words_id = words_id
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="classifier")
        self._meanings: dict[str, Sequence[Vectors]] = {}
        self._waiting = 0
        self._is_closed = False

    @classmethod
    def load(cls, embedder: Embedder, judge: Judge | None = None) -> Self:
        """Reads the package's files. The model's id follows from code, data, embedder and judge. With a judge it is a
        StatementJudge too."""
        files = sorted(
            (entry for entry in resources.files(__package__).iterdir() if entry.is_file()), key=lambda file: file.name
        )
        contents = {file.name: file.read_bytes() for file in files if file.name.endswith(_SOURCES)}
        made_of = [embedder.model_id.encode(), judge.model_id.encode() if judge else b"", *contents.values()]
        digest = sha256(b"\0".join([*made_of, shared_source()])).hexdigest()
        load = partial(_scorer, contents[_FITTED])
        words_id = sha256(contents[_WORDS] + shared_source()).hexdigest()[:16]
        return cls(embedder, judge, load, f"proviso-classifier-{digest[:16]}", words_id)

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def words_id(self) -> str:
        return self._words_id

    def read(self, passages: Sequence[ModelPassage]) -> PassageWords:
        return words_of_passages(passages)

    def needs_texts(self, statement: str) -> bool:
        understood = understand(statement)
        return understood.form is not Form.CONTENT or understood.burden is not None

    async def score(self, statement: str, passages: Sequence[ModelPassage]) -> Scores:
        with self._admitted():
            return await self._score(statement, list(passages))

    async def score_read(self, statements: Sequence[str], parts: Sequence[ReadPassages]) -> Sequence[Scores]:
        with self._admitted():
            asked = [(one := understand(text), await self._meant(text, one)) for text in statements]
            block, vectors = await self._in_thread(StatementScorer.joined, parts)
            return [
                await self._in_thread(StatementScorer.score_block, statement, meant, block, vectors)
                for statement, meant in asked
            ]

    def judges(self, statement: str) -> bool:
        understood = understand(statement)
        return self._judge is not None and understood.form is Form.CONTENT and not understood.is_denied

    async def judge(self, statement: str, passages: Sequence[ModelPassage], scores: Scores) -> Scores:
        if self._judge is None:
            return scores
        texts = [readable(passage.text) for passage in passages]
        legible = np.flatnonzero(await asyncio.to_thread(readable_pairs, statement, texts))
        read = [texts[index] for index in legible]
        margins = await judged_margins(self._judge, statement, read)
        judged = scores.copy()
        judged[legible] = await self._in_thread(StatementScorer.judged, statement, read, scores[legible], margins)
        return judged

    async def close(self) -> None:
        """Makes what waits fail with ModelClosed, finishes the block of passages in progress and ends the thread."""
        self._is_closed = True
        await asyncio.to_thread(self._thread.shutdown)

    async def _score(self, text: str, passages: Sequence[ModelPassage]) -> Scores:
        scores = np.empty(len(passages), dtype=np.float32)
        statement = understand(text)
        needs_vectors = statement.form is Form.CONTENT
        meant = await self._meant(text, statement) if needs_vectors else ()
        for start in range(0, len(passages), _BLOCK_PASSAGES):
            part = passages[start : start + _BLOCK_PASSAGES]
            vectors = await self._vectors(part) if needs_vectors else np.empty((len(part), 0), np.float32)
            scored = await self._in_thread(StatementScorer.score, statement, meant, part, vectors)
            scores[start : start + len(part)] = scored
        return scores

    async def _meant(self, text: str, statement: UnderstoodStatement) -> Sequence[Vectors]:
        """Returns the vectors of the statement's wordings. They are kept, because a statement comes once for each
        batch of documents."""
        known = self._meanings.get(text)
        if known is None:
            known = [await self._embedder.embed_query(wording) for wording in wordings(statement)]
            self._meanings[text] = known
            if len(self._meanings) > _MAX_KNOWN_STATEMENTS:
                self._meanings.pop(next(iter(self._meanings)))
        return known

    @cached_property
    def _scorer(self) -> StatementScorer:
        return self._load()

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        self._check_open()
        if self._waiting >= _MAX_WAITING:
            raise ModelBusy("Too many statements are waiting for the classifier", _RETRY_AFTER_S)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def _in_thread(
        self, work: Callable[Concatenate[StatementScorer, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        def unless_closed() -> T:
            self._check_open()
            return work(self._scorer, *args, **kwargs)

        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._thread, unless_closed)

    def _check_open(self) -> None:
        if self._is_closed:
            raise ModelClosed("The classifier is closed")

    async def _vectors(self, passages: Sequence[ModelPassage]) -> Vectors:
        missing = [index for index, passage in enumerate(passages) if passage.vector is None]
        if not missing:
            return np.stack([passage.vector for passage in passages if passage.vector is not None])
        made = await self._embedder.embed_documents([readable(passages[index].text) for index in missing])
        vectors = np.empty((len(passages), self._embedder.dimensions), dtype=np.float32)
        vectors[missing] = made
        for index, passage in enumerate(passages):
            if passage.vector is not None:
                vectors[index] = passage.vector
        return vectors


def _scorer(fitted: bytes) -> StatementScorer:
    """Makes the scorer, which takes about 0.1 s."""
    return StatementScorer(from_bytes(fitted))
