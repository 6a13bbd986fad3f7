"""What it costs one process that it can share: embedded, beside the version before that; with its turns in Redis; and
with its state in PostgreSQL. The ways take turns in going first. Each ratio is the median of those of all rounds."""

import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import grpc

from benchmarks.charts import bars
from benchmarks.document_load import DocumentLoad, create_empty_matter
from benchmarks.load import FLAT_OUT, ONE_TOKEN, PACED, Load, Seen
from benchmarks.processes import Child, running
from benchmarks.report import ROOT, Figures, Place, say, table
from benchmarks.shared import Shared, service, shared_servers
from benchmarks.synthetic import passages, vocabulary
from benchmarks.turns import LOAD_TIMEOUT_S, Case

BEFORE_COMMIT = "8b21c2ed"
"""The last one whose state could only be SQLite, and whose turns ended with their process."""

BEFORE, EMBEDDED, REDIS, POSTGRES = "embedded, before", "embedded", "turns in Redis", "PostgreSQL and Redis"

FULL = (Case(ONE_TOKEN, 32, 16, rounds=8), Case(FLAT_OUT, 32, 3, rounds=6), Case(PACED, 32, 1, rounds=4))
QUICK = (Case(ONE_TOKEN, 32, 6, rounds=2), Case(FLAT_OUT, 32, 1, rounds=2), Case(PACED, 32, 1, rounds=1))
WARM_UP = Case(ONE_TOKEN, 32, 4, rounds=1)

PASSAGES = 1_000


@dataclass(frozen=True, slots=True)
class Way:
    """A running service, and the shared servers that it uses."""

    server: Child
    address: str
    matter_id: str
    shared: Shared | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """CPU seconds for so many turns with so many tokens."""

    service_s: float
    redis_s: float
    postgres_s: float
    turns: int
    tokens: int


@asynccontextmanager
async def _ways(place: Place) -> AsyncIterator[dict[str, Way]]:
    async with AsyncExitStack() as stack:
        shared = await stack.enter_async_context(shared_servers(place.folder))
        redis = {"redis_url": shared.storage["redis_url"]}

        async def way(name: str, storage: Mapping[str, str], uses: Shared | None, **options: Any) -> Way:
            data_dir = place.folder / name.replace(" ", "-").replace(",", "")
            started = service(data_dir, place.models_dir, {"storage": dict(storage)}, **options)
            server, address = await stack.enter_async_context(started)
            return Way(server, address, await create_empty_matter(address), uses)

        ways = {}
        if (before := _checked_out(place.folder / "before")) is not None:
            paths = os.pathsep.join(str(before / part) for part in (".", "service", "clients/python"))
            ways[BEFORE] = await way(BEFORE, {}, None, folder=before, variables={"PYTHONPATH": paths})
        ways[EMBEDDED] = await way(EMBEDDED, {}, None)
        ways[REDIS] = await way(REDIS, redis, shared)
        ways[POSTGRES] = await way(POSTGRES, shared.storage, shared, variables=shared.variables)
        yield ways


def _checked_out(folder: Path) -> Path | None:
    """The files of the commit before; None where the repository does not have it."""
    archive = subprocess.run(("git", "archive", BEFORE_COMMIT), cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        return None
    folder.mkdir()
    subprocess.run(("tar", "-x", "-C", str(folder)), input=archive.stdout, check=True)
    return folder


async def measure(place: Place) -> Figures:
    """A row for each workload in each way, and one for what a passage takes in PostgreSQL."""
    rows: Figures = []
    async with _ways(place) as ways, running(place.folder / "client.log", "benchmarks.client") as client:
        for way in ways.values():
            await _round(client, way, WARM_UP)
        for case in QUICK if place.quick else FULL:
            say(f"sharing: {case.workload.name}, {case.streams} streams")
            rounds: dict[str, list[Round]] = {name: [] for name in ways}
            for number in range(case.rounds):
                for name in list(ways)[:: 1 if number % 2 == 0 else -1]:
                    rounds[name].append(await _round(client, ways[name], case))
            rows += [_figures(case, name, rounds) for name in rounds]
        say("sharing: a document in PostgreSQL")
        rows.append(await _stored(ways[POSTGRES], place.models_dir))
    return rows


async def _round(client: Child, way: Way, case: Case) -> Round:
    # Paced tokens are events of their own only where no sentence is waited for.
    load = Load(way.address, way.matter_id, case.workload.name, case.streams, case.turns, is_raw=case.workload == PACED)
    before = _cpu_s(way)
    seen = Seen.from_json(await client.ask(load.to_json(), LOAD_TIMEOUT_S))
    service_s, redis_s, postgres_s = (after - earlier for after, earlier in zip(_cpu_s(way), before, strict=True))
    return Round(service_s, redis_s, postgres_s, seen.turns, seen.tokens)


def _cpu_s(way: Way) -> tuple[float, float, float]:
    if way.shared is None:
        return way.server.cpu_s, 0.0, 0.0
    return way.server.cpu_s, way.shared.redis_cpu_s, way.shared.postgres_cpu_s


def _figures(case: Case, name: str, rounds: Mapping[str, list[Round]]) -> dict[str, Any]:
    """Of the ratios, that by the version before counts the service's process alone, for it is embedded; that by the
    embedded service counts with Redis itself."""

    def ratios(by: str, *, with_redis: bool) -> list[float]:
        pairs = zip(rounds[name], rounds.get(by, []), strict=False)
        return sorted((one.service_s + one.redis_s * with_redis) / other.service_s for one, other in pairs)

    own = rounds[name]
    turns, by_embedded, by_before = sum(r.turns for r in own), ratios(EMBEDDED, with_redis=True), []
    by_before = ratios(BEFORE, with_redis=False)
    return {
        "workload": case.workload.name,
        "way": name,
        "service_ms": sum(r.service_s for r in own) * 1e3 / turns,
        "redis_ms": sum(r.redis_s for r in own) * 1e3 / turns,
        "postgres_ms": sum(r.postgres_s for r in own) * 1e3 / turns,
        "tokens": sum(r.tokens for r in own) / turns,
        "by_embedded": median(by_embedded),
        "by_embedded_range": [by_embedded[0], by_embedded[-1]],
    } | ({"by_before": median(by_before), "by_before_range": [by_before[0], by_before[-1]]} if by_before else {})


async def _stored(way: Way, models_dir: Path) -> dict[str, Any]:
    """What a document of made passages takes in PostgreSQL and of CPU time."""
    assert way.shared is not None
    text = "".join(f"{some}.\n\n" for some in passages(PASSAGES, 1, vocabulary(models_dir)).texts).encode()
    before_bytes, before = way.shared.stored_bytes(), _cpu_s(way)
    async with grpc.aio.insecure_channel(way.address) as channel:
        ingested = await DocumentLoad(channel).ingest("Supply", [("supply.txt", text)])
    used = [after - earlier for after, earlier in zip(_cpu_s(way), before, strict=True)]
    return {
        "way": "a document in PostgreSQL",
        "passages": ingested.chunks,
        "text_bytes": len(text) / ingested.chunks,
        "stored_bytes": (way.shared.stored_bytes() - before_bytes) / ingested.chunks,
        "service_ms": used[0] * 1e3 / ingested.chunks,
        "postgres_ms": used[2] * 1e3 / ingested.chunks,
    }


def tables(rows: Figures) -> str:
    """The rows as Markdown."""
    turns, [stored] = [row for row in rows if "workload" in row], [row for row in rows if "passages" in row]
    head = ("workload", "service", "CPU ms/turn", "Redis", "PostgreSQL", "with Redis, times embedded", "round by round")
    lines = [
        (
            *(r["workload"], r["way"], *(f"{r[name]:.2f}" for name in ("service_ms", "redis_ms", "postgres_ms"))),
            *(f"{r['by_embedded']:.2f}", "{:.2f} to {:.2f}".format(*r["by_embedded_range"])),
            f"{r['by_before']:.2f}" if "by_before" in r else "",
            "{:.2f} to {:.2f}".format(*r["by_before_range"]) if "by_before" in r else "",
        )
        for r in turns
    ]
    said = (
        f"{stored['passages']:,} passages of {stored['text_bytes']:,.0f} bytes take {stored['stored_bytes']:,.0f} "
        f"bytes each in PostgreSQL, {stored['service_ms']:.1f} ms of CPU time of the service with its embedding, and "
        f"{stored['postgres_ms']:.2f} ms of PostgreSQL."
    )
    return table((*head, f"times {BEFORE_COMMIT}", "round by round"), lines) + "\n\n" + said


def charts(rows: Figures) -> dict[str, str]:
    """The drawings, by the names of their files."""
    values = {row["way"]: row["service_ms"] for row in rows if row.get("workload") == ONE_TOKEN.name}
    return {"sharing": bars("CPU time of a turn of one token, the service alone", "ms", values)}
