"""`python -m benchmarks.search_index --data DIR --cache DIR [--contracts N]` measures the index of a matter: its load,
its memory, what a search costs beside the embedding of its question, and Chroma beside exact search."""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.report import table
from evals.cache import CachedEmbedder
from evals.data import Data, load
from evals.library import TENANT, Library, library
from proviso_service.backends.vectors.chroma import approximate_index
from proviso_service.embedded import MiniLmEmbedder
from proviso_service.matters.model import SearchQuery
from proviso_service.matters.resident_indexes import THREADS
from proviso_service.matters.retrieval import Retriever
from proviso_service.matters.search_index import IndexQuery, MatterIndex
from proviso_service.reading import ReadingLimits, significant_words, telling_words

LARGE = 25_000
AT_ONCE = 8
NEAREST = 100
NEAREST_OF_QUESTION = 50
Row = tuple[str, str]


def _share(times: Sequence[float], share: float) -> float:
    return sorted(times)[int((len(times) - 1) * share)]


def _ms(times: Sequence[float]) -> str:
    return f"{_share(times, 0.5) * 1e3:.2f} / {_share(times, 0.99) * 1e3:.2f}"


async def _beside_embedding(books: Library, model: MiniLmEmbedder, questions: Sequence[str]) -> list[Row]:
    """CPU of whole searches, with the embedding of their questions, and of the embedding alone."""
    retriever = Retriever(books.store, books.indexes, model)
    searches, embeddings = list[float](), list[float]()
    for question in questions:
        begun = time.process_time()
        await model.embed_query(question)
        embeddings.append(time.process_time() - begun)
        begun = time.process_time()
        await retriever.search(TENANT, SearchQuery(books.matter.matter_id, question.replace('"', " ")))
        searches.append(time.process_time() - begun)
    ratio = sum(searches) / sum(embeddings)
    return [
        (f"passages of {len(books.document_ids)} contracts", f"{books.chunk_count:,}"),
        ("embedding of a question, CPU ms, p50 / p99", _ms(embeddings)),
        ("search with its embedding, CPU ms, p50 / p99", _ms(searches)),
        ("search by its embedding (aim: at most 4)", f"{ratio:.2f}"),
    ]


def _scaled(index: MatterIndex) -> tuple[MatterIndex, float]:
    """The same documents under other ids until there are enough of them, and the CPU seconds to put them together."""
    times = -(-LARGE // len(index))
    noise = np.random.default_rng(0)
    documents = [
        replace(one, document_id=f"{copy}-{one.document_id}", vectors=_moved(one.vectors, noise))
        for copy in range(times)
        for one in index.documents
    ]
    begun = time.process_time()
    scaled = MatterIndex.build(1, documents, index.vectors.shape[1])
    return scaled, time.process_time() - begun


def _moved(vectors: np.typing.NDArray[np.float32], noise: np.random.Generator) -> np.typing.NDArray[np.float32]:
    moved = vectors + noise.normal(scale=0.01, size=vectors.shape).astype(np.float32)
    unit: np.typing.NDArray[np.float32] = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return unit


def _timed(clock: Callable[[], float], work: Callable[[], object]) -> float:
    begun = clock()
    work()
    return clock() - begun


async def _large(index: MatterIndex, queries: Sequence[IndexQuery]) -> list[Row]:
    scaled, build_s = _scaled(index)
    alone = [_timed(time.thread_time, lambda q=query: scaled.search(q)) for query in queries]  # type: ignore[misc]
    walls = [_timed(time.perf_counter, lambda q=query: scaled.search(q)) for query in queries]  # type: ignore[misc]
    together = await _together(scaled, queries)
    exact = [
        np.array_equal(np.argsort(-(scaled.vectors @ query.vector), kind="stable")[:10], _rows(scaled, query)[:10])
        for query in queries
    ]
    return [
        ("passages of the large matter", f"{len(scaled):,}"),
        ("load: putting its documents together, CPU s (aim: at most 0.5)", f"{build_s:.2f}"),
        ("memory for 100,000 passages, MB", f"{scaled.size_bytes / len(scaled) / 10:.0f}"),
        ("words and vectors, CPU ms, p50 / p99 (aim: at most 20)", _ms(alone)),
        ("the same, elapsed ms", _ms(walls)),
        (f"{AT_ONCE} at once, elapsed ms, p50 / p99", _ms(together)),
        ("the p99 by that of one at once (aim: at most 5)", f"{_share(together, 0.99) / _share(walls, 0.99):.1f}"),
        ("recall of the ten nearest", f"{sum(exact) / len(exact):.3f}"),
    ]


async def _together(index: MatterIndex, queries: Sequence[IndexQuery]) -> list[float]:
    """Seconds that each search takes while AT_ONCE are asked for, in as many threads as the service has for them."""
    waiting, times = iter([*queries] * 4), list[float]()
    with ThreadPoolExecutor(THREADS) as threads:

        async def ask() -> None:
            for query in waiting:
                begun = time.perf_counter()
                await asyncio.get_running_loop().run_in_executor(threads, index.search, query)
                times.append(time.perf_counter() - begun)

        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
    return times


def _rows(index: MatterIndex, query: IndexQuery) -> Sequence[int]:
    answer = index.search(replace(query, words=(), telling=()))
    starts = {one.document_id: int(first) for one, first in zip(index.documents, index.starts, strict=False)}
    return [starts[one.document_id] + one.ordinal for one in answer.found]


async def _chroma(index: MatterIndex, queries: Sequence[IndexQuery], folder: Path) -> list[Row]:
    """Embedded Chroma over the same vectors."""
    scaled, _ = _scaled(index)
    chroma = approximate_index("chroma", folder, "benchmark")
    assert chroma
    begun = time.process_time()
    chroma.follow("t", "m", scaled)
    await chroma._builds["t", "m"].task
    build_s = time.process_time() - begun
    found, times = list[float](), list[float]()
    for query in queries:
        began = time.process_time()
        near = await chroma.nearest("t", "m", scaled, query.vector, NEAREST)
        times.append(time.process_time() - began)
        assert near is not None
        exact = np.argsort(-(scaled.vectors @ query.vector))[:NEAREST]
        found.append(len(set(near.tolist()) & set(exact.tolist())) / NEAREST)
    exact_times = [_timed(time.thread_time, lambda q=q: np.vecdot(scaled.vectors, q.vector)) for q in queries]  # type: ignore[misc]
    await chroma.close()
    return [
        ("Chroma: building, CPU s", f"{build_s:.1f}"),
        ("Chroma: recall of the 100 nearest", f"{sum(found) / len(found):.3f}"),
        ("Chroma: the 100 nearest, CPU ms, p50 / p99", _ms(times)),
        ("exact: all similarities, CPU ms, p50 / p99", _ms(exact_times)),
    ]


async def measure(data: Data, cache: Path, models_dir: Path, *, with_chroma: bool) -> str:
    """The figures as a table."""
    model = MiniLmEmbedder.load(models_dir)
    embedder = CachedEmbedder(model, cache / "vectors.sqlite3")
    questions = sorted({question.text for question in data.questions})
    try:
        with tempfile.TemporaryDirectory(prefix="proviso-index-") as folder:
            async with library(data, Path(folder), embedder, ReadingLimits().chunk_chars) as books:
                index = await books.indexes.at(TENANT, books.matter.matter_id, len(books.document_ids))
                rows = await _beside_embedding(books, model, questions)
                queries = [
                    IndexQuery(await model.embed_query(q), words, telling_words(words), (), NEAREST, NEAREST)
                    for q in questions
                    if (words := significant_words(q))
                ]
                rows += await _large(index, queries)
                if with_chroma:
                    rows += await _chroma(index, queries[:NEAREST_OF_QUESTION], Path(folder) / "chroma")
    finally:
        embedder.close()
        await model.close()
    return table(("", ""), rows)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search_index", description="Measures a search index.")
    parser.add_argument("--data", type=Path, required=True, help="folder of contracts and questions, as for evals")
    parser.add_argument("--contracts", type=int, default=60, metavar="N", help="contracts to search in [60]")
    parser.add_argument("--cache", type=Path, required=True, metavar="DIR", help="keep vectors here for the next run")
    parser.add_argument("--no-chroma", action="store_true", help="leave Chroma out")
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    data = load(options.data, options.contracts)
    print(asyncio.run(measure(data, options.cache, options.models_dir, with_chroma=not options.no_chroma)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
