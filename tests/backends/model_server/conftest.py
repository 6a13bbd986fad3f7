"""Clients of the stand-in for a model server."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import SecretStr

from proviso_service.backends.model_server.client import ModelServer, ModelServerConfig
from proviso_service.backends.model_server.embedding import ServerEmbedder
from proviso_service.backends.model_server.pairs import PairScorer
from proviso_service.model_address import ServerAddress
from tests.support.tei_server import TeiServer, tei_server


@dataclass
class TeiWorld:
    """Stand-ins that are closed with the test. `waits` are the seconds that clients would have waited before their
    retries."""

    stack: AsyncExitStack
    waits: list[float] = field(default_factory=list)

    async def server(self, kind: str = "embedding", labels: Sequence[str] = ("LABEL_0",), **prompts: str) -> TeiServer:
        return await self.stack.enter_async_context(tei_server(kind, labels, prompts))

    def client(self, address: str, **config: Any) -> ModelServer:
        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        opened = ModelServer.open(ServerAddress.of(SecretStr(address)), ModelServerConfig(**config), sleep)
        self.stack.push_async_callback(opened.close)
        return opened

    async def embedder(self, server: TeiServer, model: str = "", **config: Any) -> ServerEmbedder:
        address = server.address("/v1" if model else "")
        return await ServerEmbedder.start(self.client(address, **config), model)

    async def reranker(self, server: TeiServer, **config: Any) -> PairScorer:
        return await PairScorer.reranker(self.client(server.address(), **config))

    async def classifier(self, server: TeiServer, **config: Any) -> PairScorer:
        return await PairScorer.classifier(self.client(server.address(), **config))


@pytest.fixture
async def world() -> AsyncIterator[TeiWorld]:
    async with AsyncExitStack() as stack:
        yield TeiWorld(stack)
