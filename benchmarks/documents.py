"""`python -m benchmarks.documents --data DIR [--contracts N] [--matters N] [--state DIR]` measures ingestion and search
with many documents."""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import grpc

from benchmarks.document_load import Corpus, DocumentLoad, Ingested, NoCorpus, read_corpus, read_files
from benchmarks.process_tree import peak_memory, tree_cpu_s
from benchmarks.processes import ProcessFailed, running
from benchmarks.report import table
from benchmarks.small_matters import SmallMatters, measure_small_matters
from benchmarks.startup import serving

CONTRACTS = "contracts"
SMALL_MATTERS = 400
OPEN_FILES = 1_024
SEARCHES_AT_ONCE = 8
BARE_TIMEOUT_S = 3_600.0
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class IngestFigures:
    """The ingestion of one matter. `peak_tree_mb` is an upper bound of the memory of the service with its worker
    processes."""

    matter: str
    documents: int
    failed: tuple[str, ...]
    chunks: int
    elapsed_s: float
    cpu_s: float
    peak_service_mb: float
    peak_tree_mb: float

    @property
    def chunks_per_s(self) -> float:
        return self.chunks / self.elapsed_s


@dataclass(frozen=True, slots=True)
class SearchFigures:
    at_once: int
    searches: int
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Report:
    """All figures of a run. `bare_chunks_per_s` is the speed of the embedding model alone on the distinct passages of
    all matters, `bare_cpu_ms` its CPU time for one."""

    ingests: Sequence[IngestFigures]
    bare_chunks_per_s: float
    bare_cpu_ms: float
    sizes_mb: dict[str, float]
    searches: Sequence[SearchFigures]
    small: SmallMatters

    @property
    def ratio(self) -> float:
        return self.ingests[0].chunks_per_s / self.bare_chunks_per_s

    @property
    def cpu_ratio(self) -> float:
        """The model's part of the CPU time that the service takes for a passage, its worker processes included."""
        return self.bare_cpu_ms / (self.ingests[0].cpu_s * 1e3 / self.ingests[0].chunks)

    def to_json(self) -> str:
        return json.dumps(asdict(self) | {"ratio": self.ratio, "cpu_ratio": self.cpu_ratio}, indent=2)


async def _measure(corpus: Corpus, folder: Path, data_dir: Path, models_dir: Path, small_matters: int) -> Report:
    async with serving(folder / "serve.log", data_dir, models_dir) as (server, channel):
        ingests, matter_id = [], ""
        for name, paths in ((CONTRACTS, corpus.contracts), ("PDFs", corpus.pdfs)):
            _say(f"ingesting {len(paths)} {name}")
            before_s = tree_cpu_s(server.process.pid)
            async with peak_memory(server.process.pid) as memory:
                ingested = await DocumentLoad(channel).ingest(name, read_files(paths))
            cpu_s = tree_cpu_s(server.process.pid) - before_s
            ingests.append(_figures(name, ingested, cpu_s, memory.process_bytes, memory.tree_bytes))
            matter_id = matter_id or ingested.matter_id
        _say("searching")
        searches = await _search(channel, matter_id, corpus.questions)
    _say("the model alone")
    bare_chunks_per_s, bare_cpu_ms = await _bare(folder, data_dir / "state.sqlite3", models_dir)
    _say(f"{small_matters} small matters")
    small = await measure_small_matters(folder, models_dir, small_matters, OPEN_FILES)
    return Report(ingests, bare_chunks_per_s, bare_cpu_ms, _sizes(data_dir), searches, small)


def _figures(name: str, ingested: Ingested, cpu_s: float, process_bytes: int, tree_bytes: int) -> IngestFigures:
    return IngestFigures(
        name,
        len(ingested.documents),
        tuple(f"{document.filename}: {document.failure_reason}" for document in ingested.failed),
        ingested.chunks,
        ingested.elapsed_s,
        cpu_s,
        process_bytes / _MB,
        tree_bytes / _MB,
    )


async def _measure_searches(corpus: Corpus, folder: Path, data_dir: Path, models_dir: Path) -> list[SearchFigures]:
    """Measures searches in the matter of an earlier run."""
    async with serving(folder / "serve.log", data_dir, models_dir) as (_, channel):
        load = DocumentLoad(channel)
        matter_id = await load.matter_named(CONTRACTS)
        # After a start the index is compared with the database, and searches are slow until that is done.
        await load.search_times_s(matter_id, [*corpus.questions] * 3, 1)
        return await _search(channel, matter_id, corpus.questions)


async def _search(channel: grpc.aio.Channel, matter_id: str, questions: Sequence[str]) -> list[SearchFigures]:
    load = DocumentLoad(channel)
    queries = [text for question in questions for text in (question, " ".join(question.split()[:6]))] * 4
    figures = []
    for at_once in (1, SEARCHES_AT_ONCE):
        times = await load.search_times_s(matter_id, queries, at_once)
        p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
        figures.append(SearchFigures(at_once, len(times), p50 * 1e3, p99 * 1e3))
    return figures


async def _bare(folder: Path, database: Path, models_dir: Path) -> tuple[float, float]:
    async with running(folder / "bare.log", "benchmarks.bare_embedder", str(database), str(models_dir)) as child:
        count, seconds, cpu_s = (await child.line(BARE_TIMEOUT_S)).split()
    return int(count) / float(seconds), float(cpu_s) * 1e3 / int(count)


def _sizes(data_dir: Path) -> dict[str, float]:
    parts = {"database": "state.sqlite3*", "uploaded bytes": "blobs/**/*"}
    return {
        name: sum(path.stat().st_size for path in data_dir.glob(pattern) if path.is_file()) / _MB
        for name, pattern in parts.items()
    }


def _markdown(report: Report) -> str:
    ingests = table(
        (
            "matter",
            "documents",
            "failed",
            "chunks",
            "seconds",
            "chunks/s",
            "CPU ms/chunk",
            "peak service MB",
            "with workers MB",
        ),
        [
            (
                *(f.matter, str(f.documents), str(len(f.failed)), f"{f.chunks:,}", f"{f.elapsed_s:,.1f}"),
                *(f"{f.chunks_per_s:.1f}", f"{f.cpu_s * 1e3 / f.chunks:.2f}"),
                *(f"{f.peak_service_mb:,.0f}", f"{f.peak_tree_mb:,.0f}"),
            )
            for f in report.ingests
        ],
    )
    sizes = ", ".join(f"{name} {size:,.1f} MB" for name, size in report.sizes_mb.items())
    parts = [
        ingests,
        _ratio(report),
        _searches(report.searches),
        f"On disk: {sizes}.",
        _small(report.small),
        *(f"Failed: {failure}" for f in report.ingests for failure in f.failed),
        *(f"Wrong: {query}" for query in report.small.wrong[:20]),
    ]
    return "\n\n".join(parts)


def _ratio(report: Report) -> str:
    return (
        f"The model alone: {report.bare_chunks_per_s:.1f} chunks/s, {report.bare_cpu_ms:.2f} ms of CPU time a chunk;"
        f" ingestion by that: {report.ratio:.2f}, by CPU time {report.cpu_ratio:.2f} (aim 0.9)."
    )


def _searches(figures: Sequence[SearchFigures]) -> str:
    return table(
        ("searches at once", "searches", "p50 ms", "p99 ms"),
        [(str(f.at_once), str(f.searches), f"{f.p50_ms:.1f}", f"{f.p99_ms:.1f}") for f in figures],
    )


def _small(small: SmallMatters) -> str:
    return (
        f"{small.matters} small matters, at most {small.open_files} open files: {small.queries} queries,"
        f" {len(small.wrong)} wrong; p50 {small.search_p50_ms:.1f} ms, p99 {small.search_p99_ms:.1f} ms;"
        f" ingested in {small.ingest_s:.0f} s; {small.descriptors} files open in the service at the end."
    )


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.documents", description="Measures documents at scale.")
    parser.add_argument("--data", type=Path, required=True, help="folder with contracts/, pdf/ and categories.json")
    parser.add_argument("--contracts", type=int, metavar="N", help="only the first N contracts and PDFs")
    parser.add_argument("--matters", type=int, default=SMALL_MATTERS, metavar="N", help="small matters [400]")
    parser.add_argument(
        "--state",
        type=Path,
        metavar="DIR",
        help="the service's folder, kept; if it is there, only searches are measured",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    parser.add_argument("--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models")
    options = parser.parse_args()
    try:
        corpus = read_corpus(options.data, options.contracts)
        with tempfile.TemporaryDirectory(prefix="proviso-benchmark-") as folder:
            state, models_dir = (options.state or Path(folder) / "data").resolve(), options.models_dir.resolve()
            if state.exists():
                print(_searches(asyncio.run(_measure_searches(corpus, Path(folder), state, models_dir))))
                return 0
            report = asyncio.run(_measure(corpus, Path(folder), state, models_dir, options.matters))
    except (NoCorpus, ProcessFailed) as error:
        _say(str(error))
        return 1
    print(_markdown(report))
    if options.json:
        options.json.write_text(report.to_json() + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
