"""Searches with a reranker."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from proviso_service.errors import ModelApiRefused, ModelApiUnavailable, NotReady, TooBusy
from proviso_service.matters import ranking
from proviso_service.matters.candidates import SearchCandidate
from proviso_service.matters.model import SearchOutcome, SearchQuery, StoredChunk
from proviso_service.matters.ranking import RERANKED, RankedPassage, reranked
from proviso_service.matters.retrieval import Retriever
from proviso_service.matters.wording import parse_query
from proviso_service.models import ModelPassage, Scores
from proviso_service.reading.model import Chunk
from tests.support.matters_world import TENANT, MattersWorld

LEASE = """\
# Lease

## 1. Rent

The tenant pays rent each month.

## 2. Deposit

The tenant pays a deposit with the first rent.

## 3. Repairs

The tenant pays for repairs, beside the rent.
"""


class ScriptedReranker:
    """Scores by the word that a passage holds; 0 otherwise. Every query is on record."""

    model_id = "scripted"

    def __init__(self, **scores: float) -> None:
        self.scores = scores
        self.failure: Exception | None = None
        self.asked: list[tuple[str, Sequence[ModelPassage]]] = []

    async def score(self, query: str, passages: Sequence[ModelPassage]) -> Scores:
        self.asked.append((query, passages))
        if self.failure:
            raise self.failure
        found = [max((s for word, s in self.scores.items() if word in p.text), default=0.0) for p in passages]
        return np.array(found, dtype=np.float32)


def ranked_passages(*texts: str, clause_ranks: Sequence[int | None] = ()) -> list[RankedPassage]:
    """In the order of their fused scores."""
    ranks = [*clause_ranks, *[None] * (len(texts) - len(clause_ranks))]
    chunks = [Chunk(ordinal, 0, len(text), text) for ordinal, text in enumerate(texts)]
    stored = [StoredChunk(f"d:{chunk.ordinal}", "d", "lease.md", chunk) for chunk in chunks]
    candidates = [SearchCandidate(one, 0.5, None, rank) for one, rank in zip(stored, ranks, strict=True)]
    return [RankedPassage(candidate, 1.0 - place / 100) for place, candidate in enumerate(candidates)]


def texts_of(ranked: Sequence[RankedPassage] | None) -> list[str]:
    assert ranked is not None
    return [one.candidate.stored.chunk.text for one in ranked]


async def test_passages_come_in_the_order_of_the_reranker_and_equal_ones_as_they_were() -> None:
    reranker = ScriptedReranker(b=0.25, c=0.75)
    ranked = await reranked(reranker, parse_query("what"), ranked_passages("a", "b", "c", "d"))
    assert texts_of(ranked) == ["c", "b", "a", "d"]
    assert [(one.rerank_score, one.score) for one in ranked or ()] == [(0.75, 0.98), (0.25, 0.99), (0, 1.0), (0, 0.97)]


async def test_what_is_behind_the_best_stays_behind_them() -> None:
    texts = [f"passage {index}" for index in range(RERANKED + 2)]
    reranker = ScriptedReranker(**{f"passage {RERANKED + 1}": 1.0, f"passage {RERANKED - 1}": 0.5})
    ranked = await reranked(reranker, parse_query("what"), ranked_passages(*texts))
    assert texts_of(ranked) == [texts[RERANKED - 1], *texts[: RERANKED - 1], *texts[RERANKED:]]
    assert [one.rerank_score is None for one in ranked or ()] == [False] * RERANKED + [True] * 2


async def test_clauses_that_are_named_stay_first() -> None:
    reranker = ScriptedReranker(other=0.9, below=0.5, named=0.1)
    passages = ranked_passages("named", "other", "below", clause_ranks=(0, None, 1))
    query = parse_query("the notice of clause 12.3")
    assert texts_of(await reranked(reranker, query, passages)) == ["below", "named", "other"]


@pytest.mark.parametrize("query", ["clause 12.3", "12.3", "What does clause 12.3 say?"])
async def test_a_query_for_a_clause_alone_is_not_reranked(query: str) -> None:
    reranker = ScriptedReranker()
    assert await reranked(reranker, parse_query(query), ranked_passages("a")) is None
    assert reranker.asked == []


async def test_nothing_found_is_not_reranked() -> None:
    reranker = ScriptedReranker()
    assert await reranked(reranker, parse_query("what"), []) is None
    assert reranker.asked == []


@pytest.mark.parametrize(
    "failure",
    [
        ModelApiUnavailable("Isaacus", "away"),
        ModelApiRefused("Isaacus", "no"),
        TooBusy("full", 1.0),
        NotReady("closed"),
    ],
    ids=lambda failure: type(failure).__name__,
)
async def test_a_reranker_that_fails_leaves_the_order_alone(failure: Exception) -> None:
    reranker = ScriptedReranker()
    reranker.failure = failure
    with capture_logs() as logged:
        assert await reranked(reranker, parse_query("secret words"), ranked_passages("a")) is None
    assert logged == [
        {
            "event": "search_not_reranked",
            "log_level": "warning",
            "model": "scripted",
            "failure": type(failure).__name__,
        }
    ]


async def test_a_reranker_that_takes_too_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class EndlessReranker(ScriptedReranker):
        async def score(self, query: str, passages: Sequence[ModelPassage]) -> Scores:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr(ranking, "TIME_LIMIT_S", 0.01)
    assert await reranked(EndlessReranker(), parse_query("what"), ranked_passages("a")) is None


async def search(world: MattersWorld, reranker: ScriptedReranker, query: str, **options: Any) -> SearchOutcome:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE})
    retriever = Retriever(world.store, world.vectors, world.embedder, reranker)
    return await retriever.search(TENANT, SearchQuery(matter.matter_id, query, **options))


async def test_a_search_says_that_it_was_reranked_and_how(world: MattersWorld) -> None:
    reranker = ScriptedReranker(repairs=0.75, deposit=0.5)
    outcome = await search(world, reranker, 'What does "the tenant" pay?', threshold=0.0, max_results=2)
    assert (outcome.reranked, outcome.rerank_failed) == (True, False)
    assert [(hit.stored.chunk.heading, hit.rerank_score) for hit in outcome.hits] == [
        ("3. Repairs", 0.75),
        ("2. Deposit", 0.5),
    ]
    [(query, passages)] = reranker.asked
    assert query == "What does the tenant pay?"
    assert {passage.section_path for passage in passages} == {
        ("Lease", "1. Rent"),
        ("Lease", "2. Deposit"),
        ("Lease", "3. Repairs"),
    }


async def test_a_search_whose_reranker_fails_is_answered_in_the_fused_order(world: MattersWorld) -> None:
    reranker = ScriptedReranker()
    reranker.failure = ModelApiUnavailable("Isaacus", "away")
    outcome = await search(world, reranker, "rent", threshold=0.0)
    assert (outcome.reranked, outcome.rerank_failed) == (False, True)
    assert [hit.rerank_score for hit in outcome.hits] == [None] * len(outcome.hits)
    scores = [hit.score for hit in outcome.hits]
    assert scores == sorted(scores, reverse=True) != []
