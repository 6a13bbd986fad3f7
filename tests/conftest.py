"""Fixtures of the whole suite. Services here are real: a server on a port, a channel to it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

from tests.fixtures.models import embedder, extractor, models_dir
from tests.fixtures.postgres import own_postgres, postgres_server
from tests.fixtures.redis import own_redis, redis_server
from tests.fixtures.s3 import bucket, s3_port
from tests.support.running import RunningService, running_service

# The suite draws the same examples every time, half as many as Hypothesis would; `pytest
# --hypothesis-profile=explore` looks for new ones.
settings.register_profile("suite", max_examples=50, derandomize=True, deadline=None, database=None)
settings.register_profile("explore", max_examples=2_000, deadline=None, database=None)
settings.load_profile("suite")

__all__ = [
    "bucket",
    "embedder",
    "extractor",
    "models_dir",
    "own_postgres",
    "own_redis",
    "postgres_server",
    "redis_server",
    "s3_port",
    "service",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that may take long come first, so that no process is left alone with one when the others are done."""
    items.sort(key=lambda item: not _may_take_long(item))


def _may_take_long(item: pytest.Item) -> bool:
    limit = item.get_closest_marker("timeout")
    return limit is not None and limit.args[0] >= 300


@pytest.fixture(scope="session", autouse=True)
def plain_logs() -> None:
    """Log lines go to the standard library, where pytest keeps them for failed tests; structlog's own default draws
    pictures of tracebacks, which takes longer than what is logged."""
    structlog.configure(
        processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()],
        logger_factory=structlog.stdlib.LoggerFactory(),
    )


@pytest.fixture(scope="session", autouse=True)
def no_keys() -> Iterator[None]:
    """Nothing is sent to anybody, and nothing is paid for, by tests of a machine where keys are set."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "ISAACUS_API_KEY", "ISAACUS_BASE_URL"):
            environment.delenv(name, raising=False)
        yield


@pytest.fixture
async def service(tmp_path: Path, models_dir: Path) -> AsyncIterator[RunningService]:
    """The whole service with its embedded models, and a channel to it."""
    async with running_service(tmp_path / "data", models_dir) as running:
        yield running
