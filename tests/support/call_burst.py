"""Many calls of Chat or Search at once, from a process of their own:
`python -m tests.support.call_burst METHOD TARGET CALLS MATTER_ID`.

Prints how they ended as JSON: how many in each way, and the longest time until a refusal, in seconds."""

import asyncio
import json
import sys
import time
from collections import Counter

import grpc
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from proviso_client.v1 import tools_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.tools_pb2_grpc import ToolServiceStub
from tests.support.running import chat_request

CHANNELS = 4
DETAILS_KEY = "grpc-status-details-bin"


def told(error: grpc.aio.AioRpcError) -> str:
    """The status, and the kinds of its details."""
    status = status_pb2.Status.FromString(dict(error.trailing_metadata() or ()).get(DETAILS_KEY, b""))
    kinds = {detail.TypeName().rpartition(".")[2]: detail for detail in status.details}
    retry = error_details_pb2.RetryInfo()
    has_delay = "RetryInfo" in kinds and kinds["RetryInfo"].Unpack(retry) and retry.retry_delay.ToMilliseconds() > 0
    return " ".join([error.code().name, *sorted(kinds), *(["delay"] if has_delay else [])])


async def chatted(channel: grpc.aio.Channel, matter_id: str, number: int) -> str:
    """The kind of the last event."""
    last = ""
    async for event in ChatServiceStub(channel).Chat(chat_request("What is the fee?", matter_id)):
        last = str(event.WhichOneof("event"))
    return last


async def searched(channel: grpc.aio.Channel, matter_id: str, number: int) -> str:
    """Whether something was found. Each call has a question of its own, which has to be embedded."""
    request = tools_pb2.SearchRequest(matter_id=matter_id, query=f"How high are the monthly fees in month {number}?")
    return "found" if (await ToolServiceStub(channel).Search(request)).results else "nothing"


CALLS = {"Chat": chatted, "Search": searched}


async def main(method: str, target: str, calls: int, matter_id: str) -> None:
    options = (("grpc.use_local_subchannel_pool", 1),)
    channels = [grpc.aio.insecure_channel(target, options=options) for _ in range(CHANNELS)]
    await asyncio.gather(*(channel.channel_ready() for channel in channels))
    ends: Counter[str] = Counter()
    refused_after_s = 0.0

    async def call(number: int) -> None:
        nonlocal refused_after_s
        begun = time.monotonic()
        try:
            ends[await CALLS[method](channels[number % CHANNELS], matter_id, number)] += 1
        except grpc.aio.AioRpcError as error:
            ends[told(error)] += 1
            refused_after_s = max(refused_after_s, time.monotonic() - begun)

    await asyncio.gather(*(call(number) for number in range(calls)))
    print(json.dumps({"ends": ends, "refused_after_s": round(refused_after_s, 2)}))
    for channel in channels:
        await channel.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
