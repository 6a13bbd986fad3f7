"""What a search in a matter costs, beside other ways to search the same passages, from few passages to many."""

import asyncio
import json
import shutil
from typing import Any

from benchmarks.charts import lines
from benchmarks.processes import running
from benchmarks.report import Figures, Place, say, table
from benchmarks.search_engines import ENGINES
from benchmarks.synthetic import passages, vocabulary

SIZES = (1_000, 5_000, 25_000, 100_000, 250_000)
QUICK_SIZES = (1_000, 25_000)
MOST = {"LangChain": 25_000, "Chroma": 100_000}
"""Beyond, LangChain's words alone take seconds a query and gigabytes of memory, and Chroma minutes to be filled."""

TIMEOUT_S = 900.0
SERVICE = "service"


async def measure(place: Place) -> Figures:
    """A row for each way to search, by size."""
    sizes = QUICK_SIZES if place.quick else SIZES
    say(f"search: making {sizes[-1]:,} passages")
    made = await asyncio.to_thread(passages, sizes[-1], sizes[0], vocabulary(place.models_dir))
    made.save(place.folder)
    del made
    rows: Figures = await _whole(place)
    for size in sizes:
        for engine in ENGINES:
            if size <= MOST.get(engine, size):
                say(f"search: {engine}, {size:,} passages")
                rows += await _of_engine(place, engine, size)
    return rows


async def _of_engine(place: Place, engine: str, size: int) -> Figures:
    options: dict[str, Any] = {"python": place.competitors} if engine == "LangChain" else {}
    log = place.folder / f"{engine}-{size}.log"
    arguments = ("benchmarks.search_engines", engine, str(place.folder), str(size))
    async with running(log, *arguments, **options) as child:
        rows: Figures = json.loads(await child.line(TIMEOUT_S))
    shutil.rmtree(place.folder / f"{engine}-{size}")
    return rows


async def _whole(place: Place) -> Figures:
    """Whole searches in as many passages as sixty contracts have, with the embedding of their questions, beside the
    embedding alone; both in one process, by turns."""
    say("search: whole searches")
    log = place.folder / "whole.log"
    async with running(log, "benchmarks.whole_search", str(place.folder), str(place.models_dir)) as child:
        return list(json.loads(await child.line(TIMEOUT_S)))


def tables(rows: Figures) -> str:
    """The rows as a Markdown table."""
    head = ("passages", "searched with", "what", "CPU ms p50", "p99", "recall of ten", "to build CPU s")
    return table(
        (*head, "to load CPU s", "memory MB", "on disk MB"),
        [
            (
                *(f"{r['passages']:,}", r["engine"], r["what"], f"{r['p50_ms']:.2f}", f"{r['p99_ms']:.2f}"),
                *(_shown(r.get("recall"), 3), _shown(r.get("build_cpu_s"), 1), _shown(r.get("load_cpu_s"), 2)),
                *(_shown(r.get("memory_mb"), 0), _shown(r.get("disk_mb"), 0)),
            )
            for r in rows
        ],
    )


def _shown(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def charts(rows: Figures) -> dict[str, str]:
    """The drawings, by the names of their files."""

    def of(engine: str, what: str, figure: str = "p50_ms") -> list[tuple[float, float]]:
        return [(r["passages"], r[figure]) for r in rows if (r["engine"], r["what"]) == (engine, what)]

    by_vectors = {"service, exact": of(SERVICE, "vectors"), "Chroma": of("Chroma", "vectors")}
    by_words = {"service": of(SERVICE, "words"), "FTS5": of("FTS5", "words")}
    by_both = {"service": of(SERVICE, "both"), "service with Chroma": of("Chroma", "service's words, Chroma's vectors")}
    others = {name: of("LangChain", name) for name in ("vectors", "words", "both")}
    return {
        f"search-{what}": lines(
            f"CPU time of a search by {named}", "passages", "ms", some | {"LangChain": others[what]}
        )
        for what, named, some in (
            ("vectors", "vectors", by_vectors),
            ("words", "words", by_words),
            ("both", "words and vectors", by_both),
        )
    }
