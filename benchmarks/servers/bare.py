# ruff: noqa: N802  methods have the names of the contract
"""The least that a Python gRPC server can do: the same events of the same texts, with nothing behind them.

`python -m benchmarks.servers.bare`"""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from benchmarks.servers.lifetime import serve_until_closed
from benchmarks.workload import WORKLOADS
from proviso.v1 import chat_pb2 as pb
from proviso.v1.chat_pb2_grpc import ChatServiceServicer, add_ChatServiceServicer_to_server

if TYPE_CHECKING:  # generic for type checkers only
    Context = grpc.aio.ServicerContext[Any, Any]
else:
    Context = grpc.aio.ServicerContext


class BareChat(ChatServiceServicer):
    """Streams the workload that the request names: one message per token, built when it is sent."""

    async def Chat(self, request: pb.ChatRequest, context: Context) -> AsyncIterator[pb.AgentEvent]:
        workload = WORKLOADS[request.options.model]
        turn_id = str(uuid.uuid4())
        start = pb.TurnStart(model=workload.name)
        yield pb.AgentEvent(turn_id=turn_id, sequence=1, emit_time=_now(), turn_start=start)
        sequence = 1
        for text in workload.texts:
            if workload.interval_s:
                await asyncio.sleep(workload.interval_s)
            sequence += 1
            token = pb.Token(text_id="text-1", text=text, first_sequence=sequence)
            yield pb.AgentEvent(turn_id=turn_id, sequence=sequence, emit_time=_now(), token=token)
        final = pb.FinalState(exit_reason=pb.EXIT_REASON_COMPLETED, message="".join(workload.texts))
        yield pb.AgentEvent(turn_id=turn_id, sequence=sequence + 1, emit_time=_now(), final_state=final)


def _now() -> Timestamp:
    nanos = time.time_ns()
    return Timestamp(seconds=nanos // 1_000_000_000, nanos=nanos % 1_000_000_000)


async def _run() -> None:
    server = grpc.aio.server()
    add_ChatServiceServicer_to_server(BareChat(), server)  # type: ignore[abstract]  # nothing but Chat is asked for
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        await serve_until_closed(port)
    finally:
        await server.stop(1.0)


if __name__ == "__main__":
    asyncio.run(_run())
