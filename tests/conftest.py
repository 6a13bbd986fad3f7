"""Fixtures of the whole suite. Services here are real: a server on a port, a channel to it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fixtures.models import embedder, models_dir
from tests.support.running import RunningService, running_service

__all__ = ["embedder", "models_dir", "service"]


@pytest.fixture
async def service(tmp_path: Path, models_dir: Path) -> AsyncIterator[RunningService]:
    """The whole service with its embedded models, and a channel to it."""
    async with running_service(tmp_path / "data", models_dir) as running:
        yield running
