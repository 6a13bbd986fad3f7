"""Fixtures of the tests of clients. Those that use `staged` share the event loop of their module."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from proviso_client import AsyncClient
from tests.support.client_kinds import Connect, connect_blocking
from tests.support.go_smoke import GoModule, built_module
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


@pytest.fixture(scope="session")
def go_module(tmp_path_factory: pytest.TempPathFactory) -> GoModule:
    """One for all processes of a test run."""
    base = tmp_path_factory.getbasetemp()
    several = "PYTEST_XDIST_WORKER" in os.environ
    return built_module((base.parent if several else base) / "go-client")
