"""Hybrid search in a matter: by meaning and by words, fused."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from proviso_service.errors import InvalidRequest, TooBusy
from proviso_service.matters.fusion import fused_score
from proviso_service.matters.identifiers import uuid_of, uuids_of
from proviso_service.matters.model import DocumentStatus, SearchHit, SearchOutcome, SearchQuery, StoredChunk
from proviso_service.matters.ports import LexicalHit, MatterStore, VectorIndex
from proviso_service.models.ports import Embedder, Vectors
from proviso_service.settings import DocumentSettings

CANDIDATES = 100
"""Passages taken from either search before they are fused."""

TIME_LIMIT_S = 30.0


@dataclass(frozen=True, slots=True)
class _Candidate:
    stored: StoredChunk
    similarity: float
    lexical: LexicalHit | None

    @property
    def position(self) -> tuple[str, str, int]:
        return (self.stored.filename, self.stored.document_id, self.stored.chunk.ordinal)


class Retriever:
    """Searches the READY documents of a matter; a bounded number of searches at once."""

    def __init__(
        self, store: MatterStore, vectors: VectorIndex, embedder: Embedder, settings: DocumentSettings
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._embedder = embedder
        self._running = asyncio.Semaphore(settings.max_searches_running)

    async def search(self, tenant: str, query: SearchQuery) -> SearchOutcome:
        """Passages that reach the threshold, or hold every significant word of the query, best first; equal ones by
        their position. `similarity` is the cosine for each of them, however it was found.

        Raises InvalidRequest, MatterNotFound, and TooBusy when there is no answer within the time limit."""
        matter_id = uuid_of("matter_id", query.matter_id)
        document_ids = uuids_of("document_ids", query.document_ids)
        if not query.query.strip():
            raise InvalidRequest.of("query", "must not be blank")
        try:
            async with asyncio.timeout(TIME_LIMIT_S), self._running:
                await self._store.get_matter(tenant, matter_id)
                return await self._search(tenant, matter_id, document_ids, query)
        except TimeoutError as error:
            raise TooBusy("The search took too long; try again shortly", retry_after_s=1.0) from error

    async def _search(
        self, tenant: str, matter_id: str, document_ids: Sequence[str], query: SearchQuery
    ) -> SearchOutcome:
        candidates = await self._candidates(tenant, matter_id, document_ids, query.query)
        best = list(islice(_spread(_ranked(candidates, query), query.max_per_document), query.max_results))
        hits = [await self._hit(tenant, candidate, score, query) for score, candidate in best]
        matching = await self._store.documents_matching(tenant, matter_id, query.query, document_ids)
        if hits:
            return SearchOutcome(query, tuple(hits), tuple(matching))
        available, processing = await self._filenames(tenant, matter_id, document_ids)
        return SearchOutcome(query, (), tuple(matching), documents_available=available, documents_processing=processing)

    async def _candidates(
        self, tenant: str, matter_id: str, document_ids: Sequence[str], text: str
    ) -> Sequence[_Candidate]:
        """What either search found, with the similarity of all: that of passages found by their words alone is computed
        from their stored embeddings."""
        vector = await self._embedder.embed_query(text)
        near = await self._vectors.search(tenant, matter_id, vector, CANDIDATES, document_ids)
        worded = {
            hit.chunk_id: hit
            for hit in await self._store.search_words(tenant, matter_id, text, CANDIDATES, document_ids)
        }
        similarity = {hit.chunk_id: hit.similarity for hit in near}
        found = await self._store.chunks(tenant, list(similarity | dict.fromkeys(worded, 0.0)))
        similarity |= await self._similarity_of(tenant, vector, [s for s in found if s.chunk_id not in similarity])
        return [
            _Candidate(stored, min(max(similarity[stored.chunk_id], 0.0), 1.0), worded.get(stored.chunk_id))
            for stored in found
        ]

    async def _similarity_of(
        self, tenant: str, vector: Vectors, passages: Sequence[StoredChunk]
    ) -> Mapping[str, float]:
        """Cosines by chunk id; 0 for a passage that was embedded by another model."""
        hashes = {stored.chunk_id: stored.chunk.content_sha256 for stored in passages}
        known = await self._store.known_embeddings(tenant, self._embedder.model_id, list(set(hashes.values())))
        return {
            chunk_id: float(np.dot(known[sha256], vector)) if sha256 in known else 0.0
            for chunk_id, sha256 in hashes.items()
        }

    async def _hit(self, tenant: str, candidate: _Candidate, score: float, query: SearchQuery) -> SearchHit:
        before, after = await self._store.neighbours(tenant, candidate.stored) if query.include_context else ("", "")
        return SearchHit(
            candidate.stored,
            candidate.similarity,
            score,
            lexical_match=candidate.lexical is not None,
            context_before=before,
            context_after=after,
        )

    async def _filenames(
        self, tenant: str, matter_id: str, document_ids: Sequence[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of the documents searched, and of those still under way."""
        documents = [
            document
            for document in await self._store.all_documents(tenant, matter_id)
            if not document_ids or document.document_id in document_ids
        ]
        return (
            tuple(document.filename for document in documents if document.status is DocumentStatus.READY),
            tuple(document.filename for document in documents if not document.status.is_final),
        )


def _ranked(candidates: Sequence[_Candidate], query: SearchQuery) -> list[tuple[float, _Candidate]]:
    """With their scores, best first. Those below the threshold are left out after the fusion, so that it does not move
    the others."""
    by_meaning = sorted(candidates, key=lambda candidate: (-candidate.similarity, candidate.position))
    scored = [
        (fused_score(rank, candidate.lexical.rank if candidate.lexical else None, query.semantic_weight), candidate)
        for rank, candidate in enumerate(by_meaning)
    ]
    kept = [(score, candidate) for score, candidate in scored if score > 0 and _is_relevant(candidate, query)]
    return sorted(kept, key=lambda pair: (-pair[0], pair[1].position))


def _spread(ranked: Sequence[tuple[float, _Candidate]], max_per_document: int) -> Iterator[tuple[float, _Candidate]]:
    """At most so many of one document: the best of each document first, then the second best, each in their order. 0
    sets no limit and leaves the order alone."""
    taken = Counter[str]()
    rounds: list[list[tuple[float, _Candidate]]] = [[] for _ in range(max_per_document or 1)]
    for score, candidate in ranked:
        document_id = candidate.stored.document_id
        if taken[document_id] < len(rounds) or not max_per_document:
            rounds[taken[document_id] if max_per_document else 0].append((score, candidate))
        taken[document_id] += 1
    return chain.from_iterable(rounds)


def _is_relevant(candidate: _Candidate, query: SearchQuery) -> bool:
    holds_all_words = candidate.lexical is not None and candidate.lexical.all_terms
    return holds_all_words or candidate.similarity >= query.threshold
