"""Searches in one way, in a process of its own: `python -m benchmarks.search_engines ENGINE FOLDER COUNT`.

It reads that many of the passages in FOLDER and prints one line of JSON. The times are CPU times of the whole process,
so that threads do not hide any of them. The recall is the share of the ten nearest vectors that are found."""

import asyncio
import gc
import json
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import MB, percentile, resident_bytes
from benchmarks.synthetic import DIMENSIONS, Passages, Vectors

LIMIT = 100
"""How many passages each way is asked for."""

TEN = 10
LEAST, LONGEST_S = 20, 8.0
AT_ONCE = 8
OF_A_DOCUMENT = 100
"""Passages of a document, which only the service knows."""

Found = Sequence[int]
Search = Callable[[int], Found | Awaitable[Found]]


async def _timed(search: Search, questions: int) -> tuple[list[float], list[Found]]:
    """The CPU seconds of the questions, until there are enough or the time is up, and what was found."""
    times, found = list[float](), list[Found]()
    ends = time.perf_counter() + LONGEST_S
    for number in range(questions):
        if number >= LEAST and time.perf_counter() > ends:
            break
        begun = time.process_time()
        result = search(number)
        if isinstance(result, Awaitable):
            result = await result
        times.append(time.process_time() - begun)
        found.append(result)
    return times, found


async def _figures(what: str, search: Search, data: Passages, *, is_near: bool) -> dict[str, Any]:
    times, found = await _timed(search, len(data.questions))
    figures = {"what": what, "p50_ms": percentile(times, 0.5) * 1e3, "p99_ms": percentile(times, 0.99) * 1e3}
    return figures | ({"recall": _recall(found, data)} if is_near else {})


def _recall(found: Sequence[Found], data: Passages) -> float:
    nearest = [
        set(np.argsort(-(data.vectors @ vector), kind="stable")[:TEN].tolist())
        for vector in data.question_vectors[: len(found)]
    ]
    return sum(len(exact & set(some[:TEN])) for exact, some in zip(nearest, found, strict=True)) / TEN / len(found)


async def service(data: Passages, folder: Path) -> list[dict[str, Any]]:
    """The index of a matter, as the service packs, loads and searches it. Of Chroma it has nothing here."""
    index, queries, build = resident(data)
    nearby = [_replaced(query, words=(), telling=()) for query in queries]
    worded = [_replaced(query, vector=np.zeros(DIMENSIONS, dtype=np.float32), near=_NONE) for query in queries]
    rows = [
        await _figures("vectors", lambda n: _rows(index, nearby[n]), data, is_near=True),
        await _figures("words", lambda n: _rows(index, worded[n]), data, is_near=False),
        await _figures("both", lambda n: _rows(index, queries[n]), data, is_near=False),
    ]
    return [row | build for row in rows] + await _together(index, list(queries))


def resident(data: Passages) -> tuple[Any, list[Any], dict[str, float]]:
    """The index, the queries, and what building it took: `load_cpu_s` of it when the service starts again."""
    from proviso_service.matters.packing import PackedDocument, PackedWords
    from proviso_service.matters.search_index import IndexQuery, MatterIndex
    from proviso_service.reading import Chunk, significant_words, telling_words

    begun = time.process_time()
    documents = [
        PackedDocument(
            f"{first:08}",
            f"{first}.txt",
            len(some := data.texts[first : first + OF_A_DOCUMENT]),
            PackedWords.of([Chunk(n, 0, len(text), text) for n, text in enumerate(some)]).packed(),
            data.vectors[first : first + OF_A_DOCUMENT],
        )
        for first in range(0, len(data.texts), OF_A_DOCUMENT)
    ]
    packed = time.process_time()
    index = MatterIndex.build(1, documents, DIMENSIONS)
    built = time.process_time()
    queries = []
    for question, vector in zip(data.questions, data.question_vectors, strict=True):
        words = significant_words(question)
        queries.append(IndexQuery(vector, words, telling_words(words), (), LIMIT, LIMIT))
    return (
        index,
        queries,
        {"build_cpu_s": built - begun, "load_cpu_s": built - packed, "index_mb": index.size_bytes / MB},
    )


_NONE = np.empty(0, dtype=np.intp)


def _replaced(query: Any, **changes: Any) -> Any:
    from dataclasses import replace

    return replace(query, **changes)


def _rows(index: Any, query: Any) -> list[int]:
    return [int(one.document_id) + one.ordinal for one in index.search(query).found]


async def _together(index: Any, queries: list[Any]) -> list[dict[str, Any]]:
    """Elapsed times of one search at a time, and of several at once."""
    rows = []
    for at_once in (1, AT_ONCE):
        times = await searched(index, queries * 3, at_once)
        elapsed = {"p50_ms": percentile(times, 0.5) * 1e3, "p99_ms": percentile(times, 0.99) * 1e3}
        rows.append({"what": f"both, {at_once} at once, elapsed"} | elapsed)
    return rows


async def searched(index: Any, queries: Sequence[Any], at_once: int) -> list[float]:
    """The elapsed seconds of all searches, so many at once, as the service runs them."""
    from proviso_service.matters.resident_indexes import ResidentIndexes

    indexes = ResidentIndexes(None, "benchmark", DIMENSIONS, sys.maxsize)  # type: ignore[arg-type]  # nothing is loaded
    waiting, times = iter(queries), list[float]()
    gc.freeze()  # as the service does, which otherwise looks through all passages while searches wait

    async def ask() -> None:
        for query in waiting:
            begun = time.perf_counter()
            await indexes.search("t", "m", index, query)
            times.append(time.perf_counter() - begun)

    await asyncio.gather(*(ask() for _ in range(at_once)))
    gc.unfreeze()
    await indexes.close()
    return times


async def chroma(data: Passages, folder: Path) -> list[dict[str, Any]]:
    """Embedded Chroma by itself, and the service's search by words and by what Chroma finds near."""
    from proviso_service.backends.vectors.chroma import approximate_index

    index, queries, _ = resident(data)
    approximate = approximate_index("chroma", folder / "chroma", "benchmark")
    assert approximate
    begun = time.process_time()
    approximate.follow("t", "m", index)
    await approximate._builds["t", "m"].task
    build = {"build_cpu_s": time.process_time() - begun, "disk_mb": _size_mb(folder / "chroma")}
    _, collection = approximate._ready["t", "m"]

    def nearest(number: int) -> Found:
        vector = data.question_vectors[number][np.newaxis]
        return [int(row) for row in collection.query(query_embeddings=vector, n_results=LIMIT, include=[])["ids"][0]]

    async def both(number: int) -> Found:
        near = await approximate.nearest("t", "m", index, queries[number].vector, LIMIT)
        return _rows(index, _replaced(queries[number], near=near))

    rows = [
        await _figures("vectors", nearest, data, is_near=True),
        await _figures("service's words, Chroma's vectors", both, data, is_near=False),
    ]
    await approximate.close()
    return [row | build for row in rows]


async def fts5(data: Passages, folder: Path) -> list[dict[str, Any]]:
    """SQLite's FTS5 with Porter's stemmer and bm25(), in a file."""
    from proviso_service.reading import significant_words, telling_words

    place = folder / "fts5.sqlite3"
    with sqlite3.connect(place) as connection:
        begun = time.process_time()
        connection.execute("CREATE VIRTUAL TABLE passages USING fts5(text, tokenize='porter unicode61')")
        rows = ((number, text) for number, text in enumerate(data.texts))
        connection.executemany("INSERT INTO passages (rowid, text) VALUES (?, ?)", rows)
        connection.commit()
        build = {"build_cpu_s": time.process_time() - begun, "disk_mb": place.stat().st_size / MB}
        asked = [" OR ".join(f'"{w}"' for w in telling_words(significant_words(q))) for q in data.questions]

        def worded(number: int) -> Found:
            query = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?"
            return [row[0] for row in connection.execute(query, (asked[number], LIMIT))]

        return [await _figures("words", worded, data, is_near=False) | build]


async def langchain(data: Passages, folder: Path) -> list[dict[str, Any]]:
    """LangChain's EnsembleRetriever over its BM25Retriever and a vector store of FAISS, which compares all vectors. In
    the environment of the competitors."""
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.retrievers import BM25Retriever
    from langchain_community.vectorstores import FAISS
    from langchain_core.embeddings import Embeddings

    vectors: dict[str, Vectors] = dict(zip(data.questions, data.question_vectors, strict=True))

    class Known(Embeddings):
        """Questions are embedded already: their embedding is not compared here."""

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [vectors[text].tolist() for text in texts]

        def embed_query(self, text: str) -> list[float]:
            found: list[float] = vectors[text].tolist()
            return found

    begun = time.process_time()
    numbers = [{"row": row} for row in range(len(data.texts))]
    worded = BM25Retriever.from_texts(data.texts, metadatas=numbers, preprocess_func=lambda text: text.lower().split())
    worded.k = LIMIT
    pairs = zip(data.texts, data.vectors, strict=True)
    store = FAISS.from_embeddings(pairs, Known(), metadatas=numbers)
    nearby = store.as_retriever(search_kwargs={"k": LIMIT})
    ensemble = EnsembleRetriever(retrievers=[worded, nearby], weights=[0.5, 0.5])
    build = {"build_cpu_s": time.process_time() - begun}

    def asking(retriever: Any) -> Search:
        return lambda number: [found.metadata["row"] for found in retriever.invoke(data.questions[number])]

    rows = [
        await _figures("vectors", asking(nearby), data, is_near=True),
        await _figures("words", asking(worded), data, is_near=False),
        await _figures("both", asking(ensemble), data, is_near=False),
    ]
    return [row | build for row in rows]


def _size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MB


ENGINES = {"service": service, "Chroma": chroma, "FTS5": fts5, "LangChain": langchain}


async def measure(engine: str, folder: Path, count: int) -> list[dict[str, Any]]:
    data = Passages.load(folder, count)
    place = folder / f"{engine}-{count}"
    place.mkdir()
    gc.collect()
    before = resident_bytes("self")
    rows = await ENGINES[engine](data, place)
    gc.collect()
    grown = (resident_bytes("self") - before) / MB
    return [{"engine": engine, "passages": count, "memory_mb": grown} | row for row in rows]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))))
