"""Searches with a reranker."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from proviso_service.errors import ModelApiRefused, ModelApiUnavailable, NotReady, TooBusy
from proviso_service.matters import ranking
from proviso_service.matters.model import SearchOutcome, SearchQuery, StoredChunk
from proviso_service.matters.ranking import RankedPassage, reranked
from proviso_service.matters.retrieval import Retriever
from proviso_service.matters.search_index import SearchCandidate
from proviso_service.matters.wording import parse_query
from proviso_service.models import MOST_RERANKED as RERANKED
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
    most = RERANKED

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


@dataclass(frozen=True)
class Found:
    """Passages in the order of their fused scores, with their texts."""

    ranked: Sequence[RankedPassage]
    texts: Mapping[str, StoredChunk]

    async def by(self, reranker: ScriptedReranker, query: str = "what") -> Sequence[RankedPassage] | None:
        return await reranked(reranker, parse_query(query), self.ranked, self.texts)

    def texts_of(self, ranked: Sequence[RankedPassage] | None) -> list[str]:
        assert ranked is not None
        return [self.texts[one.candidate.chunk_id].chunk.text for one in ranked]


def passages(*texts: str, clause_ranks: Sequence[int | None] = ()) -> Found:
    ranks = [*clause_ranks, *[None] * (len(texts) - len(clause_ranks))]
    stored = [
        StoredChunk(f"d:{ordinal}", "d", "lease.md", Chunk(ordinal, 0, len(text), text))
        for ordinal, text in enumerate(texts)
    ]
    ranked = [
        RankedPassage(SearchCandidate("d", "lease.md", place, 0.5, None, rank), 1.0 - place / 100)
        for place, rank in enumerate(ranks)
    ]
    return Found(ranked, {one.chunk_id: one for one in stored})


async def test_passages_come_in_the_order_of_the_reranker_and_equal_ones_as_they_were() -> None:
    reranker = ScriptedReranker(b=0.25, c=0.75)
    found = passages("a", "b", "c", "d")
    ranked = await found.by(reranker)
    assert found.texts_of(ranked) == ["c", "b", "a", "d"]
    assert [(one.rerank_score, one.score) for one in ranked or ()] == [(0.75, 0.98), (0.25, 0.99), (0, 1.0), (0, 0.97)]


async def test_what_is_behind_the_best_stays_behind_them() -> None:
    texts = [f"passage {index}" for index in range(RERANKED + 2)]
    reranker = ScriptedReranker(**{f"passage {RERANKED + 1}": 1.0, f"passage {RERANKED - 1}": 0.5})
    found = passages(*texts)
    ranked = await found.by(reranker)
    assert found.texts_of(ranked) == [texts[RERANKED - 1], *texts[: RERANKED - 1], *texts[RERANKED:]]
    assert [one.rerank_score is None for one in ranked or ()] == [False] * RERANKED + [True] * 2


async def test_clauses_that_are_named_stay_first() -> None:
    reranker = ScriptedReranker(other=0.9, below=0.5, named=0.1)
    found = passages("named", "other", "below", clause_ranks=(0, None, 1))
    assert found.texts_of(await found.by(reranker, "the notice of clause 12.3")) == ["below", "named", "other"]


async def test_a_passage_that_was_deleted_meanwhile_is_left_out() -> None:
    found = passages("a", "b", "c")
    there = Found(found.ranked, {key: one for key, one in found.texts.items() if one.chunk.text != "b"})
    assert found.texts_of(await there.by(ScriptedReranker(c=0.5))) == ["c", "a"]


@pytest.mark.parametrize("query", ["clause 2", "§ 2", "What does clause 2 say?"])
async def test_a_query_for_a_clause_alone_is_not_reranked(world: MattersWorld, query: str) -> None:
    reranker = ScriptedReranker()
    outcome = await search(world, reranker, query)
    assert outcome.hits[0].stored.chunk.heading == "2. Deposit"
    assert (outcome.reranked, outcome.rerank_failed, reranker.asked) == (False, False, [])


async def test_nothing_found_is_not_reranked(world: MattersWorld) -> None:
    reranker = ScriptedReranker()
    assert (await search(world, reranker, '"nobody says this"')).hits == ()
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
        assert await passages("a").by(reranker, "secret words") is None
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
    assert await passages("a").by(EndlessReranker()) is None


async def search(world: MattersWorld, reranker: ScriptedReranker, query: str, **options: Any) -> SearchOutcome:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE})
    retriever = Retriever(world.store, world.indexes, world.embedder, reranker)
    return await retriever.search(TENANT, SearchQuery(matter.matter_id, query, **options))


async def test_a_search_says_that_it_was_reranked_and_how(world: MattersWorld) -> None:
    reranker = ScriptedReranker(repairs=0.75, deposit=0.5)
    outcome = await search(world, reranker, 'What does "the tenant" pay?', threshold=0.0, max_results=2)
    assert (outcome.reranked, outcome.rerank_failed) == (True, False)
    assert [(hit.stored.chunk.heading, hit.rerank_score) for hit in outcome.hits] == [
        ("3. Repairs", 0.75),
        ("2. Deposit", 0.5),
    ]
    [(query, asked)] = reranker.asked
    assert query == "What does the tenant pay?"
    assert {passage.section_path for passage in asked} == {
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
