"""From what a search found to the passages that it returns."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from proviso_service.matters.candidates import Candidate
from proviso_service.matters.fusion import Ranks, clause_first_score, fused_score
from proviso_service.matters.model import SearchQuery
from proviso_service.matters.queries import ParsedQuery


@dataclass(frozen=True, slots=True)
class Ranked:
    """`score` is the fused one; `rerank_score` is there for passages that a reranker has looked at."""

    candidate: Candidate
    score: float
    rerank_score: float | None = None


def best_of(ranked: Sequence[Ranked], query: SearchQuery) -> list[Ranked]:
    """The passages to return, best first."""
    return list(islice(_spread(ranked, query.max_per_document), query.max_results))


def rank(candidates: Sequence[Candidate], query: SearchQuery, parsed: ParsedQuery) -> list[Ranked]:
    """The passages that may be returned, best first by their fused scores; equal ones by their position.

    Those below the threshold are left out after the fusion, so that it does not move the others."""
    by_meaning = sorted(candidates, key=lambda candidate: (-candidate.similarity, candidate.position))
    clause_ranks = 1 + max((c.clause_rank for c in candidates if c.clause_rank is not None), default=-1)
    found: list[Ranked] = []
    for meaning, candidate in enumerate(by_meaning):
        words = candidate.lexical.rank if candidate.lexical else None
        ranks = Ranks(meaning, words, candidate.clause_rank)
        if parsed.is_reference:
            score = clause_first_score(ranks, query.semantic_weight, clause_ranks)
        else:
            score = fused_score(ranks, query.semantic_weight)
        if score > 0 and _is_relevant(candidate, query, parsed):
            found.append(Ranked(candidate, score))
    return sorted(found, key=lambda one: (-one.score, one.candidate.position))


def _is_relevant(candidate: Candidate, query: SearchQuery, parsed: ParsedQuery) -> bool:
    """The threshold spares what was asked for word by word: a phrase, a clause, or every word of the query."""
    holds_all_words = candidate.lexical is not None and candidate.lexical.all_terms
    is_asked_for = bool(parsed.phrases) or candidate.clause_rank is not None or holds_all_words
    return is_asked_for or candidate.similarity >= query.threshold


def _spread(ranked: Sequence[Ranked], max_per_document: int) -> Iterator[Ranked]:
    """At most so many of one document: the best of each document first, then the second best, each in their order. 0
    sets no limit and leaves the order alone."""
    taken = Counter[str]()
    rounds: list[list[Ranked]] = [[] for _ in range(max_per_document or 1)]
    for one in ranked:
        document_id = one.candidate.stored.document_id
        if taken[document_id] < len(rounds) or not max_per_document:
            rounds[taken[document_id] if max_per_document else 0].append(one)
        taken[document_id] += 1
    return chain.from_iterable(rounds)
