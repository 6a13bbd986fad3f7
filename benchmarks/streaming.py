"""Measures what a token costs a server on its way from the model to the network, beside a bare server in the same
run."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load import Load, Seen
from benchmarks.matters import create_empty_matter, create_matter_with_documents
from benchmarks.plan import Case
from benchmarks.processes import Child, running
from benchmarks.workload import FLAT_OUT

READY_TIMEOUT_S = 60.0
LOAD_TIMEOUT_S = 110.0

BARE = "bare"
BARE_MODEL = "bare + model"
SERVICE = "service"
SERVICE_RAW = "service, raw"
FASTAPI = "fastapi events"
SERVERS = (BARE, BARE_MODEL, SERVICE, SERVICE_RAW, FASTAPI)


@dataclass(frozen=True, slots=True)
class Round:
    """One load on one server: what the client saw and how much CPU time the server's process used."""

    cpu_s: float
    seen: Seen


@dataclass(frozen=True, slots=True)
class Result:
    """The rounds of one case, by server."""

    case: Case
    rounds: Mapping[str, Sequence[Round]]


@dataclass(frozen=True, slots=True)
class Bench:
    """The running servers and the running client."""

    client: Child
    servers: Mapping[str, Child]
    addresses: Mapping[str, str]
    matter_id: str

    async def measure(self, case: Case) -> Result:
        """Runs all rounds of all cases. The servers take turns in going first, so that a drift of the machine's speed
        affects all of them."""
        rounds: dict[str, list[Round]] = {name: [] for name in SERVERS}
        for number in range(case.rounds):
            for name in SERVERS if number % 2 == 0 else reversed(SERVERS):
                rounds[name].append(await self._round(name, case))
        return Result(case, rounds)

    async def warm_up(self) -> None:
        for name in SERVERS:
            await self._round(name, Case(FLAT_OUT, streams=8, turns=2, rounds=1))

    async def _round(self, name: str, case: Case) -> Round:
        server = self.servers[name]
        address, is_raw = self.addresses[name], name == SERVICE_RAW
        load = Load(address, self.matter_id, case.workload.name, case.streams, case.turns, is_raw)
        before_s = server.cpu_s
        answer = await self.client.ask(load.to_json(), LOAD_TIMEOUT_S)
        return Round(server.cpu_s - before_s, Seen.from_json(answer))


@asynccontextmanager
async def running_bench(folder: Path, data_dir: Path, models_dir: Path) -> AsyncIterator[Bench]:
    """Starts the processes. The service uses `data_dir`, which afterwards holds an empty matter, one with documents,
    and the turns of the run."""
    async with AsyncExitStack() as stack:

        async def start(name: str, *arguments: str) -> Child:
            return await stack.enter_async_context(running(folder / f"{name}.log", *arguments))

        servers = {
            SERVICE: await start(SERVICE, "benchmarks.servers.service", str(data_dir), str(models_dir)),
            BARE: await start(BARE, "benchmarks.servers.bare"),
            BARE_MODEL: await start(BARE_MODEL, "benchmarks.servers.bare_model"),
            FASTAPI: await start(FASTAPI, "benchmarks.servers.fastapi_events"),
        }
        client = await start("client", "benchmarks.client")
        addresses = {name: await _address(server) for name, server in servers.items()}
        addresses[FASTAPI] = f"http://{addresses[FASTAPI]}"
        servers[SERVICE_RAW], addresses[SERVICE_RAW] = servers[SERVICE], addresses[SERVICE]
        await create_matter_with_documents(addresses[SERVICE])
        bench = Bench(client, servers, addresses, await create_empty_matter(addresses[SERVICE]))
        await bench.warm_up()
        yield bench


async def _address(server: Child) -> str:
    ready = json.loads(await server.line(READY_TIMEOUT_S))
    return f"127.0.0.1:{ready['port']}"
