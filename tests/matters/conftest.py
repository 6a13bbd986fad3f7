"""Matters on real storage and the real embedding model."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from proviso_service.embedded import MiniLmEmbedder
from tests.support.matters_world import MattersWorld, matters_world


@pytest.fixture
async def world(tmp_path: Path, embedder: MiniLmEmbedder) -> AsyncIterator[MattersWorld]:
    """Storage with an open Matters on it."""
    async with matters_world(tmp_path, embedder) as world, world.running():
        yield world


@pytest.fixture
async def idle_world(tmp_path: Path, embedder: MiniLmEmbedder) -> AsyncIterator[MattersWorld]:
    """Storage on which nothing runs yet."""
    async with matters_world(tmp_path, embedder) as world:
        yield world
