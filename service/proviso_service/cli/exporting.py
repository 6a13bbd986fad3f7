"""`proviso export`: a matter as one archive, in a file."""

import asyncio
from pathlib import Path
from typing import BinaryIO

from proviso_client import AsyncClient
from proviso_service.cli.connection import connect, find_matter
from proviso_service.cli.output import CommandError, console
from proviso_service.cli.server_options import Server


def export(server: Server, matter_name: str, file: Path, *, all_conversations: bool) -> None:
    """Writes the archive to a new file, which is there only once it is whole. Raises CommandError."""
    if file.exists():
        raise CommandError(f"{file} is there already: name a new file")
    unfinished = file.with_name(f"{file.name}.unfinished")
    try:
        with unfinished.open("wb") as opened:
            size = asyncio.run(_write(server, matter_name, opened, all_conversations))
        unfinished.rename(file)
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    console().print(f"Exported {matter_name} to {file} ({size / 1e6:,.1f} MB); manifest.json in it says what it holds")


async def _write(server: Server, matter_name: str, file: BinaryIO, all_conversations: bool) -> int:
    size = 0
    async with connect(server) as connection:
        client: AsyncClient = connection.client
        matter = await find_matter(client, matter_name)
        async for piece in client.matters.export(matter.matter_id, all_conversations=all_conversations):
            size += await asyncio.to_thread(file.write, piece)
    return size
