"""`python -m benchmarks.guards [NAME ...]` fails when something that was made fast costs twice what it did.

Every figure is a ratio of CPU times that were taken by turns, and the median of its rounds, so that other work on the
machine does not count. A limit lies some seven tenths above the ratio that was measured when it was set: less is noise,
and a cost that doubles goes over it. What goes over its limit is measured a second time, and the better of both
counts."""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.growth import LONG, asking
from benchmarks.iql import forget_scores
from benchmarks.load import FLAT_OUT, ONE_TOKEN, PACED
from benchmarks.made_contracts import QuickEmbedder, contracts, data_folder
from benchmarks.processes import running
from benchmarks.report import Place, say, table
from benchmarks.search_engines import AT_ONCE, resident, searched
from benchmarks.startup import cpu_of_process, serving
from benchmarks.synthetic import passages, vocabulary
from benchmarks.turns import BARE, FASTAPI, SERVICE, Case, running_bench
from evals.data import Data
from evals.library import TENANT, library
from proviso_service.embedded import MiniLmEmbedder
from proviso_service.matters.model import SearchQuery
from proviso_service.matters.search_index import IndexQuery, MatterIndex
from proviso_service.models import Embedder
from proviso_service.reading import ReadingLimits

Ratios = Mapping[str, list[float]]
"""By the name of a limit, the ratios of all rounds."""

LIMITS: dict[str, float] = {
    "a turn of one token, by FastAPI's": 2.8,
    "a token flat out, by the bare server's": 2.1,
    "a token flat out, by FastAPI's": 0.75,
    "a paced token, by FastAPI's": 1.0,
    "a turn in a session of 1,600 messages, by one in a new session": 2.0,
    "a turn with a history of 200 messages, by one without": 1.6,
    "a whole search, by the embedding of its question": 4.2,
    "words and vectors of 10,000 passages, by their comparison alone": 6.5,
    "the load of 10,000 passages, by sorting as many numbers as they have words": 8.0,
    "eight searches at once, by one at once": 1.3,
    "ingestion, by the embedding of its passages": 1.6,
    "ingestion of four documents without its model, by the embedding of one": 0.52,
    "IQL of four new statements, by the classifier alone": 1.1,
    "IQL of known statements, by the classifier of one": 0.25,
    "a start, by imports of gRPC, LangGraph and SQLAlchemy": 2.0,
    "proviso --help, by Python's own start": 12.5,
}

SESSION_MESSAGES = 1_600
"""So many that they cost as much as all else in a turn, and still fit into it."""

HISTORY = 200
"""As many as a request may have."""

PASSAGES = 10_000
ROUNDS = 5
PACED_CASE = Case(PACED, 24, 1, rounds=2)


def _cpu(work: Callable[[], object], times: int = 1) -> float:
    """The CPU seconds of this process, all threads together."""
    begun = time.process_time()
    for _ in range(times):
        work()
    return time.process_time() - begun


def _compared(one: Callable[[], float], other: Callable[[], float], rounds: int = ROUNDS) -> list[float]:
    """The ratios of two costs that are measured by turns."""
    ratios = []
    for number in range(rounds):
        if number % 2 == 0:
            first = one()
            ratios.append(first / other())
        else:
            second = other()
            ratios.append(one() / second)
    return ratios


async def turns(place: Place) -> Ratios:
    """Tokens and turns beside those of other servers."""
    cases = {
        "turn": Case(ONE_TOKEN, 16, 12, rounds=4),
        "flat": Case(FLAT_OUT, 16, 2, rounds=4),
    }
    async with running_bench(place, (BARE, SERVICE, FASTAPI)) as bench:
        costs = {name: await bench.measure(case) for name, case in cases.items()}
        costs["paced"] = await bench.measure(PACED_CASE, (SERVICE, FASTAPI))

    def by(case: str, other: str) -> list[float]:
        return [
            one.cpu_s / another.cpu_s for one, another in zip(costs[case][SERVICE], costs[case][other], strict=True)
        ]

    return {
        "a turn of one token, by FastAPI's": by("turn", FASTAPI),
        "a token flat out, by the bare server's": by("flat", BARE),
        "a token flat out, by FastAPI's": by("flat", FASTAPI),
        "a paced token, by FastAPI's": by("paced", FASTAPI),
    }


async def growth(place: Place) -> Ratios:
    """Turns in long conversations beside turns in new ones."""
    async with asking(place) as asker:
        await asker.fill(0, LONG, SESSION_MESSAGES)
        new, old = await asker.compare(asker.in_new_session, lambda: asker.request(LONG))
        await asker.ask(asker.request(history=HISTORY))
        none, some = await asker.compare(asker.request, lambda: asker.request(history=HISTORY))
    return {
        "a turn in a session of 1,600 messages, by one in a new session": _by(old, new),
        "a turn with a history of 200 messages, by one without": _by(some, none),
    }


def _by(figures: list[float], others: list[float]) -> list[float]:
    return [one / other for one, other in zip(figures, others, strict=True)]


async def search(place: Place) -> Ratios:
    """A search in memory beside the least that it could do."""
    data = passages(PASSAGES, PASSAGES, vocabulary(place.models_dir))
    index, queries, _ = resident(data)
    documents = list(index.documents)
    at_once = [
        await _cpu_of_searches(index, queries, AT_ONCE) / await _cpu_of_searches(index, queries, 1)
        for _ in range(ROUNDS)
    ]
    numbers = np.random.default_rng(0).random(len(index.ranking.scores["indices"]))
    return {
        "words and vectors of 10,000 passages, by their comparison alone": _compared(
            lambda: _cpu(lambda: [index.search(query) for query in queries[:50]]),
            lambda: _cpu(lambda: [np.vecdot(index.vectors, query.vector) for query in queries[:50]]),
        ),
        "the load of 10,000 passages, by sorting as many numbers as they have words": _compared(
            lambda: _cpu(lambda: MatterIndex.build(1, documents, index.vectors.shape[1])),
            lambda: _cpu(lambda: np.argsort(numbers)),
        ),
        "eight searches at once, by one at once": at_once,
    }


async def _cpu_of_searches(index: MatterIndex, queries: Sequence[IndexQuery], at_once: int) -> float:
    begun = time.process_time()
    await searched(index, queries, at_once)
    return time.process_time() - begun


async def queries(place: Place) -> Ratios:
    """IQL beside its classifier alone."""
    await data_folder(place.folder, place.models_dir, 40)
    runs = []
    for number in range(3):
        arguments = ("benchmarks.iql_runtime", str(place.folder / "state.sqlite3"), str(place.models_dir), "contracts")
        forget_scores(place.folder / "state.sqlite3")
        async with running(place.folder / f"runtime-{number}.log", *arguments) as child:
            runs.append(json.loads(await child.line(120.0)))
    return {
        "IQL of four new statements, by the classifier alone": [1 / run["all_statements_ratio"] for run in runs],
        "IQL of known statements, by the classifier of one": [
            run["repeated_ms"] * run["bare_later"] / run["passages"] / 1e3 for run in runs
        ],
    }


async def documents(place: Place) -> Ratios:
    """Whole searches and ingestion beside the model that both wait for."""
    model = MiniLmEmbedder.load(place.models_dir)
    files, questions = contracts(place.folder, 20, vocabulary(place.models_dir))
    limits = ReadingLimits().chunk_chars
    try:
        async with library(Data(files, ()), place.folder, QuickEmbedder(model), limits) as books:

            async def embed(some: Sequence[str]) -> None:
                for question in some:
                    await model.embed_query(question)

            async def whole(some: Sequence[str]) -> None:
                for question in some:
                    await books.retriever.search(TENANT, SearchQuery(books.matter.matter_id, question))

            await whole(questions[:5])
            searches = [
                await _cpu_of(whole, questions[n::5]) / await _cpu_of(embed, questions[n::5]) for n in range(ROUNDS)
            ]
        return {
            "a whole search, by the embedding of its question": searches,
            **await _ingestion(place, model, list(files.items())),
        }
    finally:
        await model.close()


async def _ingestion(place: Place, model: MiniLmEmbedder, files: Sequence[tuple[str, Path]]) -> Ratios:
    """Stores contracts: one with the model, and others without, whose cost the model's would hide."""
    whole, without = [], []

    async def embed(texts: Sequence[str]) -> None:
        await model.embed_documents(texts)

    async def stored(embedder: Embedder, some: Sequence[tuple[str, Path]]) -> float:
        with tempfile.TemporaryDirectory(dir=place.folder) as folder:

            async def ingest(_: Sequence[str]) -> None:
                async with library(Data(dict(some), ()), Path(folder), embedder, ReadingLimits().chunk_chars):
                    pass

            return await _cpu_of(ingest, ())

    for number in range(3):
        texts = await asyncio.to_thread(files[number][1].read_text, encoding="utf-8")
        embedding_s = await _cpu_of(embed, texts.split("\n\n"))
        whole.append(await stored(model, files[number : number + 1]) / embedding_s)
        without.append(await stored(QuickEmbedder(model), files[4 * number :][:4]) / embedding_s)
    return {
        "ingestion, by the embedding of its passages": whole,
        "ingestion of four documents without its model, by the embedding of one": without,
    }


async def _cpu_of(work: Callable[[Sequence[str]], Awaitable[None]], texts: Sequence[str]) -> float:
    begun = time.process_time()
    await work(texts)
    return time.process_time() - begun


async def start(place: Place) -> Ratios:
    """Starts beside what every such service imports."""
    ratios = []
    for _ in range(3):
        imports = await asyncio.to_thread(cpu_of_process, "-c", "import grpc.aio, langgraph.graph, sqlalchemy")
        async with serving(place.folder / "start.log", place.folder / "started", place.models_dir) as (server, _):
            ratios.append(server.cpu_s / imports)
    return {
        "a start, by imports of gRPC, LangGraph and SQLAlchemy": ratios,
        "proviso --help, by Python's own start": _compared(
            lambda: cpu_of_process("-m", "proviso_service.cli", "--help"), lambda: cpu_of_process("-c", "pass")
        ),
    }


GROUPS: dict[str, Callable[[Place], Awaitable[Ratios]]] = {
    "turns": turns,
    "growth": growth,
    "search": search,
    "documents": documents,
    "queries": queries,
    "start": start,
}


async def _measured(group: str, models_dir: Path) -> Ratios:
    say(f"guards: {group}")
    with tempfile.TemporaryDirectory(prefix="proviso-guards-") as folder:
        return await GROUPS[group](Place(Path(folder), models_dir, Path(sys.executable), quick=True))


async def _check(groups: Sequence[str], models_dir: Path) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for group in groups:
        ratios = await _measured(group, models_dir)
        again = await _measured(group, models_dir) if any(median(ratios[n]) > LIMITS[n] for n in ratios) else ratios
        for name, found in ratios.items():
            best = min((found, again[name]), key=median)
            verdict = "yes" if median(best) <= LIMITS[name] else "NO"
            spread = f"{min(best):.2f} to {max(best):.2f}"
            rows.append((name, f"{median(best):.2f}", spread, f"{LIMITS[name]:.2f}", verdict))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guards", description="Guards what was made fast.")
    parser.add_argument("groups", nargs="*", metavar="NAME", help=f"of {', '.join(GROUPS)}; all where none is named")
    parser.add_argument("--models-dir", type=Path, default=Path(".proviso/models"), help="[.proviso/models]")
    options = parser.parse_args()
    rows = asyncio.run(_check(options.groups or list(GROUPS), options.models_dir.resolve()))
    print(table(("cost", "median", "rounds", "at most", "held"), rows))
    return int(any(row[-1] == "NO" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
