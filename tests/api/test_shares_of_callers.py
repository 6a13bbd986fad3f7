"""One caller who takes all that he can get leaves room for the others."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from unittest import mock

import grpc
import pytest

from proviso_client.v1 import matters_pb2
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub
from proviso_service.api.interceptors.chain import Call
from proviso_service.api.interceptors.limits import CallsOfCaller
from proviso_service.errors import Overloaded
from proviso_service.identity import Act, Caller, current_act
from tests.support.running import running_service

UPLOADS = 512 * int(os.environ.get("CHAOS_ROUNDS", "1"))
ANN, BEN = Caller("smith", "ann"), Caller("smith", "ben")
CHANNELS = 4
GREEDY = (("x-user-id", "greedy"),)
OTHER = (("x-user-id", "other"),)

pytestmark = pytest.mark.timeout(300)


async def test_hundreds_of_uploads_that_send_their_header_alone_do_not_stop_that_of_another(
    tmp_path: Path, models_dir: Path
) -> None:
    async with running_service(tmp_path / "data", models_dir) as service:
        matter_id = await service.create_matter()
        header = matters_pb2.UploadHeader(matter_id=matter_id, filename="a.md")
        ends: Counter[str] = Counter()

        async def stalled(channel: grpc.aio.Channel) -> None:
            call = MatterServiceStub(channel).UploadDocument(metadata=GREEDY)
            try:
                await call.write(matters_pb2.UploadDocumentRequest(header=header))
                await call
            except grpc.aio.AioRpcError as error:
                ends[error.code().name] += 1
            except asyncio.CancelledError:
                ends["held"] += 1
                call.cancel()
                raise

        async def small() -> AsyncIterator[matters_pb2.UploadDocumentRequest]:
            yield matters_pb2.UploadDocumentRequest(header=header)
            yield matters_pb2.UploadDocumentRequest(data=b"# Rent\n\nUSD 500.\n")
            yield matters_pb2.UploadDocumentRequest(end=matters_pb2.UploadEnd())

        options = (("grpc.use_local_subchannel_pool", 1),)
        target = f"127.0.0.1:{service.app.port}"
        channels = [grpc.aio.insecure_channel(target, options=options) for _ in range(CHANNELS)]
        stalls = [asyncio.create_task(stalled(channels[number % CHANNELS])) for number in range(UPLOADS)]
        while not ends:
            await asyncio.wait(stalls, return_when=asyncio.FIRST_COMPLETED)
        stored = await MatterServiceStub(service.channel).UploadDocument(small(), metadata=OTHER)
        assert stored.document.filename == "a.md"
        for stall in stalls:
            stall.cancel()
        await asyncio.gather(*stalls, return_exceptions=True)
        for channel in channels:
            await channel.close()
        assert set(ends) <= {"RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED", "held"}


async def test_a_caller_has_a_share_of_all_calls_and_health_is_no_call_of_anybody() -> None:
    share, go_on = CallsOfCaller(2), asyncio.Event()

    async def made(caller: Caller, method: str) -> str:
        current_act.set(Act(caller))
        try:
            return str(await share(Call(method, mock.Mock(), unary=True), handle))
        except Overloaded as refused:
            return refused.subject

    async def handle() -> str:
        await go_on.wait()
        return "answered"

    def calls(caller: Caller, method: str = "/proviso.v1.AccessService/GetCaller") -> asyncio.Task[str]:
        return asyncio.create_task(made(caller, method))

    running = [calls(ANN), calls(ANN)]
    await asyncio.sleep(0)
    assert await calls(ANN) == "tenants/smith"
    others = [calls(BEN), calls(ANN, "/grpc.health.v1.Health/Check")]
    go_on.set()
    assert await asyncio.gather(*running, *others, calls(ANN)) == ["answered"] * 5
