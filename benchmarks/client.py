"""The readers of turns, in a process of their own. It reads a Load from each line of standard input, and writes a Seen
to standard output for each.

`python -m benchmarks.client`. Every turn is checked: its events must come each once and in order, hold the text of all
its tokens, and end as COMPLETED."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

import aiohttp
import grpc

from benchmarks.http_client import QUESTION, read_turn
from benchmarks.load import Load, Seen, TurnSeen, WrongStream
from benchmarks.workload import WORKLOADS, Workload
from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1 import turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.context_pb2 import MatterContext

if TYPE_CHECKING:
    from proviso_client.v1.chat_pb2_grpc import ChatServiceAsyncStub

MAX_CONNECTIONS = 8
TURN_TIMEOUT_S = 100.0

_OWN_CONNECTION = (("grpc.use_local_subchannel_pool", 1),)

Reader = Callable[[], Awaitable[list[TurnSeen]]]
"""Reads all turns of one stream."""


async def run(load: Load) -> Seen:
    """Reads all turns of a load. Raises WrongStream, grpc.aio.AioRpcError and aiohttp.ClientError."""
    async with AsyncExitStack() as stack:
        readers = await (_http_readers if load.address.startswith("http://") else _grpc_readers)(load, stack)
        begun = time.perf_counter()
        turns = [turn for seen in await asyncio.gather(*(read() for read in readers)) for turn in seen]
        elapsed_s = time.perf_counter() - begun
    return Seen(
        elapsed_s,
        len(turns),
        sum(turn.tokens for turn in turns),
        sum(turn.events for turn in turns),
        tuple(turn.first_event_s for turn in turns),
        tuple(turn.first_token_s for turn in turns),
    )


async def _http_readers(load: Load, stack: AsyncExitStack) -> list[Reader]:
    """The readers of an HTTP server. Each stream has a connection of its own, as HTTP/1.1 requires."""
    session = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
    workload = WORKLOADS[load.workload]

    async def read() -> list[TurnSeen]:
        return [await read_turn(session, load.address, workload) for _ in range(load.turns)]

    return [read] * load.streams


async def _grpc_readers(load: Load, stack: AsyncExitStack) -> list[Reader]:
    channels = [
        await stack.enter_async_context(grpc.aio.insecure_channel(load.address, options=_OWN_CONNECTION))
        for _ in range(min(load.streams, MAX_CONNECTIONS))
    ]
    for channel in channels:
        await channel.channel_ready()
    stubs = [ChatServiceStub(channel) for channel in channels]
    return [partial(_read_turns, stubs[i % len(stubs)], load) for i in range(load.streams)]


async def _read_turns(stub: "ChatServiceAsyncStub", load: Load) -> list[TurnSeen]:
    workload = WORKLOADS[load.workload]
    request = pb.ChatRequest(
        message=QUESTION,
        matter_context=MatterContext(matter_id=load.matter_id),
        # Every turn is to run the model.
        options=pb.ChatOptions(
            model=workload.name,
            disable_cache=True,
            text_release=pb.TEXT_RELEASE_RAW if load.is_raw else pb.TEXT_RELEASE_CHECKED,
        ),
    )
    return [await _read_turn(stub, request, workload) for _ in range(load.turns)]


async def _read_turn(stub: "ChatServiceAsyncStub", request: pb.ChatRequest, workload: Workload) -> TurnSeen:
    begun = time.perf_counter()
    first_event_s = first_token_s = 0.0
    events = sequence = 0
    text: list[str] = []
    final: pb.FinalState | None = None
    async for event in stub.Chat(request, timeout=TURN_TIMEOUT_S):
        first = event.sequence
        if event.HasField("token"):
            first = event.token.first_sequence
            text.append(event.token.text)
            first_token_s = first_token_s or time.perf_counter() - begun
        elif event.HasField("final_state"):
            final = event.final_state
        elif event.HasField("turn_start"):
            first_event_s = time.perf_counter() - begun
        if first != sequence + 1:
            raise WrongStream(f"after sequence {sequence} came {first}")
        sequence = event.sequence
        events += 1
    _check(workload, "".join(text), final)
    return TurnSeen(events, workload.tokens, first_event_s, first_token_s)


def _check(workload: Workload, text: str, final: pb.FinalState | None) -> None:
    expected = "".join(workload.texts)
    if final is None or final.exit_reason != turns_pb2.EXIT_REASON_COMPLETED:
        raise WrongStream(f"a turn did not end in COMPLETED but in {final}")
    if text != expected or final.message != expected:
        raise WrongStream(f"a turn did not deliver the text of its {workload.tokens} tokens")


def main() -> None:
    """Answers loads until standard input is closed."""
    for line in sys.stdin:
        print(asyncio.run(run(Load.from_json(line))).to_json(), flush=True)


if __name__ == "__main__":
    main()
