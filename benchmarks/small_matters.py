"""Checks that a service with many small matters and a low limit of open files answers every query of every matter,
twice."""

import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.document_load import DocumentLoad
from benchmarks.startup import serving

PASSES = 2
_GOODS = ("turbines", "bicycles", "violins", "pumps", "lanterns", "tractors", "kilns", "looms", "anchors", "lenses")
_PLACES = ("Bergen", "Turin", "Leeds", "Porto", "Ghent", "Lyon", "Graz", "Cork", "Malmö", "Gdansk")


@dataclass(frozen=True, slots=True)
class SmallMatters:
    """The result. `wrong` lists the queries whose first passage was not the fact that only this matter holds."""

    matters: int
    open_files: int
    queries: int
    wrong: tuple[str, ...]
    ingest_s: float
    search_p50_ms: float
    search_p99_ms: float
    descriptors: int


async def measure_small_matters(folder: Path, models_dir: Path, matters: int, open_files: int) -> SmallMatters:
    """Creates the matters and makes the queries. Raises ProcessFailed."""
    async with serving(folder / "small.log", folder / "small", models_dir, open_files) as (server, channel):
        load = DocumentLoad(channel)
        begun = time.perf_counter()
        ids = [(await load.ingest(f"Matter {n}", [_agreement(n)])).matter_id for n in range(matters)]
        ingest_s = time.perf_counter() - begun
        times: list[float] = []
        wrong: list[str] = []
        for _ in range(PASSES):
            for number in range(matters):
                begun = time.perf_counter()
                answer = await load.search(ids[number], f"What does clause 2 say about {_goods(number)}?")
                times.append(time.perf_counter() - begun)
                if not (answer.results and _fact(number) in answer.results[0].chunk_text):
                    wrong.append(f"matter {number}")
        descriptors = server.open_files
    times.sort()
    return SmallMatters(
        matters,
        open_files,
        len(times),
        tuple(wrong),
        ingest_s,
        times[len(times) // 2] * 1e3,
        times[int(len(times) * 0.99)] * 1e3,
        descriptors,
    )


def _goods(number: int) -> str:
    return _GOODS[number % len(_GOODS)]


def _fact(number: int) -> str:
    return f"{number + 100} {_goods(number)} to {_PLACES[number // len(_GOODS) % len(_PLACES)]}"


def _agreement(number: int) -> tuple[str, bytes]:
    text = (
        f"# Supply Agreement {number}\n\n## 1. Parties\n\nThis Agreement is between Maker {number} and Buyer {number}."
        f"\n\n## 2. Delivery\n\nThe Supplier shall deliver {_fact(number)} each quarter, at its own risk."
        f"\n\n## 3. Law\n\nThis Agreement is governed by the law of Norway.\n"
    )
    return f"Supply Agreement {number}.md", text.encode()
