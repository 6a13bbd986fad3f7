"""`proviso audit`: the audit in a data folder is checked and exported, also while the service runs.

What the commands need is imported when they run, because `proviso --help` reads this module."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proviso_service.cli.configuration import DataDir, load_settings
from proviso_service.cli.output import CommandError, UsageProblem, print_json

if TYPE_CHECKING:
    from proviso_service.access import AuditEvent, Verification

commands = typer.Typer(
    name="audit", help="The audit of what was done, in a data folder.", no_args_is_help=True, rich_markup_mode=None
)


@commands.command("verify")
def check(
    head: Annotated[
        list[str] | None, typer.Option(help="A head of an earlier export; its event must be there.", metavar="HASH")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Find out whether events were changed, removed or put into another order.

    Events that were removed at the end are found by a head that was printed before. Exits with 1 when something is
    wrong.
    """
    from proviso_service.access import verify

    found = _walk(data_dir, "proviso audit verify", lambda events: verify(events, head or []))
    _tell(found)


@commands.command("export")
def export(data_dir: DataDir = None) -> None:
    """Write all events as JSON lines; the heads are told on standard error.

    Keep the heads where nobody who can change the data folder can change them.
    """
    from dataclasses import asdict

    from proviso_service.access import verify

    def written(events: "Iterator[AuditEvent]") -> "Iterator[AuditEvent]":
        for event in events:
            print_json(asdict(event))
            yield event

    _tell(_walk(data_dir, "proviso audit export", lambda events: verify(written(events))), err=True)


def _walk(
    data_dir: Path | None, command: str, work: "Callable[[Iterator[AuditEvent]], Verification]"
) -> "Verification":
    from proviso_service.backends.sql.audit import SqlAuditStore
    from proviso_service.cli.state import has_state, on_state

    settings = load_settings({("data_dir",): data_dir})
    if not has_state(settings):
        raise UsageProblem(f"There is no audit in {settings.data_dir}")
    return on_state(settings, command, lambda database: SqlAuditStore(database).walk(work))


def _tell(found: "Verification", *, err: bool = False) -> None:
    for tenant, head in found.heads.items():
        typer.echo(f"head of {tenant or 'calls without credentials'}: {head}", err=err)
    if found.fault:
        raise CommandError(f"The audit is broken: {found.fault}")
    typer.echo(f"{found.events} events, none changed, removed or put into another order", err=err)
