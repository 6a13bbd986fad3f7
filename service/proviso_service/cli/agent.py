"""`proviso agent`: work on an agent's folder."""

from pathlib import Path
from typing import Annotated

import typer

agent = typer.Typer(name="agent", help="Work on an agent's folder.", no_args_is_help=True, rich_markup_mode=None)


@agent.callback()
def _group() -> None:
    """Keeps `check` a command of its own while it is the only one."""


@agent.command()
def check(
    path: Annotated[Path | None, typer.Argument(help="The folder [default: that of the settings].")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each item or fault.")] = False,
) -> None:
    """Read an agent's folder as the service would, and show its items or everything that is wrong with it.

    Variables that enabled MCP servers name must be set, as for the service.
    """
    from proviso_service.cli.agent_check import check_agent

    raise typer.Exit(check_agent(path, as_json=as_json))
