"""What a token costs a server on its way from the model to the network, beside other servers in the same run."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.charts import bars, lines
from benchmarks.document_load import create_empty_matter
from benchmarks.load import FLAT_OUT, ONE_TOKEN, PACED, Load, Seen, Workload
from benchmarks.processes import Child, running
from benchmarks.report import Figures, Place, percentile, say, table

READY_TIMEOUT_S = 60.0
LOAD_TIMEOUT_S = 110.0

BARE = "bare"
BARE_MODEL = "bare + model"
SERVICE = "service"
SERVICE_RAW = "service, raw"
FASTAPI = "FastAPI, astream_events"
LANGGRAPH = "langgraph dev"
SERVERS = (BARE, BARE_MODEL, SERVICE, SERVICE_RAW, FASTAPI, LANGGRAPH)


@dataclass(frozen=True, slots=True)
class Case:
    """A load that is measured `rounds` times on every server: `streams` readers at once, each of which reads `turns`
    turns."""

    workload: Workload
    streams: int
    turns: int
    rounds: int


FULL = (
    Case(FLAT_OUT, 1, 20, rounds=2),
    Case(FLAT_OUT, 8, 6, rounds=2),
    Case(FLAT_OUT, 32, 3, rounds=4),
    Case(FLAT_OUT, 256, 1, rounds=1),
    Case(PACED, 32, 1, rounds=3),
    Case(ONE_TOKEN, 32, 8, rounds=4),
)
QUICK = (
    Case(FLAT_OUT, 1, 6, rounds=1),
    Case(FLAT_OUT, 32, 1, rounds=2),
    Case(PACED, 32, 1, rounds=1),
    Case(ONE_TOKEN, 32, 3, rounds=2),
)
WARM_UP = (Case(FLAT_OUT, 8, 2, rounds=1), Case(ONE_TOKEN, 8, 2, rounds=1))


@dataclass(frozen=True, slots=True)
class Round:
    """One load on one server: what the client saw and how much CPU time the server's process used."""

    cpu_s: float
    seen: Seen


@dataclass(frozen=True, slots=True)
class Bench:
    """The running servers and the running client."""

    client: Child
    servers: Mapping[str, Child]
    addresses: Mapping[str, str]
    matter_id: str

    async def measure(self, case: Case, names: Sequence[str] = ()) -> dict[str, list[Round]]:
        """Runs all rounds of a case, on the servers of these names or on all. They take turns in going first, so that a
        drift of the machine's speed affects all of them."""
        names = names or list(self.addresses)
        rounds: dict[str, list[Round]] = {name: [] for name in names}
        for number in range(case.rounds):
            for name in names[:: 1 if number % 2 == 0 else -1]:
                rounds[name].append(await self._round(name, case))
        return rounds

    async def _round(self, name: str, case: Case) -> Round:
        server = self.servers[name]
        address, is_raw = self.addresses[name], name == SERVICE_RAW
        load = Load(address, self.matter_id, case.workload.name, case.streams, case.turns, is_raw)
        before_s = server.cpu_s
        answer = await self.client.ask(load.to_json(), LOAD_TIMEOUT_S)
        return Round(server.cpu_s - before_s, Seen.from_json(answer))


@asynccontextmanager
async def running_bench(place: Place, names: Sequence[str] = SERVERS) -> AsyncIterator[Bench]:
    """Starts the servers of these names, and warms them up."""
    modules = {
        BARE: ("benchmarks.servers.bare",),
        BARE_MODEL: ("benchmarks.servers.bare_model",),
        SERVICE: ("benchmarks.servers.service", str(place.folder / "turns"), str(place.models_dir)),
        FASTAPI: ("benchmarks.servers.fastapi_events",),
        LANGGRAPH: ("benchmarks.servers.langgraph_dev",),
    }
    paths = {FASTAPI: "/chat", LANGGRAPH: "/runs/stream"}
    async with AsyncExitStack() as stack:

        async def start(name: str, *arguments: str, **options: Any) -> Child:
            log = place.folder / f"{name.replace(' ', '-')}.log"
            return await stack.enter_async_context(running(log, *arguments, **options))

        others = {LANGGRAPH: {"python": place.competitors}}
        servers = {
            name: await start(name, *modules[name], **others.get(name, {})) for name in names if name != SERVICE_RAW
        }
        client = await start("client", "benchmarks.client")
        addresses = {}
        for name, server in servers.items():
            address = await _address(server)
            addresses[name] = f"http://{address}{paths[name]}" if name in paths else address
        matter_id = await create_empty_matter(addresses[SERVICE])
        if SERVICE_RAW in names:
            servers[SERVICE_RAW], addresses[SERVICE_RAW] = servers[SERVICE], addresses[SERVICE]
        bench = Bench(client, servers, {name: addresses[name] for name in names}, matter_id)
        for case in WARM_UP:
            await bench.measure(case)
        yield bench


async def _address(server: Child) -> str:
    ready = json.loads(await server.line(READY_TIMEOUT_S))
    return f"127.0.0.1:{ready['port']}"


async def measure(place: Place) -> Figures:
    """A row for each case on each server."""
    rows: Figures = []
    async with running_bench(place) as bench:
        for case in QUICK if place.quick else FULL:
            say(f"turns: {case.workload.name}, {case.streams} streams")
            results = await bench.measure(case)
            rows += [_figures(case, name, results) for name in results]
    return rows


def _figures(case: Case, name: str, results: Mapping[str, Sequence[Round]]) -> dict[str, Any]:
    """One case on one server, all rounds together. `ratio` is its CPU time per token by that of the bare server."""
    rounds = results[name]
    cpu_s, turns = sum(r.cpu_s for r in rounds), sum(r.seen.turns for r in rounds)
    tokens, events = sum(r.seen.tokens for r in rounds), sum(r.seen.events for r in rounds)
    bare_s = sum(r.cpu_s for r in results[BARE])
    return {
        "workload": case.workload.name,
        "streams": case.streams,
        "server": name,
        "tokens_per_s": tokens / sum(r.seen.elapsed_s for r in rounds),
        "cpu_us_per_token": cpu_s * 1e6 / tokens,
        "ratio": cpu_s / bare_s if bare_s else 0.0,
        "ratio_by_round": [r.cpu_s / b.cpu_s for r, b in zip(rounds, results[BARE], strict=True) if b.cpu_s],
        "tokens_per_event": tokens / events,
        "cpu_ms_per_turn": cpu_s * 1e3 / turns,
        "first_event_p50_ms": percentile([s for r in rounds for s in r.seen.first_event_s], 0.5) * 1e3,
        "first_event_p99_ms": percentile([s for r in rounds for s in r.seen.first_event_s], 0.99) * 1e3,
        "first_token_p50_ms": percentile([s for r in rounds for s in r.seen.first_token_s], 0.5) * 1e3,
    }


def tables(rows: Figures) -> str:
    """The rows as a Markdown table."""
    head = ("workload", "streams", "server", "CPU us/token", "times bare", "round by round", "CPU ms/turn", "tokens/s")
    return table(
        (*head, "tokens/event", "first event p50 ms", "p99 ms", "first text p50 ms"),
        [
            (
                *(r["workload"], str(r["streams"]), r["server"], f"{r['cpu_us_per_token']:,.1f}", f"{r['ratio']:.2f}"),
                f"{min(r['ratio_by_round'], default=0):.2f} to {max(r['ratio_by_round'], default=0):.2f}",
                *(f"{r['cpu_ms_per_turn']:.1f}", f"{r['tokens_per_s']:,.0f}", f"{r['tokens_per_event']:.2f}"),
                *(f"{r[name]:,.1f}" for name in ("first_event_p50_ms", "first_event_p99_ms", "first_token_p50_ms")),
            )
            for r in rows
        ],
    )


def charts(rows: Figures) -> dict[str, str]:
    """The drawings, by the names of their files."""
    at_32 = [r for r in rows if r["streams"] == 32]
    flat_out = [r for r in rows if r["workload"] == FLAT_OUT.name]
    by_server = {
        name: [(r["streams"], r["cpu_us_per_token"]) for r in flat_out if r["server"] == name] for name in SERVERS
    }
    drawn = {
        f"turns-{workload.name}": bars(
            f"CPU time of a {what}, 32 streams, {workload.name}",
            unit,
            {r["server"]: r[figure] for r in at_32 if r["workload"] == workload.name},
        )
        for workload, what, unit, figure in (
            (FLAT_OUT, "token", "us", "cpu_us_per_token"),
            (PACED, "token", "us", "cpu_us_per_token"),
            (ONE_TOKEN, "turn", "ms", "cpu_ms_per_turn"),
        )
    }
    return drawn | {"turns-streams": lines("CPU time of a token by streams, flat out", "streams", "us", by_server)}
