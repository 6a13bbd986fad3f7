"""Finds what a search chooses from: the passages that meaning, words or clause numbers bring up."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from proviso_service.matters.model import DocumentHits, StoredChunk
from proviso_service.matters.resident_indexes import ResidentIndexes
from proviso_service.matters.search_index import IndexQuery, MatterIndex, Rows, SearchCandidate
from proviso_service.matters.stores import MatterStore
from proviso_service.matters.wording import ParsedQuery, holds_phrase
from proviso_service.models import Embedder
from proviso_service.reading import clause_ranks, significant_words, telling_words, words_of

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
class Candidates:
    """What a search chooses from, and the documents with passages that hold all of its words. `most_left_out` is the
    highest similarity at which the search may have left out a passage that fits: 1 where words or numbers brought up
    more than was taken, and negative where nothing was left out."""

    found: Sequence[SearchCandidate]
    matching: Sequence[DocumentHits]
    most_left_out: float


class CandidateSearch:
    """Asks the index of a matter for candidates."""

    def __init__(self, store: MatterStore, indexes: ResidentIndexes, embedder: Embedder) -> None:
        self._store = store
        self._indexes = indexes
        self._embedder = embedder

    async def find(self, place: SearchScope, version: int, query: ParsedQuery) -> Candidates:
        """Returns every passage that one of the orders holds, with its similarity, as the matter is at this version or
        a later one."""
        vector = await self._embedder.embed_query(query.text)
        index = await self._indexes.at(place.tenant, place.matter_id, version)
        words = significant_words(query.text)
        asked = IndexQuery(
            vector,
            words or _phrase_words(query),
            telling_words(words) or _phrase_words(query),
            [form for reference in query.references for form in reference.forms],
            CANDIDATES,
            CLAUSE_CANDIDATES,
            await self._inside(place, index, query.phrases),
        )
        answer = await self._indexes.search(place.tenant, place.matter_id, index, asked)
        found = await self._with_clause_ranks(place.tenant, query, answer.found)
        if answer.worded >= CANDIDATES or answer.numbered >= CLAUSE_CANDIDATES:
            return Candidates(found, answer.matching, 1.0)
        # A passage that holds a phrase of the query is found by its words, however far its meaning is.
        is_cut = answer.near >= CANDIDATES and not query.phrases
        return Candidates(found, answer.matching, answer.least_near if is_cut else -1.0)

    async def _inside(self, place: SearchScope, index: MatterIndex, phrases: Sequence[str]) -> Rows | None:
        """Returns the passages that may be found: those of the documents asked for, that hold each phrase. The index
        tells which hold the phrases' words, and the passages' texts decide. None where all may be."""
        inside = index.of_documents(place.document_ids) if place.document_ids else None
        if not phrases:
            return inside
        words = [word for phrase in phrases for word in words_of(phrase)]
        rows = await self._indexes.compute(index.holding, words, inside)
        stored = await self._store.chunks(place.tenant, index.chunk_ids(rows))
        ids = await self._indexes.compute(_ids_holding, phrases, stored)
        return rows[[chunk_id in ids for chunk_id in index.chunk_ids(rows)]]

    async def _with_clause_ranks(
        self, tenant: str, query: ParsedQuery, found: Sequence[SearchCandidate]
    ) -> Sequence[SearchCandidate]:
        if not query.references:
            return found
        chunks = {one.chunk_id: one for one in await self._store.chunks(tenant, [one.chunk_id for one in found])}
        there = [one for one in found if one.chunk_id in chunks]
        ranks = clause_ranks(query.references, [(one.document_id, chunks[one.chunk_id].chunk) for one in there])
        return [replace(one, clause_rank=rank) for one, rank in zip(there, ranks, strict=True)]


def _phrase_words(query: ParsedQuery) -> Sequence[str]:
    """What a search compares when it asks for phrases of words that tell nothing."""
    return [word for phrase in query.phrases for word in words_of(phrase)]


def _ids_holding(phrases: Sequence[str], stored: Sequence[StoredChunk]) -> frozenset[str]:
    return frozenset(one.chunk_id for one in stored if all(holds_phrase(one.chunk.text, phrase) for phrase in phrases))
