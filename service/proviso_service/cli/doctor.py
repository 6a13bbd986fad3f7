"""`proviso doctor`: whether the service could start here, and what to mend if not."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from proviso_service.cli.checks import Finding


def doctor(
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of everything the service keeps [default: .proviso].")
    ] = None,
    models_dir: Annotated[
        Path | None, typer.Option(help="Folder of the embedded models [default: models in the data folder].")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The findings as one JSON object.")] = False,
) -> None:
    """Check settings, storage, models and port; say how to mend what is wrong.

    Changes nothing. Exits with 1 when something would keep the service from working.
    """
    import asyncio

    from proviso_service.cli.checks import Level, examine

    findings = asyncio.run(examine(data_dir, models_dir))
    healthy = all(finding.level is not Level.FAIL for finding in findings)
    if as_json:
        _print_json(findings, healthy=healthy)
    else:
        _print(findings)
    raise typer.Exit(0 if healthy else 1)


def _print_json(findings: "list[Finding]", *, healthy: bool) -> None:
    from dataclasses import asdict

    from proviso_service.cli.output import print_json

    print_json({"healthy": healthy, "checks": [asdict(finding) for finding in findings]})


def _print(findings: "list[Finding]") -> None:
    from rich.text import Text

    from proviso_service.cli.output import console

    styles = {"ok": "green", "warn": "yellow", "fail": "bold red"}
    out = console()
    for finding in findings:
        line = Text(f"{finding.level:<4}", style=styles[finding.level])
        out.print(line.append(f"  {finding.subject}: {finding.message}", style="default"))
        if finding.remedy:
            out.print(f"      {finding.remedy}", style="dim")
