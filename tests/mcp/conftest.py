"""Published servers, ready to be started. The first run installs them."""

from pathlib import Path

import pytest

from tests.support.mcp_packages import everything_server, time_server


@pytest.fixture(scope="session")
def time_program() -> Path:
    return time_server()


@pytest.fixture(scope="session")
def everything_script() -> Path:
    return everything_server()
