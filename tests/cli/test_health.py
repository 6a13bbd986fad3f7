import asyncio
import sys

import pytest

from proviso_service.cli.connection import check_health
from proviso_service.cli.output import CommandError
from proviso_service.cli.server_options import Server
from tests.support.running import RunningService


async def test_an_absent_server_fails_in_one_line() -> None:
    with pytest.raises(CommandError) as caught:
        await check_health(Server("127.0.0.1:1"))
    assert caught.value.exit_code == 1
    assert "\n" not in caught.value.message


async def test_a_serving_server_is_told(service: RunningService) -> None:

    command = [sys.executable, "-m", "proviso_service.cli", "health", "--address", f"127.0.0.1:{service.app.port}"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    assert (process.returncode, output.decode().strip()) == (0, "SERVING")
