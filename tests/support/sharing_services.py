"""Services that share a state, uploaded files and a Redis, each with a channel of its own."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from proviso_service.backends.folder_lock import FolderLock
from tests.support.migrated import state_in
from tests.support.redis_server import RedisServer
from tests.support.running import RunningService, running_service
from tests.support.scripted_model import Step


@contextmanager
def _its_folder_alone(data_dir: Path, *_shared: Path | None) -> Iterator[None]:
    with FolderLock(data_dir):
        yield


@dataclass(frozen=True)
class SharingServices:
    """Begins such services. An SQLite state stands for one that processes may share: its lock is left out."""

    folder: Path
    models_dir: Path
    redis: RedisServer

    @classmethod
    def in_folder(
        cls, folder: Path, models_dir: Path, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
    ) -> "SharingServices":
        monkeypatch.setattr("proviso_service.wiring.locked", _its_folder_alone)
        return cls(folder, models_dir, redis)

    @asynccontextmanager
    async def service(self, name: str, *script: Step, **settings: Any) -> AsyncIterator[RunningService]:
        storage = {
            "redis_url": self.redis.url,
            "state_url": state_in(self.folder / "state"),
            "blob_url": str(self.folder / "blobs"),
        }
        async with running_service(
            self.folder / name, self.models_dir, *script, storage=storage, **settings
        ) as running:
            yield running

    @asynccontextmanager
    async def two(self, *script: Step, **settings: Any) -> AsyncIterator[tuple[RunningService, RunningService]]:
        """Two of them; the first one has the model that plays `script`."""
        async with self.service("first", *script, **settings) as first, self.service("second", **settings) as second:
            yield first, second
