"""The service, started with the command of the page."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

_START_LIMIT_S = 240


@asynccontextmanager
async def serving(command: str, folder: Path, environment: Mapping[str, str]) -> AsyncIterator[str]:
    """The address of the service, on a free port; it keeps its data in `folder`. It is ended with the block."""
    chosen = {
        "PROVISO_SERVER__PORT": "0",
        "PROVISO_DATA_DIR": str(folder / "data"),
        "PROVISO_TELEMETRY__LOG_FORMAT": "json",
    }
    pipe, with_stdout = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", command, cwd=folder, env={**environment, **chosen}, stdout=pipe, stderr=with_stdout,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    address = asyncio.get_running_loop().create_future()
    reading = asyncio.create_task(_read(process.stdout, address))
    try:
        async with asyncio.timeout(_START_LIMIT_S):
            found = await address
        yield found
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        await reading


async def _read(log: asyncio.StreamReader, address: "asyncio.Future[str]") -> None:
    """Reads to the end, so that the service never waits for its log to be read."""
    before = []
    async for line in log:
        if address.done():
            continue
        before.append(line.decode())
        if '"serving"' in before[-1]:
            address.set_result(json.loads(before[-1])["address"])
    if not address.done():
        address.set_exception(AssertionError("the service has not started:\n" + "".join(before)))
