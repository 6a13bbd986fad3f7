"""The whole service as a process of its own (see endless_service.py and asking_service.py), and a channel to it."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from proviso_client.v1 import chat_pb2, matters_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub
from tests.support.running import chat_request

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class EndlessService:
    process: asyncio.subprocess.Process
    port: int
    channel: grpc.aio.Channel

    async def has_deleted(self, matter_id: str) -> None:
        """Returns as soon as a matter is marked as deleted."""
        assert self.process.stdout is not None
        # Lines of its log come between.
        while (line := await self.process.stdout.readline()).decode().strip() != matter_id:
            assert line, "the process has ended of itself"

    async def begin_turn(
        self, session_id: str = "", message: str = "Hi"
    ) -> tuple[grpc.aio.UnaryStreamCall[chat_pb2.ChatRequest, chat_pb2.AgentEvent], chat_pb2.AgentEvent]:
        """A call whose turn runs, and its first event."""
        matters = MatterServiceStub(self.channel)
        created = await matters.CreateMatter(matters_pb2.CreateMatterRequest(name="M"))
        request = chat_request(message, created.matter.matter_id, session_id=session_id)
        call = ChatServiceStub(self.channel).Chat(request)
        return call, await anext(aiter(call))


@asynccontextmanager
async def endless_service(
    data_dir: Path, models_dir: Path, module: str = "tests.support.endless_service"
) -> AsyncIterator[EndlessService]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, str(data_dir), str(models_dir),
        stdout=asyncio.subprocess.PIPE, cwd=_ROOT,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        port = int(await process.stdout.readline())
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield EndlessService(process, port, channel)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
