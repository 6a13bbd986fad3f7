"""Tests of RecentQueries, by an embedder that tells what it was asked."""

from collections.abc import Sequence

import numpy as np

from proviso_service.backends.memory import RecentQueries
from proviso_service.models import Vectors


class AskedEmbedder:
    """Gives a text the vector of its length."""

    model_id = "asked"
    dimensions = 1

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text)] for text in texts], dtype=np.float32)

    async def embed_query(self, text: str) -> Vectors:
        vector: Vectors = (await self.embed_documents([text]))[0]
        return vector


async def test_a_query_is_embedded_once() -> None:
    model = AskedEmbedder()
    queries = RecentQueries(model)
    vectors = [float((await queries.embed_query(text))[0]) for text in ("who", "where", "who", "where")]
    assert vectors == [3, 5, 3, 5]
    assert model.asked == ["who", "where"]


async def test_the_query_that_was_asked_longest_ago_is_forgotten() -> None:
    model = AskedEmbedder()
    queries = RecentQueries(model, max_queries=2)
    for text in ("who", "where", "who", "when", "who", "where"):
        await queries.embed_query(text)
    assert model.asked == ["who", "where", "when", "where"]


async def test_documents_are_embedded_each_time() -> None:
    model = AskedEmbedder()
    queries = RecentQueries(model)
    for _ in range(2):
        await queries.embed_documents(["who"])
    assert model.asked == ["who", "who"]
