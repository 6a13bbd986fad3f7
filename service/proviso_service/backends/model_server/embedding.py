"""The embedders of a model server; they implement the protocol Embedder of `models`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from proviso_service.backends.hosted_calls import unusable_answer
from proviso_service.backends.hosted_texts import batches, by_index, plain, unit_vectors
from proviso_service.backends.model_server.client import (
    SERVICE,
    Embedded,
    Info,
    ModelServer,
    NamedEmbeddings,
    other_model,
)
from proviso_service.concurrency import all_of
from proviso_service.errors import ModelApiRefused
from proviso_service.models import Vectors

QUERY_PROMPTS = ("query",)
DOCUMENT_PROMPTS = ("document", "passage", "corpus")
"""The names under which models of Sentence Transformers have the words that go before a query and before a text."""

_PROBE = ["A clause."]

Embeddings = Sequence[Sequence[float]]


class ServerEmbedder(ABC):
    """Embeds texts on a model server."""

    def __init__(self, server: ModelServer, name: str, texts_per_call: int) -> None:
        self.dimensions = 0
        self._server = server
        self._name = name
        self._texts_per_call = texts_per_call

    @classmethod
    async def start(cls, server: ModelServer, model: str) -> "ServerEmbedder":
        """Asks the server what it serves, and embeds a few words, since nothing else tells the number of dimensions.
        A model that is named is asked for over OpenAI's API. Raises ModelApiError."""
        embedder = OpenAiEmbedder(server, model) if model else TeiEmbedder(server, await server.info())
        await embedder.probe()
        return embedder

    @property
    def model_id(self) -> str:
        return f"{self._name}/{self.dimensions}"

    async def probe(self) -> None:
        [embedding] = await self._ask(_PROBE, is_query=True)
        self.dimensions = len(embedding)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Raises ModelApiError, ModelBusy, ModelClosed."""
        words = [plain(text) for text in texts]
        vectors = np.empty((len(words), self.dimensions), dtype=np.float32)

        async def embed(part: slice) -> None:
            vectors[part] = unit_vectors(SERVICE, await self._ask(words[part], is_query=False), self.dimensions)

        parts = batches(words, self._texts_per_call)
        await all_of((partial(embed, part) for part in parts), self._server.config.calls_at_once)
        await self._confirm()
        return vectors

    async def embed_query(self, text: str) -> Vectors:
        """Raises ModelApiError, ModelBusy, ModelClosed."""
        found = await self._ask([plain(text)], is_query=True)
        await self._confirm()
        vector: Vectors = unit_vectors(SERVICE, found, self.dimensions)[0]
        return vector

    @abstractmethod
    async def _ask(self, texts: Sequence[str], *, is_query: bool) -> Embeddings:
        """As many embeddings as texts."""

    @abstractmethod
    async def _confirm(self) -> None:
        """Raises ModelApiRefused where the server has another model by now."""


class TeiEmbedder(ServerEmbedder):
    """Over the API of text-embeddings-inference. A text that is longer than the model's context is cut at its end. The
    model's own words for queries and for texts go before them, where it has any."""

    def __init__(self, server: ModelServer, info: Info) -> None:
        super().__init__(server, info.name, info.texts_per_call)
        if info.model_type.embedding is None:
            raise ModelApiRefused(SERVICE, f"{info.model_id} is not a model of embeddings")
        self._query_prompt: str | None = None
        self._document_prompt: str | None = None

    async def probe(self) -> None:
        await super().probe()
        self._query_prompt = await self._prompt(QUERY_PROMPTS)
        self._document_prompt = await self._prompt(DOCUMENT_PROMPTS)

    async def _ask(self, texts: Sequence[str], *, is_query: bool) -> Embeddings:
        prompt = self._query_prompt if is_query else self._document_prompt
        answer = await self._embed(texts, prompt, len(texts), urgent=is_query)
        if len(answer) != len(texts):
            raise unusable_answer(SERVICE, "it does not have exactly one result for each text")
        return answer

    async def _confirm(self) -> None:
        await self._server.confirm(self._name)

    async def _embed(self, texts: Sequence[str], prompt: str | None, count: int, *, urgent: bool) -> Embeddings:
        body: dict[str, Any] = {"inputs": texts, "truncate": True} | ({"prompt_name": prompt} if prompt else {})
        return (await self._server.post("embed", body, count, Embedded, urgent=urgent)).root

    async def _prompt(self, names: Sequence[str]) -> str | None:
        """The first of these prompts that the model has, which only asking for it tells."""
        for name in names:
            try:
                await self._embed(_PROBE, name, 0, urgent=True)
            except ModelApiRefused:
                continue
            return name
        return None


class OpenAiEmbedder(ServerEmbedder):
    """Over OpenAI's API, which has no prompts, and no limits that could be asked for. Its answers name their model."""

    def __init__(self, server: ModelServer, model: str) -> None:
        super().__init__(server, f"openai/{model}", server.config.texts_per_call)
        self._model = model
        self._answering = ""

    async def _ask(self, texts: Sequence[str], *, is_query: bool) -> Embeddings:
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        answer = await self._server.post("embeddings", body, len(texts), NamedEmbeddings, urgent=is_query)
        self._answering = self._answering or answer.model
        if answer.model != self._answering:
            raise other_model(answer.model, self._answering)
        return [one.embedding for one in by_index(SERVICE, answer.data, len(texts))]

    async def _confirm(self) -> None:
        """Each answer has been looked at."""
