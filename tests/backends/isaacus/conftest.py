"""Clients of the stand-in for Isaacus's API."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from proviso_service.backends.isaacus.client import IsaacusClient, IsaacusConfig
from proviso_service.backends.isaacus.retrieval import IsaacusEmbedder
from tests.support.isaacus_server import KEY, IsaacusServer, isaacus_server


@dataclass
class IsaacusWorld:
    """The stand-in for the API, and clients of it. `waits` are the seconds that a client would have waited before its
    retries."""

    server: IsaacusServer
    stack: AsyncExitStack
    waits: list[float] = field(default_factory=list)

    def client(self, key: str = KEY, base_url: str = "", **settings: Any) -> IsaacusClient:
        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        opened = IsaacusClient.open(key, base_url or self.server.base_url, IsaacusConfig(**settings), sleep)
        self.stack.push_async_callback(opened.close)
        return opened

    def embedder(self, client: IsaacusClient | None = None, **settings: Any) -> IsaacusEmbedder:
        settings = {"dimensions": 8} | settings
        return IsaacusEmbedder(client or self.client(**settings), IsaacusConfig(**settings))


@pytest.fixture
async def world() -> AsyncIterator[IsaacusWorld]:
    async with isaacus_server() as server, AsyncExitStack() as stack:
        yield IsaacusWorld(server, stack)
