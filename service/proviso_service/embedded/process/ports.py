"""The ports of the embedded models, which run in processes of their own."""

import asyncio
from collections import deque
from collections.abc import Sequence

import numpy as np

from proviso_service.embedded.classifier.model import EmbeddedClassifier
from proviso_service.embedded.extractor.model import EmbeddedExtractor
from proviso_service.embedded.prepared import DIMENSIONS
from proviso_service.embedded.process.calls import Method, of_passages, of_read_passages
from proviso_service.embedded.process.messages import Message
from proviso_service.embedded.process.pool import ModelProcesses
from proviso_service.embedded.reranker import EmbeddedReranker
from proviso_service.models import (
    AnswerSpan,
    ModelPassage,
    PassageWords,
    ReadingClassifier,
    ReadPassages,
    Scores,
    Vectors,
)

_SLICE_TEXTS = 64
_SLICES_IN_LINE = 2
"""How many slices of its texts one call keeps in line, in one process or in two."""


class ProcessEmbedder:
    """Implements Embedder. In each process queries go before documents that wait."""

    def __init__(self, processes: ModelProcesses) -> None:
        self._processes = processes

    @property
    def model_id(self) -> str:
        return self._processes.encoder_id

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        slices = deque(by_length[start : start + _SLICE_TEXTS] for start in range(0, len(texts), _SLICE_TEXTS))

        async def work() -> None:
            while slices:
                indices = slices.popleft()
                part = [texts[index] for index in indices]
                answer = await self._processes.call(Message({"method": Method.EMBED_DOCUMENTS, "texts": part}))
                vectors[indices] = answer.arrays[0]

        lines = [asyncio.create_task(work()) for _ in range(_SLICES_IN_LINE)]
        try:
            await asyncio.gather(*lines)
        finally:
            for line in lines:
                line.cancel()
        return vectors

    async def embed_query(self, text: str) -> Vectors:
        return (await self._processes.call(Message({"method": Method.EMBED_QUERY, "text": text}))).arrays[0]


class ProcessClassifier(ReadingClassifier):
    """Implements Classifier. Statements are read here, passages are judged there."""

    def __init__(self, processes: ModelProcesses, embedded: EmbeddedClassifier) -> None:
        """The model that is given is asked for what it is and how it reads; it is never loaded."""
        self._processes = processes
        self._embedded = embedded

    @property
    def model_id(self) -> str:
        return self._embedded.model_id

    @property
    def words_id(self) -> str:
        return self._embedded.words_id

    def read(self, passages: Sequence[ModelPassage]) -> PassageWords:
        return self._embedded.read(passages)

    def needs_texts(self, statement: str) -> bool:
        return self._embedded.needs_texts(statement)

    async def score(self, statement: str, passages: Sequence[ModelPassage]) -> Scores:
        call = await asyncio.to_thread(of_passages, Method.SCORE, statement, passages)
        return (await self._processes.call(call)).arrays[0]

    async def score_read(self, statements: Sequence[str], parts: Sequence[ReadPassages]) -> Sequence[Scores]:
        return (await self._processes.call(of_read_passages(statements, parts))).arrays

    def judges(self, statement: str) -> bool:
        return self._embedded.judges(statement)

    async def judge(self, statement: str, passages: Sequence[ModelPassage], scores: Scores) -> Scores:
        fields = {"method": Method.JUDGE, "text": statement, "passages": [passage.text for passage in passages]}
        return (await self._processes.call(Message(fields, [scores]))).arrays[0]


class ProcessExtractor:
    """Implements AnswerExtractor."""

    def __init__(self, processes: ModelProcesses, embedded: EmbeddedExtractor) -> None:
        """The model that is given is asked for its id; it is never loaded."""
        self._processes = processes
        self._embedded = embedded

    @property
    def model_id(self) -> str:
        return self._embedded.model_id

    async def extract(self, question: str, passages: Sequence[ModelPassage]) -> Sequence[Sequence[AnswerSpan]]:
        call = await asyncio.to_thread(of_passages, Method.EXTRACT, question, passages)
        found = (await self._processes.call(call)).fields["spans"]
        return [[AnswerSpan(*span) for span in spans] for spans in found]


class ProcessReranker:
    """Implements Reranker."""

    most = EmbeddedReranker.most

    def __init__(self, processes: ModelProcesses, embedded: EmbeddedReranker) -> None:
        """The model that is given is asked for its id; it is never loaded."""
        self._processes = processes
        self._embedded = embedded

    @property
    def model_id(self) -> str:
        return self._embedded.model_id

    async def score(self, query: str, passages: Sequence[ModelPassage]) -> Scores:
        call = await asyncio.to_thread(of_passages, Method.RERANK, query, passages)
        return (await self._processes.call(call)).arrays[0]
