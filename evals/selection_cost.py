"""Measures the time that selecting among a thousand items takes for a message."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import cycle

import numpy as np

from evals.selection_data import agent_item, load_labelled
from proviso_service.backends.memory import MemoryVectorCache
from proviso_service.context.catalog.items import CatalogItem
from proviso_service.context.selection.config import SelectionConfig
from proviso_service.context.selection.request_items import HeldItems, build_request_items
from proviso_service.context.selection.search import ItemSearch
from proviso_service.models import Embedder, Vectors

ITEMS = 1_000
ROUNDS = 50


class SpreadEmbedder:
    """Embeds messages by the model. Items get random vectors: embedding a thousand of them would take half a minute,
    and the measured time does not depend on their values. `query_s` is the time of the last message's embedding in
    seconds."""

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._random = np.random.default_rng(7)
        self.model_id = "spread"
        self.dimensions = model.dimensions
        self.query_s = 0.0

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        drawn = self._random.standard_normal((len(texts), self.dimensions), dtype=np.float32)
        unit: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return unit

    async def embed_query(self, text: str) -> Vectors:
        started = time.perf_counter()
        vector = await self._model.embed_query(text)
        self.query_s = time.perf_counter() - started
        return vector


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds for each message, with and without the embedding of the message: median and 95th percentile."""

    chunks: int
    whole_ms: tuple[float, float]
    after_embedding_ms: tuple[float, float]

    def text(self) -> str:
        return (
            f"{ITEMS:,} items, {self.chunks:,} chunks, median (95th percentile) of {ROUNDS} messages: "
            f"{self.whole_ms[0]:.1f} ({self.whole_ms[1]:.1f}) ms in all, "
            f"{self.after_embedding_ms[0]:.1f} ({self.after_embedding_ms[1]:.1f}) ms without the message's embedding."
        )

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


async def measure_cost(model: Embedder) -> Cost:
    labelled = load_labelled()
    items = _many(labelled.items)
    embedder, vectors, settings = SpreadEmbedder(model), MemoryVectorCache(20_000), SelectionConfig()
    search = ItemSearch(embedder, vectors, settings)
    await search.prepare(items)
    whole, rest = [], []
    for round_ in range(ROUNDS):
        message = labelled.messages[round_ % len(labelled.messages)].text
        started = time.perf_counter()
        await build_request_items(HeldItems.of((), items), message, search, settings)
        whole.append(time.perf_counter() - started)
        rest.append(whole[-1] - embedder.query_s)
        await asyncio.sleep(0)
    return Cost(len(vectors), _median_and_tail(whole), _median_and_tail(rest))


def _many(items: Sequence[CatalogItem]) -> list[CatalogItem]:
    """The catalog repeated many times, each time with other texts."""
    return [
        agent_item(
            replace(item.ref, name=f"item-{number}"),
            f"{item.description}, variant {number}",
            f"{item.content}\n\nVariant {number}.",
        )
        for number, item in zip(range(ITEMS), cycle(items), strict=False)
    ]


def _median_and_tail(seconds: Sequence[float]) -> tuple[float, float]:
    median, tail = np.percentile(seconds, (50, 95))
    return 1_000 * float(median), 1_000 * float(tail)
