"""Catalogs of a few items, and an embedder that gives every text the vector it is told."""

from collections.abc import Mapping, Sequence

import numpy as np

from proviso_service.backends.memory import MemoryVectorCache
from proviso_service.context.catalog.items import CatalogItem, EffectiveMode, IncludeModeSource
from proviso_service.context.model import IncludeMode, ItemRef, ItemType, SessionItem
from proviso_service.context.selection.config import SelectionConfig
from proviso_service.context.selection.request_items import HeldItems, RequestItems, build_request_items
from proviso_service.context.selection.search import ItemSearch
from proviso_service.models import Embedder, Vectors

BY_MEANING = SelectionConfig(time_limit_s=60, word_weight=0, min_score=0.5, max_distance=1)
"""A score is the cosine."""


def catalog_item(
    ref: ItemRef,
    include_mode: IncludeMode = IncludeMode.AGENT,
    description: str = "",
    content: str = "",
    priority: int = 0,
    enabled: bool = True,
) -> CatalogItem:
    """An item of the catalog whose include mode was set on the item itself."""
    mode = EffectiveMode(include_mode, IncludeModeSource.ITEM)
    return CatalogItem.of(ref, description, content, mode, priority=priority, enabled=enabled)


class ToldEmbedder:
    """The Embedder port. `cosines` are those of texts with every message; other texts have none. A
    message that is a key of `by_message` has cosines of its own."""

    model_id = "told"

    def __init__(
        self, cosines: Mapping[str, float], by_message: Mapping[str, Mapping[str, float]] | None = None
    ) -> None:
        self._texts = sorted({*cosines, *(text for told in (by_message or {}).values() for text in told)})
        self._cosines = cosines
        self._by_message = by_message or {}
        self.dimensions = len(self._texts) + 1
        self.embedded: list[str] = []

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        return np.stack([self._unit(text) for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        """Not of unit length: its product with a text's unit vector is the cosine that was told."""
        told = self._by_message.get(text, self._cosines)
        return np.array([*(told.get(one, 0.0) for one in self._texts), 0.0], dtype=np.float32)

    def _unit(self, text: str) -> Vectors:
        place = self._texts.index(text) if text in self._texts else len(self._texts)
        unit: Vectors = np.eye(self.dimensions, dtype=np.float32)[place]
        return unit


def rule(name: str) -> ItemRef:
    return ItemRef(ItemType.RULE, name)


def reference(name: str) -> ItemRef:
    return ItemRef(ItemType.REFERENCE, name)


def tool(server_name: str, name: str) -> ItemRef:
    return ItemRef(ItemType.TOOL, name, server_name)


def search_of(embedder: Embedder, settings: SelectionConfig = BY_MEANING) -> ItemSearch:
    return ItemSearch(embedder, MemoryVectorCache(1_000), settings)


async def built(
    session: Sequence[SessionItem],
    catalog: Sequence[CatalogItem],
    embedder: Embedder,
    message: str = "message",
    settings: SelectionConfig = BY_MEANING,
) -> RequestItems:
    return await build_request_items(HeldItems.of(session, catalog), message, search_of(embedder, settings), settings)
