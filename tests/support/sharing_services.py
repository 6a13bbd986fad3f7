"""Services that share a state in PostgreSQL, uploaded files in an S3 store and a Redis, each with a channel of its
own."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.postgres_server import PostgresServer
from tests.support.redis_server import RedisServer
from tests.support.running import RunningService, running_service
from tests.support.s3_server import Bucket, environment
from tests.support.scripted_model import Step


@contextmanager
def shared_storage(postgres: PostgresServer, redis: RedisServer, s3_port: int) -> Iterator[dict[str, str]]:
    """The settings of a storage that services may share, with a database and a bucket of its own."""
    with postgres.state() as state_url, pytest.MonkeyPatch.context() as variables:
        for name, value in environment(s3_port).items():
            variables.setenv(name, value)
        yield {"state_url": state_url, "redis_url": redis.url, "blob_url": Bucket.new(s3_port).url}


@dataclass(frozen=True)
class SharingServices:
    """Begins such services."""

    folder: Path
    models_dir: Path
    redis: RedisServer
    storage: Mapping[str, str]

    @asynccontextmanager
    async def service(self, name: str, *script: Step, **settings: Any) -> AsyncIterator[RunningService]:
        async with running_service(
            self.folder / name, self.models_dir, *script, storage=dict(self.storage), **settings
        ) as running:
            yield running

    @asynccontextmanager
    async def two(self, *script: Step, **settings: Any) -> AsyncIterator[tuple[RunningService, RunningService]]:
        """Two of them; the first one has the model that plays `script`."""
        async with self.service("first", *script, **settings) as first, self.service("second", **settings) as second:
            yield first, second
