"""From what a search found to the passages that it returns."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import structlog

from proviso_service.errors import ProvisoError
from proviso_service.matters.candidates import SearchCandidate
from proviso_service.matters.model import SearchQuery
from proviso_service.matters.wording import ParsedQuery
from proviso_service.models import Passage, Reranker

RANK_OFFSET = 10
"""The smaller, the more the first ranks stand out. Measured on labelled contracts, anything from 5 to 60 finds as much
among the first five and ten; smaller ones put the right passage first a little more often (evals/README.md)."""

CLAUSE_WEIGHT = 1.0
"""Of the order by clause numbers: the clause that a query names is worth as much as the passage that is first by its
meaning and by its words. Both together weigh 1."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where a passage stands in each order, from 0; None where it does not appear."""

    meaning: int | None
    words: int | None
    clause: int | None = None


def fused_score(ranks: Ranks, semantic_weight: float) -> float:
    """Higher is better; `semantic_weight` of meaning against words, in [0, 1]."""
    return (
        _part(ranks.meaning, semantic_weight)
        + _part(ranks.words, 1 - semantic_weight)
        + _part(ranks.clause, CLAUSE_WEIGHT)
    )


def clause_first_score(ranks: Ranks, semantic_weight: float, clause_ranks: int) -> float:
    """For a query that asks for clauses and for nothing else: their order is by clause numbers, of which there are so
    many ranks; meaning and words only decide between equals."""
    rest = fused_score(Ranks(ranks.meaning, ranks.words), semantic_weight)
    # A step is more than meaning and words can add up to.
    step = 2 / (RANK_OFFSET + 1)
    return rest + (0.0 if ranks.clause is None else (clause_ranks - ranks.clause) * step)


def _part(rank: int | None, weight: float) -> float:
    return 0.0 if rank is None else weight / (RANK_OFFSET + 1 + rank)


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """`score` is the fused one; `rerank_score` is there for passages that a reranker has looked at."""

    candidate: SearchCandidate
    score: float
    rerank_score: float | None = None


def best_of(ranked: Sequence[RankedPassage], query: SearchQuery) -> list[RankedPassage]:
    """The passages to return, best first."""
    return list(islice(_spread(ranked, query.max_per_document), query.max_results))


def rank(candidates: Sequence[SearchCandidate], query: SearchQuery, parsed: ParsedQuery) -> list[RankedPassage]:
    """The passages that may be returned, best first by their fused scores; equal ones by their position.

    Those below the threshold are left out after the fusion, so that it does not move the others."""
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
    return sorted(found, key=lambda one: (-one.score, one.candidate.position))


def _is_relevant(candidate: SearchCandidate, query: SearchQuery, parsed: ParsedQuery) -> bool:
    """The threshold spares what was asked for word by word: a phrase, a clause, or every word of the query."""
    holds_all_words = candidate.lexical is not None and candidate.lexical.all_terms
    is_asked_for = bool(parsed.phrases) or candidate.clause_rank is not None or holds_all_words
    return is_asked_for or candidate.similarity >= query.threshold


def _spread(ranked: Sequence[RankedPassage], max_per_document: int) -> Iterator[RankedPassage]:
    """At most so many of one document: the best of each document first, then the second best, each in their order. 0
    sets no limit and leaves the order alone."""
    taken = Counter[str]()
    rounds: list[list[RankedPassage]] = [[] for _ in range(max_per_document or 1)]
    for one in ranked:
        document_id = one.candidate.stored.document_id
        if taken[document_id] < len(rounds) or not max_per_document:
            rounds[taken[document_id] if max_per_document else 0].append(one)
        taken[document_id] += 1
    return chain.from_iterable(rounds)


RERANKED = 50
"""Passages looked at; those behind them stay behind them, as they were."""

TIME_LIMIT_S = 10.0

_log = structlog.get_logger(__name__)


async def reranked(
    reranker: Reranker | None, query: ParsedQuery, ranked: Sequence[RankedPassage]
) -> Sequence[RankedPassage] | None:
    """The passages in the order of the reranker's scores, equal ones as they were. Passages of clauses that the query
    names stay before all others. Phrases need no care, because every passage holds them.

    None where the order stands as it is: there is no reranker, or nothing to look at; the query asks for clauses by
    their numbers alone, of which words tell less than the numbers do; or the reranker fails or takes too long, which
    the log has."""
    best = ranked[:RERANKED]
    if reranker is None or not best or query.is_reference:
        return None
    passages = [Passage(one.candidate.stored.chunk.text, one.candidate.stored.chunk.section_path) for one in best]
    try:
        async with asyncio.timeout(TIME_LIMIT_S):
            scores = await reranker.score(" ".join(query.text.split()), passages)
    except (ProvisoError, TimeoutError) as failure:
        _log.warning("search_not_reranked", model=reranker.model_id, failure=type(failure).__name__)
        return None
    scored = [replace(one, rerank_score=float(score)) for one, score in zip(best, scores, strict=True)]
    return [*sorted(scored, key=_key), *ranked[RERANKED:]]


def _key(one: RankedPassage) -> tuple[bool, float]:
    return (one.candidate.clause_rank is None, -(one.rerank_score or 0.0))
