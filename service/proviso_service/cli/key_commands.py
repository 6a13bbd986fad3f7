"""`proviso keys`: the commands with their flags. What they do is in `keys.py`, which is imported when one runs."""

from typing import Annotated

import typer

from proviso_service.cli.configuration import DataDir
from proviso_service.identity import Role

keys = typer.Typer(
    name="keys", help="API keys of the service in a data folder.", no_args_is_help=True, rich_markup_mode=None
)


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="What the key is for; the user of calls that name none.", metavar="NAME")],
    tenant: Annotated[str, typer.Option(help="The tenant whose data the key opens.", metavar="TENANT")],
    role: Annotated[list[Role] | None, typer.Option(help="A role of the key; more than one by repeating it.")] = None,
    matter: Annotated[
        list[str] | None, typer.Option(help="Id of a matter: the key opens no other.", metavar="ID")
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, help="Days until the key expires [default: never].", metavar="DAYS")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Make a key and print it; it is shown this once.

    To rotate a key make a second one, give it to the callers, and revoke the first: both are valid meanwhile.
    """
    from proviso_service.cli.keys import create

    create(data_dir, tenant, name, role or [], matter or [], days)


@keys.command("list")
def list_keys(
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each key.")] = False,
) -> None:
    """List all keys with their roles, state and last use."""
    from proviso_service.cli.keys import show

    show(data_dir, as_json=as_json)


@keys.command("revoke")
def revoke_key(
    key: Annotated[str, typer.Argument(help="The key, or what `proviso keys list` shows of it.", metavar="KEY")],
    data_dir: DataDir = None,
) -> None:
    """Revoke a key; a running service refuses it from the next call on."""
    from proviso_service.cli.keys import revoke

    revoke(data_dir, key)
