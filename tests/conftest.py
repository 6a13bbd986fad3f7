"""Fixtures of the whole suite. Services here are real: a server on a port, a channel to it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import structlog

from tests.fixtures.models import embedder, models_dir
from tests.support.running import RunningService, running_service

__all__ = ["embedder", "models_dir", "service"]


@pytest.fixture(scope="session", autouse=True)
def plain_logs() -> None:
    """Log lines go to the standard library, where pytest keeps them for failed tests; structlog's own default draws
    pictures of tracebacks, which takes longer than what is logged."""
    structlog.configure(
        processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()],
        logger_factory=structlog.stdlib.LoggerFactory(),
    )


@pytest.fixture
async def service(tmp_path: Path, models_dir: Path) -> AsyncIterator[RunningService]:
    """The whole service with its embedded models, and a channel to it."""
    async with running_service(tmp_path / "data", models_dir) as running:
        yield running
