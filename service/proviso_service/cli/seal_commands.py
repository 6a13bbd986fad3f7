"""`proviso seal`: the commands with their flags. What they do is in `seal.py`, which is imported when one runs."""

from pathlib import Path
from typing import Annotated

import typer

from proviso_service.cli.configuration import DataDir

seal = typer.Typer(
    name="seal",
    help="Keys that seal originals and backups of a data folder.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Tenant = Annotated[str, typer.Argument(help="The tenant.", metavar="TENANT")]


@seal.command("new-key")
def new_key(path: Annotated[Path, typer.Argument(help="A new file for the master key.", metavar="FILE")]) -> None:
    """Make a master key, for PROVISO_STORAGE__SEAL_KEYS.

    Keep a copy of it apart from the backups: without it nothing that is sealed can be read.
    """
    from proviso_service.cli.seal import make_key

    make_key(path)


@seal.command("status")
def status(data_dir: DataDir = None) -> None:
    """Show which tenants have a key, and how many originals lie unsealed."""
    from proviso_service.cli.seal import show

    show(data_dir)


@seal.command("originals")
def originals(data_dir: DataDir = None) -> None:
    """Seal the originals that were uploaded before they were sealed; the service may be running.

    Running it again is safe. Exits with 1 when originals could not be sealed.
    """
    from proviso_service.cli.seal import seal_all

    raise typer.Exit(seal_all(data_dir))


@seal.command("rotate-master")
def rotate_master(data_dir: DataDir = None) -> None:
    """Have a new master key wrap the keys of all tenants, and give the old one up; the service may be running.

    When it breaks off, nothing is lost: run it again.
    """
    from proviso_service.cli.seal import rotate_master

    rotate_master(data_dir)


@seal.command("rotate")
def rotate(tenant: Tenant, data_dir: DataDir = None) -> None:
    """Have a new key seal what is added for a tenant from now on; the service may be running."""
    from proviso_service.cli.seal import rotate

    rotate(data_dir, tenant)


@seal.command("destroy")
def destroy(
    tenant: Tenant,
    data_dir: DataDir = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Destroy the key of a tenant: its originals and all of its backups cannot be read any more, for good.

    Texts, vectors and conversations in the state stay until they are deleted.
    """
    if not yes:
        question = f"Originals and backups of {tenant} will never be readable again. Destroy its key?"
        typer.confirm(question, abort=True)
    from proviso_service.cli.seal import destroy

    destroy(data_dir, tenant)
