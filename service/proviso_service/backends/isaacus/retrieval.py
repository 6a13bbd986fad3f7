"""Isaacus's embedder and reranker; they implement the protocols Embedder and Reranker of `models`."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from proviso_service.backends.hosted_texts import FORM, batches, by_index, plain, unit_vectors
from proviso_service.backends.isaacus.client import (
    ApiCall,
    Embeddings,
    IsaacusClient,
    IsaacusConfig,
    Rerankings,
    TextScore,
)
from proviso_service.backends.isaacus.failures import SERVICE
from proviso_service.backends.isaacus.passages import score_all
from proviso_service.concurrency import all_of
from proviso_service.models import MOST_RERANKED, ModelPassage, Scores, Vectors

EMBEDDING = "embeddings"


def embedder_id(settings: IsaacusConfig) -> str:
    """The model id of the embedder that these settings describe; vectors are stored under it."""
    return f"isaacus/{settings.embedder_model}/{settings.dimensions}"


class IsaacusEmbedder:
    """Embeds texts over Isaacus's API. A text that is longer than the model's context is cut at its end."""

    def __init__(self, client: IsaacusClient, settings: IsaacusConfig) -> None:
        self._client = client
        self._settings = settings

    @property
    def model_id(self) -> str:
        return embedder_id(self._settings)

    @property
    def dimensions(self) -> int:
        return self._settings.dimensions

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Raises ModelApiError, ModelBusy, ModelClosed."""
        words = [plain(text) for text in texts]
        vectors = np.empty((len(words), self.dimensions), dtype=np.float32)

        async def embed(part: slice) -> None:
            vectors[part] = await self._embed(words[part], "retrieval/document", urgent=False)

        await all_of(
            (partial(embed, part) for part in batches(words, self._settings.texts_per_call)), self._client.calls_at_once
        )
        return vectors

    async def embed_query(self, text: str) -> Vectors:
        """Raises ModelApiError, ModelBusy, ModelClosed."""
        vector: Vectors = (await self._embed([plain(text)], "retrieval/query", urgent=True))[0]
        return vector

    async def _embed(self, texts: Sequence[str], task: str, *, urgent: bool) -> Vectors:
        request: dict[str, Any] = {
            "model": self._settings.embedder_model,
            "texts": texts,
            "task": task,
            "overflow_strategy": "drop_end",
            "dimensions": self.dimensions,
        }
        send = partial(self._client.sdk.embeddings.with_raw_response.create, **request)
        answer = await self._client.call(ApiCall(EMBEDDING, send, texts, urgent=urgent), Embeddings)
        ordered = by_index(SERVICE, answer.embeddings, len(texts))
        return unit_vectors(SERVICE, [one.embedding for one in ordered], self.dimensions)


RERANKING = "rerankings"


class IsaacusReranker:
    """Scores passages by a search query over Isaacus's API. Its calls are urgent, since a person waits for a search."""

    most = MOST_RERANKED

    def __init__(self, client: IsaacusClient, settings: IsaacusConfig) -> None:
        self._client = client
        self._model = settings.reranker_model
        self._texts_per_call = settings.texts_per_call

    @property
    def model_id(self) -> str:
        return f"isaacus/{self._model}/{FORM}"

    async def score(self, query: str, passages: Sequence[ModelPassage]) -> Scores:
        """Raises ModelApiError, ModelBusy, ModelClosed."""
        ask = partial(self._ask, plain(query))
        return await score_all(self._client, passages, self._texts_per_call, ask)

    async def _ask(self, query: str, texts: Sequence[str]) -> Sequence[TextScore]:
        request: dict[str, Any] = {
            "model": self._model,
            "query": query,
            "texts": texts,
            "top_n": None,
            "is_iql": False,
            "scoring_method": "auto",
            "chunking_options": None,  # passages are chunks already
        }
        send = partial(self._client.sdk.rerankings.with_raw_response.create, **request)
        answer = await self._client.call(ApiCall(RERANKING, send, texts, query, urgent=True), Rerankings)
        return answer.results
