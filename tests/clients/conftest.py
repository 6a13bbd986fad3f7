"""Fixtures of the tests of the Python client. Those that use `staged` share the event loop of their module."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from proviso import AsyncClient
from tests.support.client_kinds import Connect, connect_blocking
from tests.support.marked_tools import needing_approval
from tests.support.stage import Stage, stage

APPROVED_TOOL = "isaacus_extract"
MAX_UPLOAD_BYTES = 24 * 1024 * 1024


@pytest.fixture(params=["asyncio", "blocking"])
def connect(request: pytest.FixtureRequest) -> Connect:
    """Makes either client, with the surface of the one for asyncio."""
    return AsyncClient if request.param == "asyncio" else connect_blocking


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def staged(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[Stage]:
    """A service that lives as long as the tests of a module; `isaacus_extract` needs an approval."""
    data_dir, documents = tmp_path_factory.mktemp("stage") / "data", {"max_upload_bytes": MAX_UPLOAD_BYTES}
    with needing_approval(APPROVED_TOOL):
        async with stage(data_dir, models_dir, documents=documents) as running:
            yield running
