"""One world for each section of the contract, on both storages, and both ways of asking it."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.contract_world import ContractWorld, Mode, contract_world
from tests.support.running import AGREEMENT
from tests.support.sharing_services import shared_storage

NewStorage = Callable[[], AbstractContextManager[dict[str, str]]]


class Storage(StrEnum):
    """Where a service keeps what it has: on its own disk, or where replicas share it."""

    EMBEDDED = "embedded"
    REPLICAS = "replicas"


@pytest.fixture(scope="module", params=list(Storage))
def new_storage(request: pytest.FixtureRequest) -> NewStorage:
    """Opens a storage that nobody has used, and says by which settings it is found."""
    if request.param is Storage.EMBEDDED:
        return lambda: nullcontext({})
    servers = [request.getfixturevalue(name) for name in ("postgres_server", "redis_server", "s3_port")]
    return partial(shared_storage, *servers)


@pytest.fixture(scope="module")
def storage(new_storage: NewStorage) -> Iterator[dict[str, str]]:
    with new_storage() as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(
    tmp_path_factory: pytest.TempPathFactory, models_dir: Path, storage: dict[str, str]
) -> AsyncIterator[ContractWorld]:
    async with contract_world(tmp_path_factory.mktemp("contract") / "data", models_dir, storage) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def new_matter(world: ContractWorld) -> str:
    """A matter with the agreement, of which the caches hold nothing."""
    return await world.service.create_matter(Services_Agreement=AGREEMENT)


@pytest.fixture(params=list(Mode))
def mode(request: pytest.FixtureRequest) -> Mode:
    """For statements that hold however a turn is asked for."""
    return Mode(request.param)
