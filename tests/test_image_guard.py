"""The service as it runs connects to nothing of its own network, whatever a message names."""

import asyncio
from pathlib import Path

from proviso_service.images.destinations import NOT_ALLOWED, NOT_PUBLIC
from tests.support.running import RunningService, final_of, running_service
from tests.support.scripted_model import text


async def notes(service: RunningService, *urls: str) -> list[str]:
    """Of the images of a turn that was answered all the same."""
    final = final_of(await service.ask("Hello.", image_urls=urls))
    assert final.message == "Hello."
    assert not any(asset.included for asset in final.request_context.assets)
    return [asset.note for asset in final.request_context.assets]


async def test_no_image_is_loaded_from_the_machine_itself(tmp_path: Path, models_dir: Path) -> None:
    callers = 0

    async def count(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal callers
        callers += 1
        writer.close()

    async with (
        await asyncio.start_server(count, "127.0.0.1", 0) as own,
        running_service(tmp_path, models_dir, text("Hello.")) as service,
    ):
        port = own.sockets[0].getsockname()[1]
        hosts = ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1")
        assert await notes(service, *(f"https://{host}:{port}/a.png" for host in hosts)) == [NOT_PUBLIC] * 5
    assert callers == 0


async def test_the_setting_of_allowed_hosts_is_honoured(tmp_path: Path, models_dir: Path) -> None:
    images = {"allowed_hosts": ["files.example.org"]}
    async with running_service(tmp_path, models_dir, text("Hello."), images=images) as service:
        assert await notes(service, "https://other.example.org/a.png") == [NOT_ALLOWED]
