"""Search of the catalog's agent items by a message."""

import asyncio
import hashlib
from collections.abc import Sequence

import numpy as np

from proviso_service.context.selection.candidates import Candidate, agent_candidates
from proviso_service.context.selection.index import Flags, ItemIndex, Matches, item_chunks, item_words
from proviso_service.context.selection.ports import VectorCache
from proviso_service.context.selection.words import WordIndex
from proviso_service.models.ports import Embedder, Vectors
from proviso_service.settings import SelectionSettings

_BATCH = 32
"""Chunks embedded at a time: what is done of a large catalog is kept when a turn's time is over."""


class ItemSearch:
    """Keeps the index of the items that were searched last; a change of the catalog embeds only what is new in it."""

    def __init__(self, embedder: Embedder, vectors: VectorCache, settings: SelectionSettings) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._settings = settings
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
        vectors = await self._embedded([text for found in pieces for text in found])
        return ItemIndex.of([len(found) for found in pieces], vectors, words)

    async def _embedded(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions), in order; each text is embedded once for its hash."""
        by_hash = {_sha256(text): text for text in texts}
        known = dict(await self._vectors.get(self._embedder.model_id, list(by_hash)))
        new = [sha256 for sha256 in by_hash if sha256 not in known]
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            made = await self._embedder.embed_documents([by_hash[sha256] for sha256 in batch])
            vectors = dict(zip(batch, made, strict=True))
            await self._vectors.put(self._embedder.model_id, vectors)
            known |= vectors
        return np.stack([known[_sha256(text)] for text in texts])


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
