"""The embedded models in processes of their own: the same results, and what becomes of a process that ends or hangs."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from proviso_service.embedded import (
    EmbeddedClassifier,
    EmbeddedExtractor,
    EmbeddedReranker,
    Judge,
    MiniLmEmbedder,
    ModelProcesses,
    ProcessClassifier,
    ProcessEmbedder,
    ProcessExtractor,
    ProcessReranker,
)
from proviso_service.embedded.process import pool
from proviso_service.models import ModelClosed, ModelLost, ModelPassage, ReadPassages, Vectors
from tests.support.processes import running

TEXTS = [
    "The Customer shall pay USD 12,000 per month within thirty (30) days of each invoice.",
    "This Agreement is governed by the laws of the State of Oregon.",
    "The Provider shall maintain professional liability insurance of at least USD 1,000,000.",
    "A lone surrogate \ud800, and an o\ufb03ce.",
]
WRONG_MODULE = "tests.support.wrong_model_process"


@pytest.fixture
async def processes(models_dir: Path) -> AsyncIterator[ModelProcesses]:
    processes = ModelProcesses(models_dir, threads=1, processes=2)
    yield processes
    await processes.close()


def passages(texts: Sequence[str], vectors: Vectors) -> list[ModelPassage]:
    """Some with the vectors of their texts, some without."""
    return [
        ModelPassage(text, ("9. General",), vector if index % 2 else None)
        for index, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ]


async def test_all_models_say_what_they_say_in_the_services_own_process(
    processes: ModelProcesses, embedder: MiniLmEmbedder, models_dir: Path
) -> None:
    remote = ProcessEmbedder(processes)
    many = [f"{text} {number}" for number in range(40) for text in TEXTS]
    vectors = await embedder.embed_documents(many)
    assert np.array_equal(await remote.embed_documents(many), vectors)
    assert np.array_equal(await remote.embed_query(TEXTS[0]), await embedder.embed_query(TEXTS[0]))
    assert (await remote.embed_documents([])).shape == (0, remote.dimensions)

    judge = Judge(models_dir, threads=1)
    own = EmbeddedClassifier.load(embedder, judge)
    classifier = ProcessClassifier(processes, EmbeddedClassifier.load(remote, judge))
    assert (classifier.model_id, classifier.words_id) == (own.model_id, own.words_id)
    judged = passages(many, vectors)
    for statement in ("This is a clause about insurance.", "This clause obliges the Customer to pay."):
        assert classifier.needs_texts(statement) == own.needs_texts(statement)
        assert np.array_equal(await classifier.score(statement, judged), await own.score(statement, judged))
    part = ReadPassages(classifier.read(judged), vectors)
    statements = ["This is a clause about insurance.", "This is a clause about governing law."]
    for ours, theirs in zip(
        await classifier.score_read(statements, [part, part]),
        await own.score_read(statements, [part, part]),
        strict=True,
    ):
        assert np.array_equal(ours, theirs)
    scores = np.array([0.2, 0.9], dtype=np.float32)
    assert classifier.judges(statements[0])
    better = await classifier.judge(statements[0], judged[:2], scores)
    assert np.array_equal(better, await own.judge(statements[0], judged[:2], scores))
    await own.close()

    extractor = EmbeddedExtractor.load(judge)
    question = "Which law governs?"
    found = await ProcessExtractor(processes, extractor).extract(question, judged[:8])
    assert found == await extractor.extract(question, judged[:8])
    assert any(found)
    await extractor.close()

    reranker = EmbeddedReranker(judge)
    reread = await ProcessReranker(processes, reranker).score(question, judged[: reranker.most])
    assert np.array_equal(reread, await reranker.score(question, judged[: reranker.most]))
    await judge.close()


async def test_calls_of_a_process_that_is_killed_are_made_in_another(
    processes: ModelProcesses, embedder: MiniLmEmbedder
) -> None:
    await processes.start()
    remote = ProcessEmbedder(processes)
    many = [f"{text} {number}" for number in range(100) for text in TEXTS]
    embedding = asyncio.create_task(remote.embed_documents(many))
    first = running(os.getpid(), pool.MODULE)
    assert len(first) == 2
    await remote.embed_query("both are at work")
    os.kill(first[0], signal.SIGKILL)
    assert np.array_equal(await embedding, await embedder.embed_documents(many))
    await asyncio.gather(*(remote.embed_query("again") for _ in range(4)))
    now = running(os.getpid(), pool.MODULE)
    assert len(now) == 2
    assert first[0] not in now


async def test_a_call_that_ends_two_processes_is_told_and_the_next_one_has_another(
    models_dir: Path, embedder: MiniLmEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = ModelProcesses(models_dir, threads=1, processes=1)
    remote = ProcessEmbedder(processes)
    with monkeypatch.context() as patch:
        patch.setattr(pool, "MODULE", WRONG_MODULE)
        with pytest.raises(ModelLost):
            await remote.embed_query("end")
    assert np.array_equal(await remote.embed_query("a"), await embedder.embed_query("a"))
    await processes.close()


async def test_a_process_that_hangs_is_ended(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MODULE", WRONG_MODULE)
    monkeypatch.setattr(pool, "CALL_TIMEOUT_S", 0.5)
    processes = ModelProcesses(models_dir, threads=1, processes=1)
    with pytest.raises(ModelLost):
        await ProcessEmbedder(processes).embed_query("hang")
    await processes.close()
    assert running(os.getpid(), WRONG_MODULE) == []


async def test_what_waits_is_told_that_the_service_stops(models_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MODULE", WRONG_MODULE)
    processes = ModelProcesses(models_dir, threads=1, processes=1)
    await processes.start()
    waiting = asyncio.create_task(ProcessEmbedder(processes).embed_query("hang"))
    await asyncio.sleep(0)
    await processes.close()
    with pytest.raises(ModelClosed):
        await waiting
    with pytest.raises(ModelClosed):
        await ProcessEmbedder(processes).embed_query("hang")


async def test_an_exception_in_a_model_is_told_and_the_process_goes_on(
    tmp_path: Path, processes: ModelProcesses
) -> None:
    without = ModelProcesses(tmp_path, threads=1, processes=1)
    with pytest.raises(pool.ModelFailed, match="ModelNotPrepared"):
        await ProcessEmbedder(without).embed_query("a")
    [process] = running(os.getpid(), pool.MODULE)
    with pytest.raises(pool.ModelFailed):
        await ProcessEmbedder(without).embed_documents(["a"])
    assert running(os.getpid(), pool.MODULE) == [process]
    await without.close()
