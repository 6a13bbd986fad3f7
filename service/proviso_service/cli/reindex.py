"""`proviso reindex`: the vector index built anew, by the running service or, when none runs, here."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from proviso_service.cli.reindex_report import Reindexed


def reindex(
    address: Annotated[str, typer.Option(help="The server, host:port.")] = "127.0.0.1:50051",
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder to work in when no server answers [default: .proviso].")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines of the progress, then a summary.")] = False,
) -> None:
    """Build the vector index anew from the vectors in the database.

    A running server does it while it answers. Nothing is lost when it is stopped: the index in use stays until the new
    one is ready.
    """
    import asyncio
    import time

    from proviso_service.cli.reindex_report import Reindexed, report, showing_progress

    begun = time.monotonic()
    with showing_progress(as_json=as_json) as show:

        async def run() -> "Reindexed":
            reindexed = Reindexed(0, 0)
            async for reindexed in _rebuild(address, data_dir):
                show(reindexed)
            return reindexed

        try:
            last = asyncio.run(run())
        except KeyboardInterrupt:
            typer.echo("Stopped. A running server goes on; without one, the old index stays in use.", err=True)
            raise
    report(last, time.monotonic() - begun, as_json=as_json)


async def _rebuild(address: str, data_dir: Path | None) -> "AsyncIterator[Reindexed]":
    from proviso_service.cli.client import is_listening
    from proviso_service.cli.reindex_offline import rebuild_here
    from proviso_service.cli.reindex_online import rebuild_there

    there = await is_listening(address)
    async for progress in rebuild_there(address) if there else rebuild_here(data_dir):
        yield progress
