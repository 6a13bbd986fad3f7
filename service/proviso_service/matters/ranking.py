"""Orders what a search found and chooses what it returns: fusion of the orders by meaning, by words and by clause
numbers (reciprocal rank fusion), the threshold, the floor, and a second look by a reranker."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import structlog

from proviso_service.concurrency import with_timeout
from proviso_service.errors import ProvisoError
from proviso_service.matters.model import DEFAULT_THRESHOLD, SearchQuery, StoredChunk
from proviso_service.matters.search_index import SearchCandidate
from proviso_service.matters.wording import ParsedQuery
from proviso_service.models import ModelPassage, Reranker

RANK_OFFSET = 10
"""The smaller it is, the more the first ranks stand out. Measured on labelled contracts, anything from 5 to 60 finds as
much among the first five and ten; smaller values put the right passage first a little more often (evals/README.md)."""

CLAUSE_WEIGHT = 1.0
"""The weight of the order by clause numbers: a clause that the query names is worth as much as a passage that is first
both by meaning and by words, whose weights add up to 1."""

FLOOR = 0.3
FLOOR_OF_UNKNOWN_WORDS = 0.36
FLOOR_ACROSS_LANGUAGES = 0.22
"""How near in meaning the nearest passage must be for a search to find anything where words do not show that the query
is about the matter; the second where the matter holds none of its words, since random letters come up to 0.36 near; the
third where it has documents in another language than the query, which hold none and are less near. Measured on labelled
contracts (evals/README.md)."""

ENOUGH_WORDS = 2
ENOUGH_OF_THE_WORDS = 0.5
"""A passage that holds so many of the query's telling words, or such a share, is found by its words."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where a passage stands in each order, counted from 0; None in an order that does not hold it."""

    meaning: int | None
    words: int | None
    clause: int | None = None


def fused_score(ranks: Ranks, semantic_weight: float) -> float:
    """Returns the fused score, higher for better passages; `semantic_weight` is that of meaning against words, in [0,
    1]."""
    return (
        _part(ranks.meaning, semantic_weight)
        + _part(ranks.words, 1 - semantic_weight)
        + _part(ranks.clause, CLAUSE_WEIGHT)
    )


def clause_first_score(ranks: Ranks, semantic_weight: float, clause_ranks: int) -> float:
    """Returns the score for a query that asks for clauses and nothing else: the order is that by clause numbers, which
    has `clause_ranks` ranks, and meaning and words only decide between equals."""
    rest = fused_score(Ranks(ranks.meaning, ranks.words), semantic_weight)
    # A step from one clause rank to the next outweighs anything that meaning and words can add up to.
    step = 2 / (RANK_OFFSET + 1)
    return rest + (0.0 if ranks.clause is None else (clause_ranks - ranks.clause) * step)


def _part(rank: int | None, weight: float) -> float:
    return 0.0 if rank is None else weight / (RANK_OFFSET + 1 + rank)


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage with its fused `score`; `rerank_score` is there when a reranker has looked at it."""

    candidate: SearchCandidate
    score: float
    rerank_score: float | None = None


def spread(ranked: Sequence[RankedPassage], max_per_document: int) -> list[RankedPassage]:
    """Returns the passages of the search's result on all its pages, best first."""
    return list(_spread(ranked, max_per_document))


def rank(
    candidates: Sequence[SearchCandidate], query: SearchQuery, parsed: ParsedQuery, floor: float
) -> list[RankedPassage]:
    """Returns the passages that may be returned, best first by their fused scores, equal ones by their position; none
    where the query has nothing to do with any of them: none is as near as the floor.

    Passages below the threshold are left out after the fusion, so that they do not change the order of the others."""
    by_meaning = sorted(candidates, key=lambda candidate: (-candidate.similarity, candidate.position))
    clause_ranks = 1 + max((c.clause_rank for c in candidates if c.clause_rank is not None), default=-1)
    found: list[RankedPassage] = []
    for meaning, candidate in enumerate(by_meaning):
        words = candidate.lexical.rank if candidate.lexical else None
        ranks = Ranks(meaning, words, candidate.clause_rank)
        if parsed.is_reference:
            score = clause_first_score(ranks, query.semantic_weight, clause_ranks)
        else:
            score = fused_score(ranks, query.semantic_weight)
        if score > 0 and _is_relevant(candidate, query, parsed):
            found.append(RankedPassage(candidate, score))
    if not _have_to_do_with(query, parsed, found, floor):
        return []
    return sorted(found, key=lambda one: (-one.score, one.candidate.position))


def _is_relevant(candidate: SearchCandidate, query: SearchQuery, parsed: ParsedQuery) -> bool:
    return _is_asked_for(candidate, parsed) or candidate.similarity >= query.threshold


def _is_asked_for(candidate: SearchCandidate, parsed: ParsedQuery) -> bool:
    """Tells whether a passage was asked for word by word: by a phrase, a clause, or every word of the query. Neither
    the threshold nor the floor applies to it."""
    holds_all_words = candidate.lexical is not None and candidate.lexical.all_terms
    return bool(parsed.phrases) or candidate.clause_rank is not None or holds_all_words


def _have_to_do_with(query: SearchQuery, parsed: ParsedQuery, found: Sequence[RankedPassage], floor: float) -> bool:
    """Tells whether any of the passages shows that the matter is about what the query is about. One is enough: with a
    floor for each passage, far more of the right ones would be lost. A threshold below the usual one asks for what is
    far, too."""
    return query.threshold < DEFAULT_THRESHOLD or any(
        one.candidate.similarity >= floor
        or one.candidate.held_words >= ENOUGH_WORDS
        or one.candidate.lexical_score >= ENOUGH_OF_THE_WORDS
        or _is_asked_for(one.candidate, parsed)
        for one in found
    )


def _spread(ranked: Sequence[RankedPassage], max_per_document: int) -> Iterator[RankedPassage]:
    """Yields at most `max_per_document` passages of each document: first the best of each document, then the second
    best of each, and so on. 0 sets no limit and keeps the order."""
    taken = Counter[str]()
    rounds: list[list[RankedPassage]] = [[] for _ in range(max_per_document or 1)]
    for one in ranked:
        document_id = one.candidate.document_id
        if taken[document_id] < len(rounds) or not max_per_document:
            rounds[taken[document_id] if max_per_document else 0].append(one)
        taken[document_id] += 1
    return chain.from_iterable(rounds)


TIME_LIMIT_S = 10.0

_log = structlog.get_logger(__name__)


async def reranked(
    reranker: Reranker, query: ParsedQuery, ranked: Sequence[RankedPassage], texts: Mapping[str, StoredChunk]
) -> Sequence[RankedPassage] | None:
    """Returns the passages in the order of the reranker's scores; equal ones stay as they were. Passages of clauses
    that the query names stay before all others. Phrases need no care, because every passage holds them. Passages behind
    the most that the reranker looks at stay as they were. `texts` are those of the others by their chunks' ids; those
    that are missing were deleted meanwhile, and are left out.

    Returns None where the order stays as it is, because the reranker fails or takes too long, which is logged."""
    best = [one for one in ranked[: reranker.most] if one.candidate.chunk_id in texts]
    chunks = [texts[one.candidate.chunk_id].chunk for one in best]
    passages = [ModelPassage(chunk.text, chunk.section_path) for chunk in chunks]
    try:
        scores = await with_timeout(TIME_LIMIT_S, reranker.score(" ".join(query.text.split()), passages))
    except (ProvisoError, TimeoutError) as failure:
        _log.warning("search_not_reranked", model=reranker.model_id, failure=type(failure).__name__)
        return None
    scored = [replace(one, rerank_score=float(score)) for one, score in zip(best, scores, strict=True)]
    return [*sorted(scored, key=_key), *ranked[reranker.most :]]


def _key(one: RankedPassage) -> tuple[bool, float]:
    return (one.candidate.clause_rank is None, -(one.rerank_score or 0.0))
