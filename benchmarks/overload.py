"""What callers see when more is asked for at once than there is time for, and what documents wait for."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from benchmarks.document_load import DocumentLoad, create_empty_matter
from benchmarks.load import ONE_TOKEN
from benchmarks.process_tree import tree_cpu_s
from benchmarks.processes import running
from benchmarks.report import Figures, Place, say, table
from benchmarks.startup import serving
from benchmarks.synthetic import passages, vocabulary
from proviso_client.v1 import chat_pb2, matters_pb2, turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.context_pb2 import MatterContext
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub

CALLS = 1_000
CONNECTIONS = 20
TIMEOUT_S = 120.0
POLL_S = 0.1
LARGE_BYTES = 6_000_000
CONTRACTS, PASSAGES_OF_A_CONTRACT = 12, 94
STALL_S = 60.0

_LINE = b"The Supplier is Maker 7 of Bergen.\n"
_PAGE = b"".join(
    b"The Supplier shall deliver lot %d within 30 days of the order, at its own risk.\n\n" % n for n in range(40)
)


async def measure(place: Place) -> Figures:
    """A row for each figure."""
    rows = await _turns(place, CALLS // 10 if place.quick else CALLS)
    words = await asyncio.to_thread(vocabulary, place.models_dir)
    count = 2 if place.quick else CONTRACTS
    made = list(passages(count * PASSAGES_OF_A_CONTRACT, 1, words).texts)
    state = place.folder / "documents"
    async with serving(place.folder / "serve.log", state, place.models_dir) as (server, channel):
        load = DocumentLoad(channel)
        say("overload: a page, contracts")
        await load.ingest("Warm-up", [("warm-up.txt", _LINE)])
        rows.append({"what": "a page is READY after its upload, s", "value": await _one(load, _PAGE)})
        files = [(f"{n}.txt", _text(made[n::count])) for n in range(count)]
        before_s = tree_cpu_s(server.process.pid)
        ingested = await load.ingest("Contracts", files)
        cpu_ms = (tree_cpu_s(server.process.pid) - before_s) * 1e3 / ingested.chunks
        rows.append({"what": "ingestion, CPU ms a passage", "value": cpu_ms})
    rows.append({"what": "the embedding model alone, CPU ms a passage", "value": await _alone(place, state)})
    async with serving(place.folder / "serve.log", place.folder / "large", place.models_dir) as (_, channel):
        say("overload: a line beside two large documents, an upload that stalls")
        load = DocumentLoad(channel)
        await load.ingest("Warm-up", [("warm-up.txt", _LINE)])
        large = _text(made * (1 + LARGE_BYTES // sum(map(len, made))))[:LARGE_BYTES]
        beside = asyncio.create_task(load.ingest("Large", [(f"{n}.txt", large[n:]) for n in range(2)]))
        await asyncio.sleep(3)
        line_s = await _one(load, _LINE)
        rows.append({"what": "a line is READY beside two documents of 6 MB, s", "value": line_s})
        rows.append({"what": "an upload that stalls is ended, s", "value": await _stalled(load, channel)})
        beside.cancel()
        with suppress(asyncio.CancelledError, grpc.aio.AioRpcError, ExceptionGroup):
            await beside
    return rows


def _text(texts: list[str]) -> bytes:
    return "\n\n".join(f"{text}." for text in texts).encode()


async def _one(load: DocumentLoad, content: bytes) -> float:
    """Seconds from the upload of a document to READY."""
    return (await load.ingest(f"One of {len(content)}", [("one.txt", content)])).elapsed_s


async def _alone(place: Place, state: Path) -> float:
    arguments = ("benchmarks.bare_embedder", str(state / "state.sqlite3"), str(place.models_dir))
    async with running(place.folder / "bare.log", *arguments) as child:
        count, _, cpu_s = (await child.line(TIMEOUT_S)).split()
    return float(cpu_s) * 1e3 / int(count)


async def _stalled(load: DocumentLoad, channel: grpc.aio.Channel) -> float:
    matter_id = await load.create_matter("Stalled")
    stub: Any = MatterServiceStub(channel)

    async def pieces() -> AsyncIterator[matters_pb2.UploadDocumentRequest]:
        header = matters_pb2.UploadHeader(matter_id=matter_id, filename="stalled.txt")
        yield matters_pb2.UploadDocumentRequest(header=header)
        yield matters_pb2.UploadDocumentRequest(data=_LINE)
        await asyncio.Event().wait()

    begun = time.perf_counter()
    with suppress(grpc.aio.AioRpcError):
        await stub.UploadDocument(pieces(), timeout=STALL_S)
    return time.perf_counter() - begun


async def _turns(place: Place, calls: int) -> Figures:
    """What becomes of many turns that are asked for at the same moment, and of health checks meanwhile."""
    say(f"overload: {calls:,} turns at once")
    arguments = ("benchmarks.servers.service", str(place.folder / "turns"), str(place.models_dir))
    async with running(place.folder / "service.log", *arguments) as server:
        address = f"127.0.0.1:{json.loads(await server.line(TIMEOUT_S))['port']}"
        matter_id = await create_empty_matter(address)
        request = chat_pb2.ChatRequest(
            message="Go on.",
            matter_context=MatterContext(matter_id=matter_id),
            options=chat_pb2.ChatOptions(model=ONE_TOKEN.name, disable_cache=True),
        )
        options = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0))
        channels = [grpc.aio.insecure_channel(address, options=options) for _ in range(CONNECTIONS)]
        health_channel = grpc.aio.insecure_channel(address, options=options)
        try:
            await asyncio.gather(*(one.channel_ready() for one in (*channels, health_channel)))
            await _ended(channels[0], request)
            checks = asyncio.create_task(_health(health_channel))
            ends = await asyncio.gather(*(_ended(channels[n % CONNECTIONS], request) for n in range(calls)))
            checks.cancel()
            slowest_check_s = await checks
        finally:
            await asyncio.gather(*(one.close() for one in (*channels, health_channel)))
    outcomes = Counter(outcome for outcome, _ in ends)
    refused = [seconds for outcome, seconds in ends if outcome == "RESOURCE_EXHAUSTED"]
    expected = outcomes["COMPLETED"] + outcomes["RESOURCE_EXHAUSTED"]
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return [
        {"what": f"{calls:,} turns at once: neither completed nor refused", "value": calls - expected, "note": told},
        {"what": "the slowest refusal, s", "value": max(refused, default=0.0)},
        {"what": "the slowest completed turn, s", "value": max((s for o, s in ends if o == "COMPLETED"), default=0.0)},
        {"what": "the slowest health check meanwhile, s", "value": slowest_check_s},
    ]


async def _ended(channel: grpc.aio.Channel, request: chat_pb2.ChatRequest) -> tuple[str, float]:
    """How a turn ended, and after how many seconds. A caller that is refused does not try again."""
    begun = time.perf_counter()
    stub: Any = ChatServiceStub(channel)
    outcome = "CUT"
    try:
        async for event in stub.Chat(request, timeout=TIMEOUT_S):
            if event.HasField("final_state"):
                is_complete = event.final_state.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
                outcome = "COMPLETED" if is_complete else turns_pb2.ExitReason.Name(event.final_state.exit_reason)
    except grpc.aio.AioRpcError as error:
        outcome = error.code().name
    return outcome, time.perf_counter() - begun


async def _health(channel: grpc.aio.Channel) -> float:
    """Asks for the health until it is cancelled. Returns the seconds of the slowest answer."""
    stub: Any = health_pb2_grpc.HealthStub(channel)
    slowest_s = begun = 0.0
    try:
        while True:
            begun = time.perf_counter()
            await stub.Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT_S)
            slowest_s = max(slowest_s, time.perf_counter() - begun)
            begun = 0.0
            await asyncio.sleep(POLL_S)
    except asyncio.CancelledError:
        return max(slowest_s, time.perf_counter() - begun) if begun else slowest_s


def tables(rows: Figures) -> str:
    """The rows as a Markdown table."""
    return table(("", "measured", ""), [(r["what"], f"{r['value']:,.2f}", r.get("note", "")) for r in rows])


def charts(rows: Figures) -> dict[str, str]:
    """There is nothing to draw."""
    return {}
