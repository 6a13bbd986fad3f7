"""What replicas cost: 1, 2 and 4 of them share PostgreSQL, Redis and an S3 store, and a client spreads turns over them;
and the same by the number of tenants. On two cores four replicas serve no more than two do, so that CPU time is what
counts; elapsed times are kept because the simulation has to predict them."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import grpc
import jwt
from cryptography.hazmat.primitives.asymmetric import ed25519
from jwt.algorithms import OKPAlgorithm

from benchmarks.charts import lines
from benchmarks.load import FLAT_OUT, ONE_TOKEN, PACED, WORKLOADS, Load, Seen
from benchmarks.processes import Child, running
from benchmarks.report import MB, Figures, Place, percentile, say, table
from benchmarks.shared import Shared, service, shared_servers
from benchmarks.simulation import predictions
from benchmarks.turns import LOAD_TIMEOUT_S
from proviso_client.v1 import matters_pb2
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub

REPLICAS = (1, 2, 4)
TENANTS = (1, 10, 100, 1_000)
USUAL_TENANTS = 10
ISSUER, AUDIENCE = "https://login.example", "proviso"
MATTERS_AT_ONCE = 16
_BY_REPLICAS = {ONE_TOKEN.name: 16, FLAT_OUT.name: 6, PACED.name: 2}
"""The turns of each of 32 streams."""

TOKEN_S = 7_200


@dataclass(frozen=True, slots=True)
class Case:
    """`streams` readers of `turns` turns each, spread over so many replicas and tenants, measured `rounds` times."""

    workload: str
    streams: int
    turns: int
    replicas: int
    tenants: int = USUAL_TENANTS
    rounds: int = 4


def _cases(*, quick: bool) -> list[list[Case]]:
    """The cases of a list are measured by turns."""
    rounds = 1 if quick else 3
    loads = [*((workload, 32, turns) for workload, turns in _BY_REPLICAS.items()), (ONE_TOKEN.name, 8, 64)]
    few = [Case(ONE_TOKEN.name, 2, 128, 1, rounds=rounds)]
    by_replicas = [
        [Case(workload, streams, turns, replicas, rounds=rounds) for replicas in REPLICAS]
        for workload, streams, turns in loads
    ]
    # Each tenant asks once in a round at least.
    by_tenants = [Case(ONE_TOKEN.name, 32, 32, 2, tenants, 1 if quick else 2) for tenants in TENANTS]
    return [*by_replicas, few, by_tenants]


@dataclass(frozen=True, slots=True)
class Bench:
    """The running replicas and client, and the callers: a token and a matter for each tenant."""

    shared: Shared
    replicas: Sequence[tuple[Child, str]]
    client: Child
    callers: Sequence[tuple[str, str]]

    async def round(self, case: Case) -> dict[str, float]:
        """Runs a case once. CPU times are milliseconds of a turn, and `others` the cores that other programs used."""
        used = self.replicas[: case.replicas]
        addresses = ",".join(address for _, address in used)
        load = Load(addresses, "", case.workload, case.streams, case.turns, callers=tuple(self.callers[: case.tenants]))
        before, busy_s = self._cpu_s(used), _busy_s()
        seen = Seen.from_json(await self.client.ask(load.to_json(), LOAD_TIMEOUT_S))
        cpu_s = {name: after - before[name] for name, after in self._cpu_s(used).items()}
        others_s = max(0.0, _busy_s() - busy_s - sum(cpu_s.values()) + cpu_s["loop"])
        return {f"{name}_ms": seconds * 1e3 / seen.turns for name, seconds in cpu_s.items()} | {
            "turns_per_s": seen.turns / seen.elapsed_s,
            "first_event_ms": percentile(seen.first_event_s, 0.5) * 1e3,
            "others": others_s / seen.elapsed_s,
        }

    def _cpu_s(self, used: Sequence[tuple[Child, str]]) -> dict[str, float]:
        return {
            "replicas": sum(replica.cpu_s for replica, _ in used),
            "loop": sum(_loop_s(replica) for replica, _ in used),
            "postgres": self.shared.postgres_cpu_s,
            "redis": self.shared.redis_cpu_s,
            "client": self.client.cpu_s,
        }


def _loop_s(replica: Child) -> float:
    """The CPU time of its event loop, which is its first thread's."""
    pid = replica.process.pid
    fields = Path(f"/proc/{pid}/task/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def _busy_s() -> float:
    """The time so far that the cores were at work, for whatever program."""
    user, nice, system, _, _, interrupts, soft, *_ = (
        int(field) for field in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + interrupts + soft) / 100


@asynccontextmanager
async def _running_bench(place: Place, tenants: int) -> AsyncIterator[Bench]:
    key = ed25519.Ed25519PrivateKey.generate()
    public = {**OKPAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": "key"}
    (place.folder / "keys.json").write_text(json.dumps({"keys": [public]}))
    auth = {"jwks": str(place.folder / "keys.json"), "issuer": ISSUER, "audience": AUDIENCE}
    async with AsyncExitStack() as stack:
        shared = await stack.enter_async_context(shared_servers(place.folder))
        settings = {"storage": dict(shared.storage), "auth": auth}
        replicas = [
            await stack.enter_async_context(
                service(place.folder / f"replica-{n}", place.models_dir, settings, variables=shared.variables)
            )
            for n in range(max(REPLICAS))
        ]
        client = await stack.enter_async_context(running(place.folder / "client.log", "benchmarks.client"))
        claims = {"iss": ISSUER, "aud": AUDIENCE, "exp": time.time() + TOKEN_S}
        tokens = [
            jwt.encode(claims | {"sub": "ada", "tenant": f"tenant-{n}"}, key, "EdDSA", headers={"kid": "key"})
            for n in range(tenants)
        ]
        yield Bench(shared, replicas, client, await _with_matters(replicas[0][1], tokens))


async def _with_matters(address: str, tokens: Sequence[str]) -> list[tuple[str, str]]:
    """Each token with an empty matter of its tenant."""
    waiting = iter(tokens)
    callers: dict[str, str] = {}
    async with grpc.aio.insecure_channel(address) as channel:
        matters: Any = MatterServiceStub(channel)

        async def create() -> None:
            for token in waiting:
                request = matters_pb2.CreateMatterRequest(name="Empty")
                made = await matters.CreateMatter(request, metadata=(("authorization", f"Bearer {token}"),))
                callers[token] = made.matter.matter_id

        await asyncio.gather(*(create() for _ in range(MATTERS_AT_ONCE)))
    return [(token, callers[token]) for token in tokens]


async def measure(place: Place) -> Figures:
    """A row for each case, with what the simulation predicts of it by the cases with one replica."""
    rows: Figures = []
    cases = _cases(quick=place.quick)
    async with _running_bench(place, max(TENANTS)) as bench:
        # Each tenant has asked each replica that it will ask, and each replica has seen each workload.
        await bench.round(Case(ONE_TOKEN.name, 32, 64, 2, max(TENANTS)))
        for workload in WORKLOADS.values():
            await bench.round(Case(workload.name, 16, 1, max(REPLICAS)))
        for together in cases:
            first = together[0]
            say(f"replicas: {first.workload}, {first.streams} streams, {first.tenants} tenants and more")
            rounds: dict[Case, list[dict[str, float]]] = {case: [] for case in together}
            for number in range(first.rounds):
                for case in together[:: 1 if number % 2 == 0 else -1]:
                    rounds[case].append(await bench.round(case))
            rows += [_figures(case, rounds[case]) for case in together]
        memory = max(replica.resident_bytes for replica, _ in bench.replicas) / MB
    for row, prediction in zip(rows, predictions(rows), strict=True):
        row |= {"replica_mb": memory, "predicted": prediction}
    return rows


def _figures(case: Case, rounds: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """The medians of all rounds."""
    row: dict[str, Any] = {name: median(one[name] for one in rounds) for name in rounds[0]}
    return {
        "workload": case.workload,
        "streams": case.streams,
        "turns": case.turns,
        "replicas": case.replicas,
        "tenants": case.tenants,
        "cores": len(os.sched_getaffinity(0)),
        "cpu_ms": row["replicas_ms"] + row["postgres_ms"] + row["redis_ms"],
    } | row


def tables(rows: Figures) -> str:
    """The rows as Markdown."""
    head = ("workload", "streams", "replicas", "tenants", "replicas, CPU ms/turn", "PostgreSQL", "Redis", "client")
    shown = ("cpu_ms", "turns_per_s", "first_event_ms")
    lines = [
        (
            *(r["workload"], str(r["streams"]), str(r["replicas"]), f"{r['tenants']:,}"),
            *(f"{r[f'{of}_ms']:.2f}" for of in ("replicas", "postgres", "redis", "client")),
            *(f"{r[name]:,.1f}, {r['predicted'][name] / r[name] - 1:+.0%}" for name in shown),
            f"{r['others']:.1f}",
        )
        for r in rows
    ]
    measured = ("CPU ms/turn without the client", "turns/s", "first event p50 ms")
    return (
        table((*head, *measured, "cores that others used"), lines)
        + "\n\nThe percentages say by how much the simulation, which knows the runs with one replica, is off. "
        f"A replica took up to {rows[0]['replica_mb']:.0f} MB."
    )


def charts(rows: Figures) -> dict[str, str]:
    """The drawings, by the names of their files."""

    def by(what: str, **wanted: object) -> list[tuple[float, float]]:
        return [(r[what], r["cpu_ms"]) for r in rows if all(r[name] == value for name, value in wanted.items())]

    series = {
        workload: by("replicas", workload=workload, streams=32, turns=turns) for workload, turns in _BY_REPLICAS.items()
    }
    return {
        "replicas": lines("CPU time of a turn by replicas", "replicas", "ms", series),
        "tenants": lines(
            "CPU time of a turn of one token by tenants",
            "tenants",
            "ms",
            {"two replicas, PostgreSQL and Redis": by("tenants", workload=ONE_TOKEN.name, turns=32, streams=32)},
        ),
    }
