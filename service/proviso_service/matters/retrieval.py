"""Hybrid search in a matter, by meaning, by words and by clause numbers; and the search in a tenant's documentation."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from proviso_service.concurrency import with_timeout
from proviso_service.errors import InvalidRequest, MatterNotFound, TooBusy
from proviso_service.language import told_language
from proviso_service.matters.excerpts import Snippets
from proviso_service.matters.model import (
    DOCUMENTATION,
    DocumentHits,
    DocumentStatus,
    EmptyReason,
    FoundSize,
    Matter,
    Outline,
    SearchHit,
    SearchOutcome,
    SearchQuery,
    StoredChunk,
    UnsearchedDocument,
)
from proviso_service.matters.ranking import (
    FLOOR,
    FLOOR_ACROSS_LANGUAGES,
    FLOOR_OF_UNKNOWN_WORDS,
    RankedPassage,
    rank,
    reranked,
    spread,
)
from proviso_service.matters.resident_indexes import ResidentIndexes
from proviso_service.matters.search_index import IndexQuery, MatterIndex, Rows, SearchCandidate
from proviso_service.matters.stores import MatterStore
from proviso_service.matters.validation import matter_or_documentation, uuids_of
from proviso_service.matters.wording import ParsedQuery, holds_phrase, parse_query
from proviso_service.models import Embedder, Reranker
from proviso_service.paging import offset_in
from proviso_service.reading import clause_ranks, significant_words, telling_words, words_of
from proviso_service.telemetry.spans import NO_SPANS, Spans

TIME_LIMIT_S = 30.0
MAX_RUNNING = 32
"""Searches that run at once."""

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
    more than was taken, and negative where nothing was left out. `knows_a_word` says that the matter holds one of the
    words."""

    found: Sequence[SearchCandidate]
    matching: Sequence[DocumentHits]
    most_left_out: float
    knows_a_word: bool = False


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
            return Candidates(found, answer.matching, 1.0, answer.knows_a_word)
        # A passage that holds a phrase of the query is found by its words, however far its meaning is.
        is_cut = answer.near >= CANDIDATES and not query.phrases
        return Candidates(found, answer.matching, answer.least_near if is_cut else -1.0, answer.knows_a_word)

    async def _inside(self, place: SearchScope, index: MatterIndex, phrases: Sequence[str]) -> Rows | None:
        """Returns the passages that may be found: those of the documents asked for, that hold each phrase. The index
        tells which hold the phrases' words, and the passages' texts decide. None where all may be."""
        inside = index.of_documents(place.document_ids) if place.document_ids else None
        if not phrases:
            return inside
        words = [word for phrase in phrases for word in words_of(phrase)]
        rows = await self._indexes.compute(index.holding, words, inside)
        texts = await self._store.texts_of_chunks(place.tenant, index.chunk_ids(rows))
        return await self._indexes.compute(_holding, phrases, index, rows, texts)

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


def _holding(phrases: Sequence[str], index: MatterIndex, rows: Rows, texts: Mapping[str, str]) -> Rows:
    ids = index.chunk_ids(rows)
    return rows[[one in texts and all(holds_phrase(texts[one], phrase) for phrase in phrases) for one in ids]]


class Retriever:
    """Searches the READY documents of a matter, with a bounded number of searches at once."""

    def __init__(
        self,
        store: MatterStore,
        indexes: ResidentIndexes,
        embedder: Embedder,
        reranker: Reranker | None = None,
        spans: Spans = NO_SPANS,
        max_running: int = MAX_RUNNING,
    ) -> None:
        self._store = store
        self._reranker = reranker
        self._spans = spans
        self._candidates = CandidateSearch(store, indexes, embedder)
        self._running = asyncio.Semaphore(max_running)

    async def search(self, tenant: str, query: SearchQuery) -> SearchOutcome:
        """Returns the passages that reach the threshold or were asked for word by word (see below), best first, equal
        ones by their position; none for a query without words, or one that has nothing to do with them (see
        `ranking.FLOOR`). `similarity` is the cosine for each of them, however it was found.

        Every passage holds each phrase that stands in double quotes in the query, word for word; only white space,
        case, and the kind of quotes and hyphens do not count. A clause that the query names ("clause 12.3") comes
        first, then those below it, then what else is near; where the query has another subject too, both count. The
        threshold does not apply to passages with the phrases, in such a clause, or with every significant word of the
        query.

        With a reranker, the best of these passages come in the order of its scores (see `ranking.reranked`); when it
        does not answer, they come as they would without it.

        The documentation is searched like a matter. Raises InvalidRequest, MatterNotFound, and TooBusy when there is no
        answer within the time limit."""
        matter_id = matter_or_documentation("matter_id", query.matter_id)
        place = SearchScope(tenant, matter_id, uuids_of("document_ids", query.document_ids))
        if not query.query.strip():
            raise InvalidRequest.of("query", "must not be blank")
        with self._spans.retrieval("documentation" if matter_id == DOCUMENTATION else "matter") as span:
            outcome = await self._search_in_time(place, query)
            span.set_attribute("proviso.retrieval.results", len(outcome.hits))
            return outcome

    async def _search_in_time(self, place: SearchScope, query: SearchQuery) -> SearchOutcome:
        return await with_timeout(
            TIME_LIMIT_S,
            self._search_when_free(place, query),
            late=lambda: TooBusy("The search took too long; try again shortly", retry_after_s=1.0),
        )

    async def _search_when_free(self, place: SearchScope, query: SearchQuery) -> SearchOutcome:
        """Waits until fewer searches run than are allowed at the same time. Raises MatterNotFound."""
        async with self._running:
            if place.matter_id == DOCUMENTATION:
                version = await _ready_version(self._store, place.tenant)
                return await self._search(place, query, version)
            matter = await self._store.get_matter(place.tenant, place.matter_id)
            outcome = await self._search(place, query, matter.index_version)
            return replace(outcome, not_searched=await self._not_searched(place, matter, outcome))

    async def _search(self, place: SearchScope, query: SearchQuery, index_version: int) -> SearchOutcome:
        scope = _page_scope(place, query, index_version)
        first = offset_in(query.page_token, scope) if query.page_token else 0
        parsed = parse_query(query.query)
        if not index_version or not words_of(parsed.text):  # nothing was ever READY here, or nothing is asked
            candidates = Candidates((), (), -1.0)
        else:
            candidates = await self._candidates.find(place, index_version, parsed)
        floor = FLOOR if candidates.knows_a_word else await self._floor_of_unknown_words(place, parsed.text)
        ranked = rank(candidates.found, query, parsed, floor)
        size = _found_size(candidates, query, len(ranked))
        if not ranked:
            available, processing = await self._filenames(place)
            reason = _empty_reason(candidates.found, query) if available else EmptyReason.NOTHING_SEARCHED
            return SearchOutcome(
                query,
                (),
                tuple(candidates.matching),
                documents_available=available,
                documents_processing=processing,
                size=size,
                empty_reason=reason,
            )
        # The numbers of clauses that a query asks for, and nothing else, say more than a reranker reads in the words.
        reranker = None if parsed.is_reference else self._reranker
        reordered = await self._reranked(reranker, place.tenant, parsed, ranked)
        listed = spread(ranked if reordered is None else reordered, query.max_per_document)
        page = listed[first : first + query.max_results]
        return SearchOutcome(
            query,
            await self._hits(place.tenant, page, query, Snippets(parsed)),
            tuple(candidates.matching),
            reranked=reordered is not None,
            rerank_failed=reranker is not None and reordered is None,
            size=replace(size, total=len(listed)),
            scope=scope,
            first=first,
        )

    async def _floor_of_unknown_words(self, place: SearchScope, text: str) -> float:
        """Returns the floor for a query of which no document holds a word: documents in another language cannot."""
        asked = told_language(text)
        if not asked or place.matter_id == DOCUMENTATION:
            return FLOOR_OF_UNKNOWN_WORDS
        others = await self._store.documents_in_others(place.tenant, place.matter_id, (asked,))
        return FLOOR_ACROSS_LANGUAGES if others else FLOOR_OF_UNKNOWN_WORDS

    async def _reranked(
        self, reranker: Reranker | None, tenant: str, parsed: ParsedQuery, ranked: Sequence[RankedPassage]
    ) -> Sequence[RankedPassage] | None:
        if reranker is None:
            return None
        return await reranked(reranker, parsed, ranked, await self._texts(tenant, ranked[: reranker.most]))

    async def _texts(self, tenant: str, passages: Sequence[RankedPassage]) -> Mapping[str, StoredChunk]:
        stored = await self._store.chunks(tenant, [one.candidate.chunk_id for one in passages])
        return {one.chunk_id: one for one in stored}

    async def _hits(
        self, tenant: str, page: Sequence[RankedPassage], query: SearchQuery, snippets: Snippets
    ) -> tuple[SearchHit, ...]:
        """Returns the page with its texts; without passages that were deleted meanwhile."""
        texts = await self._texts(tenant, page)
        return tuple(
            [
                await self._hit(tenant, one, texts[one.candidate.chunk_id], query, snippets)
                for one in page
                if one.candidate.chunk_id in texts
            ]
        )

    async def _hit(
        self, tenant: str, one: RankedPassage, stored: StoredChunk, query: SearchQuery, snippets: Snippets
    ) -> SearchHit:
        candidate = one.candidate
        before, after = await self._store.neighbours(tenant, stored) if query.include_context else ("", "")
        return SearchHit(
            stored,
            candidate.similarity,
            one.score,
            lexical_match=candidate.lexical is not None,
            lexical_score=candidate.lexical_score,
            snippet=snippets.of(stored.chunk),
            rerank_score=one.rerank_score,
            context_before=before,
            context_after=after,
        )

    async def _not_searched(
        self, place: SearchScope, matter: Matter, outcome: SearchOutcome
    ) -> tuple[UnsearchedDocument, ...]:
        """Returns the documents asked for that are not READY or not there; of a search in the whole matter, those of
        the matter that are not READY."""
        if not place.document_ids and matter.ready_count == matter.document_count:
            return ()
        if place.document_ids and {hit.stored.document_id for hit in outcome.hits}.issuperset(place.document_ids):
            return ()
        documents = await self._store.all_documents(place.tenant, place.matter_id)
        by_id = {document.document_id: document for document in documents}
        asked = {document_id: by_id.get(document_id) for document_id in place.document_ids} or by_id
        return tuple(
            UnsearchedDocument(document_id, document)
            for document_id, document in asked.items()
            if document is None or document.status is not DocumentStatus.READY
        )

    async def _filenames(self, place: SearchScope) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the file names of the documents searched, and of those that are still under way."""
        documents = [
            document
            for document in await self._store.all_documents(place.tenant, place.matter_id)
            if not place.document_ids or document.document_id in place.document_ids
        ]
        return (
            tuple(document.filename for document in documents if document.status is DocumentStatus.READY),
            tuple(document.filename for document in documents if not document.status.is_final),
        )


def _page_scope(place: SearchScope, query: SearchQuery, index_version: int) -> tuple[str, ...]:
    """What the order of the passages depends on."""
    numbers = (str(query.threshold), str(query.semantic_weight), str(query.max_per_document), str(index_version))
    return ("search", place.matter_id, query.query, *numbers, *place.document_ids)


def _found_size(candidates: Candidates, query: SearchQuery, total: int) -> FoundSize:
    best = max((candidate.similarity for candidate in candidates.found), default=0.0)
    return FoundSize(total, is_exact=candidates.most_left_out < query.threshold, best_similarity=best)


def _empty_reason(found: Sequence[SearchCandidate], query: SearchQuery) -> EmptyReason:
    """Tells why none of the candidates may be returned. Without weight, nearness of meaning alone finds nothing."""
    similarities = [
        candidate.similarity
        for candidate in found
        if query.semantic_weight or candidate.lexical is not None or candidate.clause_rank is not None
    ]
    is_below = bool(similarities) and max(similarities) < query.threshold
    return EmptyReason.BELOW_MIN_SCORE if is_below else EmptyReason.NO_MATCH


async def _ready_version(store: MatterStore, tenant: str) -> int:
    """Returns the `index_version` of a tenant's documentation; 0 where there is nothing to find."""
    try:
        documentation = await store.get_matter(tenant, DOCUMENTATION)
    except MatterNotFound:
        return 0
    return documentation.index_version if documentation.ready_count else 0


class Documentation:
    """A tenant's documentation, such as handbooks and policies, as turns and tools use it. Its documents are kept by
    Matters, under the id DOCUMENTATION."""

    def __init__(self, store: MatterStore, retriever: Retriever) -> None:
        self._store = store
        self._retriever = retriever

    async def ready_version(self, tenant: str) -> int:
        """Returns the documentation's `index_version`; 0 where there is nothing to find."""
        return await _ready_version(self._store, tenant)

    async def search(self, tenant: str, query: str, max_results: int, page_token: str = "") -> SearchOutcome:
        """Returns passages that are close to the query, best first; none where there is no documentation. Raises
        InvalidRequest and TooBusy."""
        return await self._retriever.search(
            tenant, SearchQuery(DOCUMENTATION, query, max_results, page_token=page_token)
        )

    async def outlines(self, tenant: str, outcome: SearchOutcome) -> Mapping[str, Outline]:
        """Returns the outlines of the documents that a search found, by their ids."""
        return await self._store.outlines(tenant, sorted({hit.stored.document_id for hit in outcome.hits}))
