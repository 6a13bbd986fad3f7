"""What replicas share, each in a process of its own: PostgreSQL, Redis and an S3 store; and their CPU time."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.process_tree import descendants
from benchmarks.processes import Child, cpu_s_of, running
from tests.support.postgres_server import PostgresServer
from tests.support.redis_server import RedisServer
from tests.support.s3_server import Bucket, environment, s3_server

READY_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Shared:
    """The running servers. PostgreSQL writes without fsync and vacuums nothing, as in the tests: CPU time is measured,
    and not the disk."""

    postgres: PostgresServer
    redis: RedisServer
    storage: Mapping[str, str]
    """The settings of a service that uses all of them."""

    variables: Mapping[str, str]
    """What the environment of a service needs."""

    @property
    def postgres_cpu_s(self) -> float:
        """That of all its processes; those of connections that were closed are missing."""
        seconds = 0.0
        for pid in (self.postgres.pid, *descendants(self.postgres.pid)):
            with suppress(OSError):  # it has ended meanwhile
                seconds += cpu_s_of(pid)
        return seconds

    @property
    def redis_cpu_s(self) -> float:
        return cpu_s_of(self.redis.pid)

    def stored_bytes(self) -> int:
        """What the database of the state takes on the disk."""
        name = self.storage["state_url"].rpartition("/")[2]
        [(size,)] = self.postgres.sql(f"SELECT pg_database_size('{name}')")
        return int(size)


@asynccontextmanager
async def shared_servers(folder: Path) -> AsyncIterator[Shared]:
    """Starts them, with an empty state."""
    async with AsyncExitStack() as stack:
        postgres = stack.enter_context(PostgresServer())
        redis = stack.enter_context(RedisServer(folder / "redis"))
        port = stack.enter_context(s3_server())
        storage = {
            "state_url": stack.enter_context(postgres.state()),
            "redis_url": redis.url,
            "blob_url": Bucket.new(port).url,
        }
        yield Shared(postgres, redis, storage, environment(port))


@asynccontextmanager
async def service(
    data_dir: Path, models_dir: Path, settings: Mapping[str, Any], **options: Any
) -> AsyncIterator[tuple[Child, str]]:
    """Runs the service with the benchmark's models and these settings, and with the options of `running`. Yields it and
    its address. Raises ProcessFailed."""
    arguments = ("benchmarks.servers.service", str(data_dir), str(models_dir), json.dumps(settings))
    async with running(data_dir.with_suffix(".log"), *arguments, **options) as server:
        yield server, f"127.0.0.1:{json.loads(await server.line(READY_TIMEOUT_S))['port']}"
