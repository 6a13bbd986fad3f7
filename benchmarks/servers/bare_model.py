"""The bare server with the benchmark's chat model behind it. It shows what LangChain's messages cost before anything is
added.

`python -m benchmarks.servers.bare_model`"""

import asyncio
from collections.abc import AsyncIterator

from benchmarks.chat_model import BenchmarkChatModel
from benchmarks.load import WORKLOADS, Workload
from benchmarks.servers.bare import BareChat, serve


class ModelChat(BareChat):
    """Streams the texts of the chat model, one message for each of its chunks."""

    def __init__(self) -> None:
        self._models = {name: BenchmarkChatModel.of(workload) for name, workload in WORKLOADS.items()}

    async def texts(self, workload: Workload) -> AsyncIterator[str]:
        async for generation in self._models[workload.name]._astream([]):
            yield str(generation.message.content)


if __name__ == "__main__":
    asyncio.run(serve(ModelChat()))  # type: ignore[abstract]  # nothing but Chat is asked for
