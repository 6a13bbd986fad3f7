"""Search of the catalog's agent items by a message."""

import asyncio
from collections.abc import Sequence

from proviso_service.context.selection.candidates import Candidate, agent_candidates
from proviso_service.context.selection.embedding import embedded
from proviso_service.context.selection.index import Flags, ItemIndex, Matches, item_chunks, item_words
from proviso_service.context.selection.ports import VectorCache
from proviso_service.context.selection.words import WordIndex
from proviso_service.models import Embedder
from proviso_service.settings import SelectionSettings
from proviso_service.telemetry.spans import NO_SPANS, Spans


class ItemSearch:
    """Keeps the index of the items that were searched last; a change of the catalog embeds only what is new in it."""

    def __init__(
        self, embedder: Embedder, vectors: VectorCache, settings: SelectionSettings, spans: Spans = NO_SPANS
    ) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._settings = settings
        self._spans = spans
        self._building = asyncio.Lock()
        self._kept: tuple[tuple[Candidate, ...], ItemIndex] | None = None

    async def prepare(self, catalog: Sequence[Candidate]) -> None:
        """Embeds what is new among the catalog's agent items, without a time limit, so that the first message finds it
        done. Raises what the embedder and the cache raise."""
        items = agent_candidates(catalog, ())
        if items:
            await self._index(tuple(items))

    async def matches(self, items: Sequence[Candidate], message: str, wanted: Flags) -> Matches:
        """Of those of `items` that are wanted, in order; `wanted` has the shape (len(items),). `items` are not empty
        and should be the same for all sessions, since their index is kept. Raises TimeoutError after the search's time
        limit, and what the embedder and the cache raise."""
        with self._spans.retrieval("catalog"):
            async with asyncio.timeout(self._settings.time_limit_s):
                index = await self._index(tuple(items))
                vector = await self._embedder.embed_query(message)
        return index.matches(message, vector, wanted, self._settings.word_weight, self._settings.top_k)

    async def _index(self, items: tuple[Candidate, ...]) -> ItemIndex:
        if index := self._known(items):
            return index
        async with self._building:
            if index := self._known(items):  # another message had it built meanwhile
                return index
            built = await self._built(items)
            self._kept = items, built
            return built

    def _known(self, items: tuple[Candidate, ...]) -> ItemIndex | None:
        return self._kept[1] if self._kept and self._kept[0] == items else None

    async def _built(self, items: Sequence[Candidate]) -> ItemIndex:
        max_chars = self._settings.chunk_chars
        pieces = await asyncio.to_thread(lambda: [item_chunks(item, max_chars) for item in items])
        words = await asyncio.to_thread(WordIndex.of, [item_words(item) for item in items])
        texts = [text for found in pieces for text in found]
        vectors = await embedded(texts, self._embedder, self._vectors)
        return ItemIndex.of([len(found) for found in pieces], vectors, words)
