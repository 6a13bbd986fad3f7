"""What a second core brings: turns a second of a service on one core, and of one with its models in another process."""

import asyncio
import os
import time
from functools import partial
from typing import Any

import grpc

from benchmarks.charts import bars
from benchmarks.client import admitted
from benchmarks.document_load import DocumentLoad
from benchmarks.report import Figures, Place, say, table
from benchmarks.startup import serving
from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.context_pb2 import MatterContext

CALLERS = 8
WARM_UP_S = 3.0
MEASURED_S = 20.0
QUICK_S = 5.0
TIMEOUT_S = 60.0

_CLAUSES = "\n\n".join(
    f"{n}. The Supplier shall deliver lot {n} within {n + 10} days of each order, at its own risk and expense."
    for n in range(1, 120)
)
QUESTION = "What does clause {} say about the delivery of the lot?"


async def measure(place: Place) -> Figures:
    """A row for each way to run the service. The callers have whatever time of the machine is left."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    rows: Figures = []
    for number, (what, some, flags) in enumerate(
        (
            ("one core", cores[:1], ()),
            ("two cores", cores, ()),
            ("two cores, --workers 1", cores, ("--workers", "1")),
        )
    ):
        say(f"workers: {what}")
        log, data = place.folder / f"serve-{number}.log", place.folder / f"data-{number}"
        async with serving(log, data, place.models_dir, flags=flags, cores=some) as (_, channel):
            rows.append(
                {"what": what, "turns_per_s": await _turns_per_s(channel, QUICK_S if place.quick else MEASURED_S)}
            )
    return rows


async def _turns_per_s(channel: grpc.aio.Channel, seconds: float) -> float:
    """Turns in which the embedded chat model searches, and answers with what it found."""
    ingested = await DocumentLoad(channel).ingest("Supply", [("supply.txt", _CLAUSES.encode())])
    stub: Any = ChatServiceStub(channel)
    begins = time.perf_counter() + WARM_UP_S
    ends = begins + seconds
    turns = 0

    async def ask(number: int) -> None:
        nonlocal turns
        while (now := time.perf_counter()) < ends:
            number += CALLERS
            request = chat_pb2.ChatRequest(
                message=QUESTION.format(number % 119 + 1),
                matter_context=MatterContext(matter_id=ingested.matter_id),
                options=chat_pb2.ChatOptions(disable_cache=True),
            )
            await admitted(partial(_completed, stub, request))
            turns += begins < now and time.perf_counter() < ends

    await asyncio.gather(*(ask(number) for number in range(CALLERS)))
    return turns / seconds


async def _completed(stub: Any, request: chat_pb2.ChatRequest) -> None:
    async for event in stub.Chat(request, timeout=TIMEOUT_S):
        if event.HasField("final_state"):
            assert event.final_state.exit_reason == turns_pb2.EXIT_REASON_COMPLETED, event


def tables(rows: Figures) -> str:
    """The rows as a Markdown table."""
    first = rows[0]["turns_per_s"]
    head = ("service on", "turns a second", "times one core")
    return table(head, [(r["what"], f"{r['turns_per_s']:.1f}", f"{r['turns_per_s'] / first:.2f}") for r in rows])


def charts(rows: Figures) -> dict[str, str]:
    """The drawings, by the names of their files."""
    return {"workers": bars("Turns a second that search", "", {r["what"]: r["turns_per_s"] for r in rows})}
