"""Search of the catalog's agent items by a message, and the similarity of texts to a message."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Protocol

import numpy as np
import structlog

from proviso_service.concurrency import with_timeout
from proviso_service.context.catalog.catalog import CatalogHolder
from proviso_service.context.catalog.items import CatalogItem
from proviso_service.context.model import content_sha256
from proviso_service.context.selection.config import SelectionConfig
from proviso_service.context.selection.glossary import Glossary
from proviso_service.context.selection.index import (
    Flags,
    ItemIndex,
    Matches,
    WordIndex,
    agent_candidates,
    cosines,
    item_chunks,
    item_words,
)
from proviso_service.errors import TooBusy, Unavailable
from proviso_service.language import ENGLISH, likely_languages
from proviso_service.models import Embedder, Scores, Vectors
from proviso_service.telemetry.spans import NO_SPANS, Spans


class VectorCache(Protocol):
    """Vectors of texts, by the model that made them and the SHA-256 of the text in hexadecimal. It is bounded."""

    async def get(self, model_id: str, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        """The vectors that are in the cache, each of shape (dimensions,)."""
        ...

    async def put(self, model_id: str, vectors: Mapping[str, Vectors]) -> None: ...


_BATCH = 32
"""So many texts are embedded at a time. What is done is kept when a turn's time ends early."""


async def embedded(texts: Sequence[str], embedder: Embedder, cache: VectorCache) -> Vectors:
    """The vectors of the texts, shape (len(texts), dimensions), in order. Texts with the same hash are embedded once.
    `texts` must not be empty. Raises what the embedder raises, and the cache when it is read."""
    by_hash = {content_sha256(text): text for text in texts}
    known = dict(await cache.get(embedder.model_id, list(by_hash)))
    new = [sha256 for sha256 in by_hash if sha256 not in known]
    for start in range(0, len(new), _BATCH):
        batch = new[start : start + _BATCH]
        made = await embedder.embed_documents([by_hash[sha256] for sha256 in batch])
        vectors = dict(zip(batch, made, strict=True))
        with suppress(TooBusy, Unavailable):  # what the cache cannot take now is embedded again another time
            await cache.put(embedder.model_id, vectors)
        known |= vectors
    return np.stack([known[content_sha256(text)] for text in texts])


class ItemSearch:
    """Searches items by a message. It keeps the index of the items that were searched last; after a change of the
    catalog only new texts are embedded."""

    def __init__(
        self, embedder: Embedder, vectors: VectorCache, settings: SelectionConfig, spans: Spans = NO_SPANS
    ) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._settings = settings
        self._spans = spans
        self._building = asyncio.Lock()
        self._kept: tuple[tuple[CatalogItem, ...], ItemIndex] | None = None

    async def prepare(self, catalog: Sequence[CatalogItem]) -> None:
        """Embeds what is new among the catalog's agent items, without a time limit, so that the first message need not
        wait for it. Raises what the embedder and the cache raise."""
        items = agent_candidates(catalog, ())
        if items:
            await self._index(tuple(items))

    async def matches(self, items: Sequence[CatalogItem], message: str, wanted: Flags) -> Matches:
        """The matches of those `items` that are wanted, in order; `wanted` has the shape (len(items),).

        `items` must not be empty, and should be the same for all sessions, since their index is kept. Raises
        TimeoutError after the search's time limit, and what the embedder and the cache raise."""
        with self._spans.retrieval("catalog"):
            found = self._index_and_query(tuple(items), message)
            index, words, vectors = await with_timeout(self._settings.time_limit_s, found)
        return index.matches(words, vectors, wanted, self._settings.word_weight, self._settings.top_k)

    async def _index_and_query(
        self, items: tuple[CatalogItem, ...], message: str
    ) -> tuple[ItemIndex, str, Sequence[Vectors]]:
        """The index, the words of the message, and the vectors of the message and of what it is in English. Where the
        words tell no items apart there are no vectors: by its meaning alone no item of the evaluation was ever taken,
        and embedding a message takes a sixth of a short turn's time."""
        index = await self._index(items)
        likely = likely_languages(message)
        words, texts = message, [message]
        if ENGLISH not in likely:
            said = index.glossary.in_english(message, likely, index.words.has)
            words, texts = said.words, list(said.texts)
        if self._needs_words and not index.words.tell_apart(words):
            return index, words, []
        return index, words, [await self._embedder.embed_query(text) for text in texts]

    @property
    def _needs_words(self) -> bool:
        """Whether words count, but can bring no item over the threshold by themselves."""
        return 0 < self._settings.word_weight < self._settings.min_score

    async def _index(self, items: tuple[CatalogItem, ...]) -> ItemIndex:
        if index := self._known(items):
            return index
        async with self._building:
            if index := self._known(items):  # another message had it built meanwhile
                return index
            built = await self._built(items)
            self._kept = items, built
            return built

    def _known(self, items: tuple[CatalogItem, ...]) -> ItemIndex | None:
        return self._kept[1] if self._kept and self._kept[0] == items else None

    async def _built(self, items: Sequence[CatalogItem]) -> ItemIndex:
        max_chars = self._settings.chunk_chars
        pieces = await asyncio.to_thread(lambda: [item_chunks(item, max_chars) for item in items])
        words = await asyncio.to_thread(WordIndex.of, [item_words(item) for item in items])
        glossary = await asyncio.to_thread(Glossary.read)
        texts = [text for found in pieces for text in found]
        vectors = await embedded(texts, self._embedder, self._vectors)
        return ItemIndex.of([len(found) for found in pieces], vectors, words, glossary)


class TextSimilarity:
    """Compares texts with a message by meaning. The vectors of the texts are kept, those of messages are not."""

    def __init__(self, embedder: Embedder, vectors: VectorCache) -> None:
        self._embedder = embedder
        self._vectors = vectors

    async def scores(self, message: str, texts: Sequence[str]) -> Scores:
        """How similar each text is to the message: shape (len(texts),), in order, each in [0, 1]. `texts` must not be
        empty. There is no time limit. Raises what the embedder and the cache raise."""
        vector = await self._embedder.embed_query(message)
        return cosines(await embedded(texts, self._embedder, self._vectors), vector)


_log = structlog.get_logger(__name__)


@asynccontextmanager
async def keep_prepared(
    catalog: CatalogHolder, search: ItemSearch, *then: Callable[[], Awaitable[None]]
) -> AsyncIterator[None]:
    """While the context is open, new items of the catalog are embedded whenever the catalog changes, so that no message
    has to wait for it; and once, after the first ones, what `then` prepares. A failure is logged, and the next message
    tries again."""
    task = asyncio.create_task(_prepare(catalog, search, then), name="agent items")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _prepare(catalog: CatalogHolder, search: ItemSearch, then: Sequence[Callable[[], Awaitable[None]]]) -> None:
    left = list(then)
    while True:
        current = await catalog.changed()
        try:
            await search.prepare(current.items)
            while left:
                await left[0]()
                del left[0]
        except Exception as error:
            _log.warning("agent_items_not_prepared", error=type(error).__name__)
