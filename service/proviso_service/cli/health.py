"""`proviso health`: whether a server serves; for container health checks."""

from typing import Annotated

import typer

from proviso_service.cli.client import DEFAULT_ADDRESS, connect


def health(
    address: Annotated[str, typer.Option(help="Server to ask, host:port.")] = DEFAULT_ADDRESS,
) -> None:
    """Exit with 0 when the server is SERVING, with 1 and one line when it is not."""
    import asyncio

    async def ask() -> None:
        async with connect(address):
            typer.echo("SERVING")

    asyncio.run(ask())
