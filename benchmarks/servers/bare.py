# ruff: noqa: N802  methods have the names of the contract
"""The least that a Python gRPC server can do: it streams the same events of the same texts, with nothing behind them.

`python -m benchmarks.servers.bare`"""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import grpc

from benchmarks.load import WORKLOADS, Workload
from benchmarks.servers.lifetime import serve_until_closed
from proviso_client.v1 import chat_pb2 as pb
from proviso_client.v1 import turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceServicer, add_ChatServiceServicer_to_server

if TYPE_CHECKING:  # generic for type checkers only
    Context = grpc.aio.ServicerContext[Any, Any]
else:
    Context = grpc.aio.ServicerContext


class BareChat(ChatServiceServicer):
    """Streams the workload that the request names, with one message for each token, which is built when it is sent."""

    async def Chat(self, request: pb.ChatRequest, context: Context) -> AsyncIterator[pb.AgentEvent]:
        workload = WORKLOADS[request.options.model]
        turn_id = str(uuid.uuid4())
        start = _event(turn_id, 1)
        start.turn_start.model = workload.name
        yield start
        sequence = 1
        async for text in self.texts(workload):
            sequence += 1
            event = _event(turn_id, sequence)
            token = event.token
            token.text_id, token.text, token.first_sequence = "text-1", text, sequence
            yield event
        end = _event(turn_id, sequence + 1)
        final = end.final_state
        final.exit_reason, final.message = turns_pb2.EXIT_REASON_COMPLETED, "".join(workload.texts)
        yield end

    async def texts(self, workload: Workload) -> AsyncIterator[str]:
        """Yields the text of each token when it is due."""
        for text in workload.texts:
            if workload.interval_s:
                await asyncio.sleep(workload.interval_s)
            yield text


async def serve(chat: ChatServiceServicer) -> None:
    """Serves on a free port until standard input is closed."""
    server = grpc.aio.server()
    add_ChatServiceServicer_to_server(chat, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        await serve_until_closed(port)
    finally:
        await server.stop(1.0)


def _event(turn_id: str, sequence: int) -> pb.AgentEvent:
    event = pb.AgentEvent(turn_id=turn_id, sequence=sequence)
    emitted = event.emit_time
    seconds, nanos = divmod(time.time_ns(), 1_000_000_000)
    emitted.seconds, emitted.nanos = seconds, nanos
    return event


if __name__ == "__main__":
    asyncio.run(serve(BareChat()))  # type: ignore[abstract]  # nothing but Chat is asked for
