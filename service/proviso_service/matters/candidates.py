"""Finds what a search chooses from: the passages that meaning, words or clause numbers bring up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from proviso_service.concurrency import together
from proviso_service.matters.model import StoredChunk
from proviso_service.matters.stores import LexicalHit, MatterStore, VectorHit, VectorIndex
from proviso_service.matters.wording import ParsedQuery, holds_phrase
from proviso_service.models import Embedder, Vectors
from proviso_service.reading import clause_ranks

CANDIDATES = 100
"""The most passages taken by meaning, and the most taken by words, before the two orders are fused."""

CLAUSE_CANDIDATES = 300
"""The most passages taken by clause numbers; in a matter of many contracts, most have a clause of any low number."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Where a search looks. Empty `document_ids` mean the whole matter."""

    tenant: str
    matter_id: str
    document_ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SearchCandidate:
    """A passage that was found. `similarity` is the cosine, in [0, 1]; `clause_rank` counts from 0 among the clauses
    that the query names."""

    stored: StoredChunk
    similarity: float
    lexical: LexicalHit | None
    clause_rank: int | None = None

    @property
    def position(self) -> tuple[str, str, int]:
        return (self.stored.filename, self.stored.document_id, self.stored.chunk.ordinal)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a search chooses from. `most_left_out` is the highest similarity at which the stores may have left out a
    passage that fits: 1 where words or numbers brought up more than was taken, and negative where nothing was left
    out."""

    found: Sequence[SearchCandidate]
    most_left_out: float


class CandidateSearch:
    """Asks the stores for candidates."""

    def __init__(self, store: MatterStore, vectors: VectorIndex, embedder: Embedder) -> None:
        self._store = store
        self._vectors = vectors
        self._embedder = embedder

    async def find(self, place: SearchScope, query: ParsedQuery) -> Candidates:
        """Returns every passage that one of the orders holds, with its similarity. For passages that were found by
        words or numbers alone, the similarity is computed from their stored embeddings."""
        (vector, near), (worded, numbered) = await together(self._near(place, query), self._named(place, query))
        ids = dict.fromkeys([*(hit.chunk_id for hit in near), *worded, *numbered])
        found = _holding(query.phrases, await self._store.chunks(place.tenant, list(ids)))
        similarity = {hit.chunk_id: hit.similarity for hit in near}
        similarity |= await self._similarity_of(
            place.tenant, vector, [stored for stored in found if stored.chunk_id not in similarity]
        )
        ranks = clause_ranks(query.references, [(stored.document_id, stored.chunk) for stored in found])
        candidates = [
            SearchCandidate(
                stored, min(max(similarity[stored.chunk_id], 0.0), 1.0), worded.get(stored.chunk_id), clause_rank=rank
            )
            for stored, rank in zip(found, ranks, strict=True)
        ]
        if len(worded) >= CANDIDATES or len(numbered) >= CLAUSE_CANDIDATES:
            return Candidates(candidates, 1.0)
        # A passage that holds a phrase of the query is found by its words, however far its meaning is.
        is_cut = len(near) >= CANDIDATES and not query.phrases
        return Candidates(candidates, min(hit.similarity for hit in near) if is_cut else -1.0)

    async def _near(self, place: SearchScope, query: ParsedQuery) -> tuple[Vectors, Sequence[VectorHit]]:
        """Returns the query's vector, and the passages that are near it."""
        vector = await self._embedder.embed_query(query.text)
        near = await self._vectors.search(place.tenant, place.matter_id, vector, CANDIDATES, place.document_ids)
        return vector, near

    async def _named(self, place: SearchScope, query: ParsedQuery) -> tuple[Mapping[str, LexicalHit], Sequence[str]]:
        """Returns the passages that are found by words, and the ids of those found by clause numbers."""
        return await self._worded(place, query), await self._numbered(place, query)

    async def _worded(self, place: SearchScope, query: ParsedQuery) -> Mapping[str, LexicalHit]:
        hits = await self._store.search_words(
            place.tenant, place.matter_id, query.text, CANDIDATES, place.document_ids, query.phrases
        )
        return {hit.chunk_id: hit for hit in hits}

    async def _numbered(self, place: SearchScope, query: ParsedQuery) -> Sequence[str]:
        numbers = [form for reference in query.references for form in reference.forms]
        if not numbers:
            return ()
        return await self._store.search_clauses(
            place.tenant, place.matter_id, numbers, CLAUSE_CANDIDATES, place.document_ids
        )

    async def _similarity_of(
        self, tenant: str, vector: Vectors, passages: Sequence[StoredChunk]
    ) -> Mapping[str, float]:
        """Returns cosines by chunk id; 0 for a passage that was embedded by another model."""
        hashes = {stored.chunk_id: stored.chunk.content_sha256 for stored in passages}
        known = await self._store.known_embeddings(tenant, self._embedder.model_id, list(set(hashes.values())))
        return {
            chunk_id: float(np.dot(known[sha256], vector)) if sha256 in known else 0.0
            for chunk_id, sha256 in hashes.items()
        }


def _holding(phrases: Sequence[str], found: Sequence[StoredChunk]) -> Sequence[StoredChunk]:
    if not phrases:
        return found
    return [stored for stored in found if all(holds_phrase(stored.chunk.text, phrase) for phrase in phrases)]
