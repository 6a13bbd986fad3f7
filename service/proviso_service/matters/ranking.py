"""From what a search found to the passages that it returns."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from proviso_service.matters.candidates import Candidate
from proviso_service.matters.fusion import Ranks, clause_first_score, fused_score
from proviso_service.matters.model import SearchQuery
from proviso_service.matters.queries import ParsedQuery

Scored = tuple[float, Candidate]


def best_candidates(candidates: Sequence[Candidate], query: SearchQuery, parsed: ParsedQuery) -> list[Scored]:
    """The passages to return with their scores, best first; equal ones by their position."""
    return list(islice(_spread(_ranked(candidates, query, parsed), query.max_per_document), query.max_results))


def _ranked(candidates: Sequence[Candidate], query: SearchQuery, parsed: ParsedQuery) -> list[Scored]:
    """Those below the threshold are left out after the fusion, so that it does not move the others."""
    by_meaning = sorted(candidates, key=lambda candidate: (-candidate.similarity, candidate.position))
    clause_ranks = 1 + max((c.clause_rank for c in candidates if c.clause_rank is not None), default=-1)
    scored: list[Scored] = []
    for meaning, candidate in enumerate(by_meaning):
        words = candidate.lexical.rank if candidate.lexical else None
        ranks = Ranks(meaning, words, candidate.clause_rank)
        if parsed.is_reference:
            score = clause_first_score(ranks, query.semantic_weight, clause_ranks)
        else:
            score = fused_score(ranks, query.semantic_weight)
        if score > 0 and _is_relevant(candidate, query, parsed):
            scored.append((score, candidate))
    return sorted(scored, key=lambda pair: (-pair[0], pair[1].position))


def _is_relevant(candidate: Candidate, query: SearchQuery, parsed: ParsedQuery) -> bool:
    """The threshold spares what was asked for word by word: a phrase, a clause, or every word of the query."""
    holds_all_words = candidate.lexical is not None and candidate.lexical.all_terms
    is_asked_for = bool(parsed.phrases) or candidate.clause_rank is not None or holds_all_words
    return is_asked_for or candidate.similarity >= query.threshold


def _spread(ranked: Sequence[Scored], max_per_document: int) -> Iterator[Scored]:
    """At most so many of one document: the best of each document first, then the second best, each in their order. 0
    sets no limit and leaves the order alone."""
    taken = Counter[str]()
    rounds: list[list[Scored]] = [[] for _ in range(max_per_document or 1)]
    for score, candidate in ranked:
        document_id = candidate.stored.document_id
        if taken[document_id] < len(rounds) or not max_per_document:
            rounds[taken[document_id] if max_per_document else 0].append((score, candidate))
        taken[document_id] += 1
    return chain.from_iterable(rounds)
