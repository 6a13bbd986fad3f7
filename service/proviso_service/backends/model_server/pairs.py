"""PairScorer: a cross-encoder of a model server, which implements the protocols Reranker and Classifier of `models`."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Self

import numpy as np

from proviso_service.backends.hosted_calls import unusable_answer
from proviso_service.backends.hosted_texts import FORM, batches, by_index, plain, with_headings
from proviso_service.backends.model_server.client import SERVICE, Info, ModelServer, Predictions, Ranks
from proviso_service.concurrency import all_of
from proviso_service.errors import ModelApiRefused
from proviso_service.models import MOST_RERANKED, ModelPassage, Scores

ENTAILMENT = "entailment"

_Score = Callable[[str, Sequence[str]], Awaitable[Sequence[float]]]


class PairScorer:
    """Scores how well passages fit a query or a statement. A reranker says how relevant a passage is; a model of
    natural language inference says how surely the statement follows from the passage."""

    most = MOST_RERANKED

    def __init__(self, server: ModelServer, info: Info, *, urgent: bool, infers: bool) -> None:
        self._server = server
        self._info = info
        self._urgent = urgent
        self._score: _Score = self._predict if infers else self._rerank

    @classmethod
    async def reranker(cls, server: ModelServer, _: str = "") -> Self:
        """Its calls are urgent, since a person waits for a search. Raises ModelApiError."""
        info = await server.info()
        if info.model_type.reranker is None:
            raise ModelApiRefused(SERVICE, f"{info.model_id} is not a reranker")
        return cls(server, info, urgent=True, infers=False)

    @classmethod
    async def classifier(cls, server: ModelServer, _: str = "") -> Self:
        """Raises ModelApiError."""
        info = await server.info()
        labels = info.model_type.classifier.id2label.values() if info.model_type.classifier else ()
        infers = any(label.casefold() == ENTAILMENT for label in labels)
        if not infers and info.model_type.reranker is None:
            raise ModelApiRefused(SERVICE, f"{info.model_id} is neither a reranker nor has it a label {ENTAILMENT}")
        return cls(server, info, urgent=False, infers=infers)

    @property
    def model_id(self) -> str:
        return f"{self._info.name}/{FORM}"

    async def score(self, query: str, passages: Sequence[ModelPassage]) -> Scores:
        """Raises ModelApiError, ModelBusy, ModelClosed."""
        wanted = plain(query)
        texts = [with_headings(passage) for passage in passages]
        scores = np.empty(len(texts), dtype=np.float32)

        async def score(part: slice) -> None:
            scores[part] = await self._score(wanted, texts[part])

        parts = batches(texts, self._info.texts_per_call)
        await all_of((partial(score, part) for part in parts), self._server.config.calls_at_once)
        await self._server.confirm(self._info.name)
        return scores

    async def _rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        body = {"query": query, "texts": texts, "truncate": True, "raw_scores": False}
        answer = await self._server.post("rerank", body, len(texts), Ranks, urgent=self._urgent)
        return [rank.score for rank in by_index(SERVICE, answer.root, len(texts))]

    async def _predict(self, statement: str, texts: Sequence[str]) -> list[float]:
        body = {"inputs": [[text, statement] for text in texts], "truncate": True, "raw_scores": False}
        answer = await self._server.post("predict", body, len(texts), Predictions, urgent=self._urgent)
        scores = [[one.score for one in found if one.label.casefold() == ENTAILMENT] for found in answer.root]
        if len(scores) != len(texts) or any(len(found) != 1 for found in scores):
            raise unusable_answer(SERVICE, f"it does not have exactly one score of {ENTAILMENT} for each text")
        return [score for [score] in scores]
