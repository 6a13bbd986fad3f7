"""One service for each section of the contract, and both ways of asking it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.contract_world import ContractWorld, Mode, contract_world
from tests.support.running import AGREEMENT


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[ContractWorld]:
    async with contract_world(tmp_path_factory.mktemp("contract") / "data", models_dir) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def new_matter(world: ContractWorld) -> str:
    """A matter with the agreement, of which the caches hold nothing."""
    return await world.service.create_matter(Services_Agreement=AGREEMENT)


@pytest.fixture(params=list(Mode))
def mode(request: pytest.FixtureRequest) -> Mode:
    """For statements that hold however a turn is asked for."""
    return Mode(request.param)
