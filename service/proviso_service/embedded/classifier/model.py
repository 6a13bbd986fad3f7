"""The embedded classifier: it scores passages by their words, by the grammar of drafting and by embeddings."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from hashlib import sha256
from importlib import resources
from typing import Self

import numpy as np

from proviso_service import reading
from proviso_service.embedded.classifier.content import Concepts, ContentReader, load_concepts
from proviso_service.embedded.classifier.features import Meaning, features, meaning, similarities
from proviso_service.embedded.classifier.fitted import FittedClassifier, from_bytes
from proviso_service.embedded.classifier.forms import burden_shares, form_scores
from proviso_service.embedded.classifier.matching import Floats
from proviso_service.embedded.classifier.statements import Form, UnderstoodStatement, understand, wordings
from proviso_service.embedded.classifier.words import PassageBlock, PassageReader, Stemmer
from proviso_service.models import Embedder, ModelBusy, ModelClosed, ModelPassage, Scores, Vectors
from proviso_service.reading import readable

_FITTED = "fitted.npz"
_SOURCES = (".py", ".toml", ".npz")
"""The files on which scores depend: code and data. Their hash is the model's id."""

_BLOCK_PASSAGES = 4_096
_DECIMALS = 5
_RETRY_AFTER_S = 1.0
_MAX_WAITING = 64
_MAX_KNOWN_STATEMENTS = 256


def shared_source() -> bytes:
    """Returns the source code of what the models take from the reading library: its words, numerals and readable
    texts. Scores follow from it, so it is a part of the model's id."""
    library = resources.files(reading)
    return b"\0".join(library.joinpath(f"{name}.py").read_bytes() for name in ("canonical", "numerals", "words"))


class StatementScorer:
    """Scores statements in the calling thread, from vectors that are given to it; to be used by one thread."""

    def __init__(self, fitted: FittedClassifier) -> None:
        stemmer = Stemmer()
        self.fitted = fitted
        self.concepts: Concepts = load_concepts(stemmer)
        self._passages = PassageReader(stemmer)
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
            found = self._content_scores(wordings(statement), meant, passages, vectors)
            found *= burden_shares(statement, passages)
        else:
            found = form_scores(statement.form, statement.name, passages)
        scores: Scores = np.round(1 - found if statement.is_denied else found, _DECIMALS).astype(np.float32)
        return scores

    def _content_scores(
        self, texts: Sequence[str], meant: Sequence[Vectors], passages: Sequence[ModelPassage], vectors: Vectors
    ) -> Floats:
        block = self._block(passages)
        logit = np.zeros(len(passages))
        for text, vector in zip(texts, meant, strict=True):
            logit += self.fitted.head.logit(self._features(text, vector, block, vectors)) / len(texts)
        found: Floats = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
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


class EmbeddedClassifier:
    """Implements Classifier. It scores in one thread of its own, which `close` ends."""

    def __init__(self, embedder: Embedder, fitted: FittedClassifier, model_id: str) -> None:
        self._embedder = embedder
        self._scorer = StatementScorer(fitted)
        self._model_id = model_id
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="classifier")
        self._meanings: dict[str, Sequence[Vectors]] = {}
        self._waiting = 0
        self._is_closed = False

    @classmethod
    def load(cls, embedder: Embedder) -> Self:
        """Reads the package's data, which takes about 0.1 s. The model's id follows from code, data and embedder."""
        files = sorted(
            (entry for entry in resources.files(__package__).iterdir() if entry.is_file()), key=lambda file: file.name
        )
        contents = {file.name: file.read_bytes() for file in files if file.name.endswith(_SOURCES)}
        digest = sha256(b"\0".join([embedder.model_id.encode(), *contents.values(), shared_source()])).hexdigest()
        return cls(embedder, from_bytes(contents[_FITTED]), f"proviso-classifier-{digest[:16]}")

    @property
    def model_id(self) -> str:
        return self._model_id

    async def score(self, statement: str, passages: Sequence[ModelPassage]) -> Scores:
        self._check_open()
        if self._waiting >= _MAX_WAITING:
            raise ModelBusy("Too many statements are waiting for the classifier", _RETRY_AFTER_S)
        self._waiting += 1
        try:
            return await self._score(statement, list(passages))
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        """Makes what waits fail with ModelClosed, finishes the block of passages in progress and ends the thread."""
        self._is_closed = True
        await asyncio.to_thread(self._thread.shutdown)

    async def _score(self, text: str, passages: Sequence[ModelPassage]) -> Scores:
        scores = np.empty(len(passages), dtype=np.float32)
        statement = understand(text)
        needs_vectors = statement.form is Form.CONTENT
        meant = await self._meant(text, statement) if needs_vectors else ()
        loop = asyncio.get_running_loop()
        for start in range(0, len(passages), _BLOCK_PASSAGES):
            part = passages[start : start + _BLOCK_PASSAGES]
            vectors = await self._vectors(part) if needs_vectors else np.empty((len(part), 0), np.float32)
            self._check_open()
            work = partial(self._work, statement, meant, part, vectors)
            scores[start : start + len(part)] = await loop.run_in_executor(self._thread, work)
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

    def _work(
        self,
        statement: UnderstoodStatement,
        meant: Sequence[Vectors],
        passages: Sequence[ModelPassage],
        vectors: Vectors,
    ) -> Scores:
        self._check_open()
        return self._scorer.score(statement, meant, passages, vectors)

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
