"""`proviso ingest`: documents from files and folders into a matter."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proviso_service.cli.problems import CommandError, UsageProblem

if TYPE_CHECKING:
    from proviso_service.cli.discovery import Found
    from proviso_service.cli.uploads import Outcome


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders (.md .markdown .txt .text).")],
    matter: Annotated[str, typer.Option(help="Name of the matter; made when there is none.")],
    address: Annotated[str, typer.Option(help="The server, host:port.")] = "127.0.0.1:50051",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each file, then a summary.")] = False,
) -> None:
    """Upload documents to a matter and wait until they can be searched.

    Running it again is safe: files that the matter holds already are left as they are.
    """
    import asyncio

    from proviso_service.cli.discovery import discover
    from proviso_service.cli.ingest_report import report

    if not 1 <= len(matter.strip()) <= 512:
        raise UsageProblem("--matter must be a name of 1 to 512 characters")
    found = discover(paths)
    if not found.files:
        raise CommandError(f"Nothing to ingest: {len(found.skipped)} files found, none of a supported type")
    try:
        outcomes = asyncio.run(_run(found, matter, address, as_json=as_json))
    except KeyboardInterrupt:
        typer.echo("Stopped. What is uploaded stays; run the same command again to go on.", err=True)
        raise
    report(found, outcomes, matter, as_json=as_json)
    if any(outcome.result == "failed" for outcome in outcomes):
        raise typer.Exit(1)


async def _run(found: "Found", matter_name: str, address: str, *, as_json: bool) -> "list[Outcome]":
    from proviso_service.cli.client import connect, create_matter, newest_matter
    from proviso_service.cli.ingest_report import showing_progress
    from proviso_service.cli.uploads import Ingest

    async with connect(address) as client:
        matter = await newest_matter(client, matter_name) or await create_matter(client, matter_name)
        with showing_progress(len(found.files), as_json=as_json) as progress:
            outcomes = await Ingest(client, matter.matter_id, found.files, progress).run()
    return outcomes
