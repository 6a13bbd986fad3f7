"""`proviso ingest`: documents from files and folders into matters or the documentation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proviso_service.cli.problems import CommandError, UsageProblem

if TYPE_CHECKING:
    from proviso_service.cli.discovery import Found
    from proviso_service.cli.ingest_run import IngestRun

MAX_NAME_CHARS = 512


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders (.pdf .docx .html .md .txt).")],
    matter: Annotated[str, typer.Option(help="Name of the matter; made when there is none.")] = "",
    matter_per_folder: Annotated[
        bool, typer.Option("--matter-per-folder", help="A matter for each folder inside PATHS, named as it.")
    ] = False,
    documentation: Annotated[
        bool, typer.Option("--documentation", help="Into the documentation, which belongs to no matter.")
    ] = False,
    address: Annotated[str, typer.Option(help="The server, host:port.")] = "127.0.0.1:50051",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each file, then a summary.")] = False,
) -> None:
    """Upload documents to a matter, to several, or to the documentation, and wait until they can be searched.

    Running it again is safe: files that are there already are left as they are. Files that failed are tried again. In
    the documentation a changed file replaces the earlier one of its name as soon as it can be searched.
    """
    import asyncio

    from proviso_service.cli.ingest_report import report
    from proviso_service.cli.ingest_run import IngestRun

    found = _discover(paths, matter, per_folder=matter_per_folder, documentation=documentation)
    run = IngestRun(found, documentation)
    try:
        asyncio.run(_ingest(run, address, as_json=as_json))
    except KeyboardInterrupt:
        report(found, run.outcomes, as_json=as_json, stopped=True)
        raise
    report(found, run.outcomes, as_json=as_json)
    if any(outcome.result == "failed" for outcome in run.outcomes):
        raise typer.Exit(1)


def _discover(paths: list[Path], matter: str, *, per_folder: bool, documentation: bool) -> "Found":
    from proviso_service.cli.discovery import discover, discover_documentation, discover_matters

    if [bool(matter), per_folder, documentation].count(True) != 1:
        raise UsageProblem("Give either --matter NAME or --matter-per-folder or --documentation")
    if matter and not 1 <= len(matter.strip()) <= MAX_NAME_CHARS:
        raise UsageProblem(f"--matter must be a name of 1 to {MAX_NAME_CHARS} characters")
    if documentation:
        found = discover_documentation(paths)
    else:
        found = discover_matters(paths) if per_folder else discover(paths, matter.strip())
    if not found.files:
        raise CommandError(f"Nothing to ingest: {len(found.skipped)} files found, none of them to be read")
    return found


async def _ingest(run: "IngestRun", address: str, *, as_json: bool) -> None:
    from proviso_service.cli.client import connect
    from proviso_service.cli.ingest_report import showing_progress

    async with connect(address) as client:
        with showing_progress(run.found, as_json=as_json) as progress:
            await run.run(client, progress)
