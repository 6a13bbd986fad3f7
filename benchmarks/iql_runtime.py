"""Measures the classifier alone and the analysis around it, in one process and on the data that a service has stored:
`python -m benchmarks.iql_runtime DB MODELS MATTER`.

It prints one line of JSON. All times but the judge's are CPU times of this process, so that other work on the machine
does not count.
Speeds are passages times statements per second, each with a classifier that has scored nothing before."""

import asyncio
import json
import sqlite3
import sys
import time
import tracemalloc
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from benchmarks.iql import COLD, forget_scores
from proviso_service.analysis.document_scoring import DocumentScoring
from proviso_service.analysis.judging import Judging
from proviso_service.analysis.model import IqlConfig, IqlQuery
from proviso_service.analysis.scores import ScoreCache, ScoreKey
from proviso_service.analysis.scoring import Scorer
from proviso_service.analysis.service import IqlAnalysis
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.scores import SqlScoreStore
from proviso_service.embedded import EmbeddedClassifier, MiniLmEmbedder
from proviso_service.embedded.judge import Judge
from proviso_service.embedded.minilm import THREADS
from proviso_service.iql import TemplateCatalog
from proviso_service.matters.model import Document
from proviso_service.models import ModelPassage
from proviso_service.paging import PageRequest

TENANT = "local"
CHUNKS_OF_A_DOCUMENT = 100_000
SCORES_OF_A_DOCUMENT = 85
ROUNDS = 5

# Nobody has asked these before; two sets, so that neither run finds scores of the other.
STATEMENTS = (
    "This clause lets a party inspect the books of the other.",
    "Payments are made in the currency of the invoice.",
    "The supplier keeps spare parts in stock.",
    "A party may publish the name of the other.",
)
OTHER_STATEMENTS = (
    "This clause lets a party inspect the works of the other.",
    "Payments are made in the currency of the order.",
    "The supplier keeps trained people at hand.",
    "A party may publish the price of the other.",
)


async def measure(database_file: Path, models_dir: Path, matter: str) -> dict[str, float]:
    embedder = MiniLmEmbedder.load(models_dir)
    database = Database(f"sqlite:///{database_file}")
    try:
        store, scores = SqlMatterStore(database), SqlScoreStore(database)
        matter_id = (await store.list_matters(TENANT, PageRequest(1), matter)).items[0].matter_id
        documents = [d for d in await store.all_documents(TENANT, matter_id) if d.chunk_count]
        passages = await _passages(scores, documents, embedder.model_id)
        bare = await _bare(embedder, passages)
        analysis = await _analysis(store, scores, embedder, matter_id)
        count = len(passages)
        return {
            "passages": count,
            "bare_first": count / bare[0],
            "bare_later": count * len(bare[1:]) / sum(bare[1:]),
            "analysis_first": count / analysis[0],
            "analysis_later": count * len(analysis[1:]) / sum(analysis[1:]),
            "all_statements_ratio": sum(bare) / await _together(store, scores, embedder, matter_id),
            "judged_ratio": await _judged_ratio(database_file, store, scores, embedder, matter_id, models_dir),
            "cache_mb_per_million": _cache_mb_per_million(),
            **await _known(store, scores, embedder, matter_id),
        }
    finally:
        await database.close()
        await embedder.close()


async def _passages(scores: SqlScoreStore, documents: Sequence[Document], model_id: str) -> list[ModelPassage]:
    passages: list[ModelPassage] = []
    for document in documents:
        ids = [document.document_id]
        found = await scores.passages(TENANT, ids, model_id, 0, CHUNKS_OF_A_DOCUMENT)
        passages += found[document.document_id]
    return passages


async def _bare(embedder: MiniLmEmbedder, passages: Sequence[ModelPassage]) -> list[float]:
    """The seconds that the classifier alone takes for each statement."""
    classifier = EmbeddedClassifier.load(embedder)
    times: list[float] = []
    for statement in STATEMENTS:
        begun = time.process_time()
        await classifier.score(statement, passages)
        times.append(time.process_time() - begun)
    await classifier.close()
    return times


async def _analysis(
    store: SqlMatterStore, scores: SqlScoreStore, embedder: MiniLmEmbedder, matter_id: str
) -> list[float]:
    """The seconds that the analysis takes for each query of one statement."""
    return await _timed(store, scores, embedder, matter_id, [f"{{{statement}}}" for statement in STATEMENTS])


async def _together(store: SqlMatterStore, scores: SqlScoreStore, embedder: MiniLmEmbedder, matter_id: str) -> float:
    """The seconds that the analysis takes for one query of all statements."""
    query = " OR ".join(f"{{{statement}}}" for statement in OTHER_STATEMENTS)
    [elapsed] = await _timed(store, scores, embedder, matter_id, [query])
    return elapsed


async def _judged_ratio(
    database_file: Path,
    store: SqlMatterStore,
    scores: SqlScoreStore,
    embedder: MiniLmEmbedder,
    matter_id: str,
    models_dir: Path,
) -> float:
    """How much longer three new statements on documents that no query has read take with the judge, by the clock."""
    took = []
    judge = Judge(models_dir, THREADS)
    for of_query in (None, judge):
        forget_scores(database_file)
        with closing(sqlite3.connect(database_file)) as connection, connection:
            connection.execute("DELETE FROM passage_words")
        begun = time.perf_counter()
        await _timed(store, scores, embedder, matter_id, [COLD], of_query)
        took.append(time.perf_counter() - begun)
    await judge.close()
    return took[1] / took[0]


async def _known(
    store: SqlMatterStore, scores: SqlScoreStore, embedder: MiniLmEmbedder, matter_id: str
) -> dict[str, float]:
    """The milliseconds of queries whose statements have been scored already."""
    first, second, third, fourth = (f"{{{statement}}}" for statement in STATEMENTS)
    query = f"{first} AND NOT {second} OR {third} + {fourth}"
    recombined = [
        f"{first} + {second} + {third}",
        f"({second} OR {third}) AND {fourth}",
        f"{third} AND NOT {first} OR {fourth}",
    ]
    times = await _timed(store, scores, embedder, matter_id, [query, *[query] * ROUNDS, *recombined * ROUNDS])
    repeated, combined = sorted(times[1 : ROUNDS + 1]), sorted(times[ROUNDS + 1 :])
    return {
        "repeated_ms": repeated[len(repeated) // 2] * 1e3,
        "recombined_ms": combined[len(combined) // 2] * 1e3,
    }


async def _timed(
    store: SqlMatterStore,
    scores: SqlScoreStore,
    embedder: MiniLmEmbedder,
    matter_id: str,
    queries: Sequence[str],
    judge: Judge | None = None,
) -> list[float]:
    settings = IqlConfig(time_limit_s=1_000)
    classifier = EmbeddedClassifier.load(embedder, judge)
    judging = Judging(classifier, scores, settings.judged_passages) if judge else None
    cache = ScoreCache(settings.max_cached_scores)
    scorer = Scorer(classifier, scores, cache, embedder.model_id, settings.max_kept_statements)
    analysis = IqlAnalysis(
        store, scores, DocumentScoring(scorer, settings, judging=judging), TemplateCatalog.load(), settings
    )
    times: list[float] = []
    for query in queries:
        begun = time.process_time()
        outcome = await analysis.execute(TENANT, IqlQuery(matter_id=matter_id, query=query))
        times.append(time.process_time() - begun)
        if failed := [result.error for result in outcome.results if result.error]:
            raise RuntimeError(f"{len(failed)} documents were not analysed: {failed[0]}")
    await classifier.close()
    return times


def _cache_mb_per_million() -> float:
    """The memory of the cache for a million scores, with documents of usual length."""
    cache = ScoreCache(1_000_000)
    tracemalloc.start()
    for number in range(1_000_000 // SCORES_OF_A_DOCUMENT):
        key = ScoreKey(TENANT, "model", f"document-{number // 10}", f"statement-{number % 10}")
        cache.put(key, np.zeros(SCORES_OF_A_DOCUMENT, dtype=np.float32))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / 1e6


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))))
