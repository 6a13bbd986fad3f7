"""`python -m benchmarks.iql --data DIR [--state DIR] [--contracts N] [--json FILE]` measures IQL queries over many
contracts."""

import argparse
import asyncio
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import grpc

from benchmarks.document_load import CALL_TIMEOUT_S, DocumentLoad, NoCorpus, read_corpus, read_files
from benchmarks.processes import ProcessFailed, running
from benchmarks.report import table
from benchmarks.startup import serving
from proviso_client.v1 import matters_pb2, tools_pb2
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub
from proviso_client.v1.tools_pb2_grpc import ToolServiceStub

if TYPE_CHECKING:
    from proviso_client.v1.matters_pb2_grpc import MatterServiceAsyncStub
    from proviso_client.v1.tools_pb2_grpc import ToolServiceAsyncStub

MATTER = "contracts"
COLD = '{IS termination clause} AND {IS clause that "requires notice in writing"} OR {IS indemnity clause}'
RECOMBINED = (
    "{IS termination clause} > {IS indemnity clause}",
    "NOT {IS indemnity clause} AND {IS termination clause}",
    "{IS indemnity clause} + {IS termination clause}",
    '{IS clause that "requires notice in writing"} AND NOT {IS termination clause}',
)
ONE_DOCUMENT = (
    "{IS confidentiality clause} OR {IS payment clause} OR {IS governing law clause} OR {IS liability cap clause}"
)
ROUNDS = 5
CHARACTERS_OF_50_PAGES = 150_000
QUERY_TIMEOUT_S = 600.0
RUNTIME_TIMEOUT_S = 1_800.0


@dataclass(frozen=True, slots=True)
class Runtime:
    """Figures of the classifier alone and of the analysis around it, as CPU times of one process. Speeds are passages
    times statements per second, each with a classifier that has scored nothing before: `first` is that of a first
    statement, which also reads the passages, `later` that of the statements after it. `repeated_ms` and `recombined_ms`
    are the times of queries whose statements have been scored already. `judged_ratio` is by the clock: how much longer
    three new statements take with the judge."""

    passages: int
    bare_first: float
    bare_later: float
    analysis_first: float
    analysis_later: float
    all_statements_ratio: float
    judged_ratio: float
    cache_mb_per_million: float
    repeated_ms: float
    recombined_ms: float


@dataclass(frozen=True, slots=True)
class Report:
    documents: int
    chunks: int
    first_result_s: float
    cold_s: float
    matches: int
    repeated_ms: float
    recombined_ms: float
    document_characters: int
    document_s: float
    runtime: Runtime

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2)


class Queries:
    """Makes IQL queries over one channel."""

    def __init__(self, channel: grpc.aio.Channel, matter_id: str) -> None:
        self._tools: ToolServiceAsyncStub = ToolServiceStub(channel)
        self._matter_id = matter_id

    async def stream_times_s(self, query: str) -> tuple[float, float]:
        """The seconds until the first result and until the summary."""
        begun, first = time.perf_counter(), 0.0
        call = self._tools.StreamIql(tools_pb2.StreamIqlRequest(query=self._query(query)), timeout=QUERY_TIMEOUT_S)
        async for _ in call:
            first = first or time.perf_counter() - begun
        return first, time.perf_counter() - begun

    async def matches(self, query: str) -> int:
        return (await self._tools.ExecuteIql(self._query(query), timeout=QUERY_TIMEOUT_S)).total_matches

    async def time_s(self, query: str, document_id: str = "") -> float:
        request = self._query(query)
        if document_id:
            request.document_ids.append(document_id)
        begun = time.perf_counter()
        await self._tools.ExecuteIql(request, timeout=QUERY_TIMEOUT_S)
        return time.perf_counter() - begun

    def _query(self, query: str) -> tools_pb2.ExecuteIqlRequest:
        return tools_pb2.ExecuteIqlRequest(matter_id=self._matter_id, query=query)


async def measure_contracts(contracts: Sequence[Path], folder: Path, state: Path, models_dir: Path) -> Report:
    """Measures queries over the contracts, or over those that the state has from an earlier run."""
    forget_scores(state / "state.sqlite3")
    async with serving(folder / "serve.log", state, models_dir) as (_, channel):
        matter_id = await _matter(channel, contracts)
        documents = await _documents(channel, matter_id)
        one = max((d for d in documents if d.character_count <= CHARACTERS_OF_50_PAGES), key=lambda d: d.chunk_count)
        queries = Queries(channel, matter_id)
        _say("queries")
        document_s = await queries.time_s(ONE_DOCUMENT, one.document_id)
        first_s, cold_s = await queries.stream_times_s(COLD)
        matches = await queries.matches(COLD)
        repeated = [await queries.time_s(COLD) for _ in range(ROUNDS)]
        recombined = [await queries.time_s(query) for _ in range(ROUNDS) for query in RECOMBINED]
    _say("the classifier alone")
    runtime = await _runtime(folder, state, models_dir)
    return Report(
        documents=len(documents),
        chunks=sum(document.chunk_count for document in documents),
        first_result_s=first_s,
        cold_s=cold_s,
        matches=matches,
        repeated_ms=_median(repeated) * 1e3,
        recombined_ms=_median(recombined) * 1e3,
        document_characters=one.character_count,
        document_s=document_s,
        runtime=runtime,
    )


def forget_scores(database: Path) -> None:
    """Deletes the stored scores, so that every statement is new."""
    if database.exists():
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("DELETE FROM statement_scores")


async def _matter(channel: grpc.aio.Channel, contracts: Sequence[Path]) -> str:
    """The id of the matter that the state holds already, else that of a new one."""
    stub: MatterServiceAsyncStub = MatterServiceStub(channel)
    known = await stub.ListMatters(matters_pb2.ListMattersRequest(name=MATTER), timeout=CALL_TIMEOUT_S)
    if known.matters:
        return known.matters[0].matter_id
    _say(f"ingesting {len(contracts)} contracts")
    return (await DocumentLoad(channel).ingest(MATTER, read_files(contracts))).matter_id


async def _documents(channel: grpc.aio.Channel, matter_id: str) -> list[matters_pb2.Document]:
    stub: MatterServiceAsyncStub = MatterServiceStub(channel)
    found: list[matters_pb2.Document] = []
    token = ""
    while True:
        request = matters_pb2.ListDocumentsRequest(matter_id=matter_id, page_token=token)
        page = await stub.ListDocuments(request, timeout=CALL_TIMEOUT_S)
        found += page.documents
        token = page.next_page_token
        if not token:
            return found


async def _runtime(folder: Path, state: Path, models_dir: Path) -> Runtime:
    arguments = (str(state / "state.sqlite3"), str(models_dir), MATTER)
    async with running(folder / "runtime.log", "benchmarks.iql_runtime", *arguments) as child:
        return Runtime(**json.loads(await child.line(RUNTIME_TIMEOUT_S)))


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def markdown(report: Report) -> str:
    """The figures as Markdown tables."""
    runtime = report.runtime
    over_the_wire = table(
        ("over gRPC", "measured", "aim"),
        [
            ("three new statements: first result of the stream", f"{report.first_result_s:.2f} s", "1 s"),
            ("three new statements: all documents", f"{report.cold_s:.1f} s", ""),
            (f"the same query again, {report.matches:,} matches", f"{report.repeated_ms:.0f} ms", ""),
            ("its statements recombined", f"{report.recombined_ms:.0f} ms", ""),
            (
                f"four new statements on one document of {report.document_characters:,} characters",
                f"{report.document_s:.2f} s",
                "10 s",
            ),
        ],
    )
    speeds = table(
        ("passages x statements a CPU second", "classifier alone", "analysis", "ratio"),
        [
            _speeds("first statement", runtime.bare_first, runtime.analysis_first),
            _speeds("each statement after it", runtime.bare_later, runtime.analysis_later),
        ],
    )
    head = f"{report.documents} documents, {report.chunks:,} passages."
    known = table(
        ("the analysis alone, statements known", "CPU", "aim"),
        [
            ("the same query again", f"{runtime.repeated_ms:.0f} ms", "50 ms"),
            ("statements recombined", f"{runtime.recombined_ms:.0f} ms", "100 ms"),
        ],
    )
    foot = (
        f"All statements of one query together: {runtime.all_statements_ratio:.2f} of the classifier alone (aim 0.9)."
        f" With the judge three new statements take {runtime.judged_ratio:.2f} times as long (aim 1.5)."
        f" Scores in memory: {runtime.cache_mb_per_million:.1f} MB a million."
    )
    return f"{head}\n\n{over_the_wire}\n\n{known}\n\n{speeds}\n\n{foot}"


def _speeds(name: str, bare: float, analysis: float) -> tuple[str, str, str, str]:
    return name, f"{bare:,.0f}", f"{analysis:,.0f}", f"{analysis / bare:.2f}"


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.iql", description="Measures IQL over many contracts.")
    parser.add_argument("--data", type=Path, required=True, help="folder with contracts/, pdf/ and categories.json")
    parser.add_argument("--state", type=Path, metavar="DIR", help="the service's folder, kept; a new one when absent")
    parser.add_argument("--contracts", type=int, metavar="N", help="only the first N contracts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    parser.add_argument("--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models")
    options = parser.parse_args()
    try:
        corpus = read_corpus(options.data, options.contracts)
        with tempfile.TemporaryDirectory(prefix="proviso-benchmark-") as folder:
            state = options.state or Path(folder) / "data"
            work = measure_contracts(corpus.contracts, Path(folder), state.resolve(), options.models_dir.resolve())
            report = asyncio.run(work)
    except (NoCorpus, ProcessFailed) as error:
        _say(str(error))
        return 1
    print(markdown(report))
    if options.json:
        options.json.write_text(report.to_json() + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
