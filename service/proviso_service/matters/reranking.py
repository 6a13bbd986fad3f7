"""A second look at the best passages of a search, by a model that reads query and passage together."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import structlog

from proviso_service.errors import ProvisoError
from proviso_service.matters.queries import ParsedQuery
from proviso_service.matters.ranking import Ranked
from proviso_service.models import Passage, Reranker

RERANKED = 50
"""Passages looked at; those behind them stay behind them, as they were."""

TIME_LIMIT_S = 10.0

_log = structlog.get_logger(__name__)


async def reranked(reranker: Reranker | None, query: ParsedQuery, ranked: Sequence[Ranked]) -> Sequence[Ranked] | None:
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


def _key(one: Ranked) -> tuple[bool, float]:
    return (one.candidate.clause_rank is None, -(one.rerank_score or 0.0))
