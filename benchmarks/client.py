"""The readers of turns, in a process of their own. It reads a Load from each line of standard input, and writes a Seen
to standard output for each.

`python -m benchmarks.client`. Every turn is checked: its events must come each once and in order, hold the text of all
its tokens, and end as COMPLETED."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import aiohttp
import grpc

from benchmarks.load import WORKLOADS, Load, Seen, TurnSeen, Workload, WrongStream
from proviso_client.errors import error_from
from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1 import turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.context_pb2 import MatterContext

if TYPE_CHECKING:
    from proviso_client.v1.chat_pb2_grpc import ChatServiceAsyncStub

QUESTION = "What does the agreement say about delivery?"
MAX_CONNECTIONS = 8
TURN_TIMEOUT_S = 100.0
RETRY_S = 1.0

T = TypeVar("T")

_OWN_CONNECTION = (("grpc.use_local_subchannel_pool", 1),)

Metadata = tuple[tuple[str, str], ...]

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
        return [await _read_http_turn(session, load.address, workload) for _ in range(load.turns)]

    return [read] * load.streams


async def _read_http_turn(session: aiohttp.ClientSession, address: str, workload: Workload) -> TurnSeen:
    """Reads a turn of FastAPI's server or of LangGraph's own, in the way in which the others are read over gRPC."""
    begun = time.perf_counter()
    first_event_s = first_token_s = 0.0
    events = 0
    text: list[str] = []
    final: str | None = None
    is_langgraph = address.endswith("/runs/stream")
    asked = _asked_of_langgraph(workload) if is_langgraph else {"workload": workload.name, "message": QUESTION}
    timeout = aiohttp.ClientTimeout(total=TURN_TIMEOUT_S)
    async with session.post(address, json=asked, timeout=timeout) as response:
        response.raise_for_status()
        async for line in response.content:
            if not line.startswith(b"data: "):
                continue
            events += 1
            first_event_s = first_event_s or time.perf_counter() - begun
            event = json.loads(line.removeprefix(b"data: "))
            token, last = _of_langgraph(event) if is_langgraph else (event.get("text"), event.get("message"))
            if token:
                first_token_s = first_token_s or time.perf_counter() - begun
                text.append(token)
            final = last or final
    if text != list(workload.texts) or final != "".join(text):
        raise WrongStream(f"a turn delivered {len(text)} tokens of {workload.tokens}, or another text")
    return TurnSeen(events, len(text), first_event_s, first_token_s)


def _asked_of_langgraph(workload: Workload) -> dict[str, Any]:
    messages = [{"role": "user", "content": QUESTION}]
    state = {"messages": messages, "turns": 0, "tool_calls": 0, "exit_reason": None}
    return {"assistant_id": workload.name, "input": state, "stream_mode": ["messages-tuple", "values"]}


def _of_langgraph(event: Any) -> tuple[str | None, str | None]:
    """The token that an event holds, and the text of the last message if it is a whole state."""
    if isinstance(event, list):
        return event[0]["content"], None
    return None, event["messages"][-1]["content"] if event.get("turns") else None


async def _grpc_readers(load: Load, stack: AsyncExitStack) -> list[Reader]:
    addresses = load.address.split(",")
    channels = [
        await stack.enter_async_context(
            grpc.aio.insecure_channel(addresses[number % len(addresses)], options=_OWN_CONNECTION)
        )
        for number in range(min(load.streams, MAX_CONNECTIONS))
    ]
    for channel in channels:
        await channel.channel_ready()
    stubs = [ChatServiceStub(channel) for channel in channels]
    return [partial(_read_turns, stubs[i % len(stubs)], load, i) for i in range(load.streams)]


async def _read_turns(stub: "ChatServiceAsyncStub", load: Load, number: int) -> list[TurnSeen]:
    """Reads the turns of the stream with this number."""
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
    seen = []
    for turn in range(load.turns):
        shown: Metadata = ()
        if load.callers:
            token, request.matter_context.matter_id = load.callers[(number + turn * load.streams) % len(load.callers)]
            shown = (("authorization", f"Bearer {token}"),)
        begun = time.perf_counter()
        seen.append(await admitted(partial(_read_turn, stub, request, workload, begun, shown)))
    return seen


async def admitted(call: Callable[[], Awaitable[T]]) -> T:
    """Makes a call as often as it is refused because too much is asked for at once, and waits as it is told between."""
    while True:
        try:
            return await call()
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
                raise
            await asyncio.sleep(error_from(error).retry_after_s or RETRY_S)


async def _read_turn(
    stub: "ChatServiceAsyncStub", request: pb.ChatRequest, workload: Workload, begun: float, shown: Metadata
) -> TurnSeen:
    """Reads a turn to its end; its times are counted from when it was first asked for."""
    first_event_s = first_token_s = 0.0
    events = sequence = 0
    text: list[str] = []
    final: pb.FinalState | None = None
    async for event in stub.Chat(request, timeout=TURN_TIMEOUT_S, metadata=shown):
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
