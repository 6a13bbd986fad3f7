"""`proviso health`: whether a server serves; for container health checks."""

from typing import Annotated

import typer


def health(
    address: Annotated[str, typer.Option(help="The server, host:port.")] = "127.0.0.1:50051",
) -> None:
    """Exit with 0 when the server is SERVING, with 1 and one line when it is not."""
    import asyncio

    from proviso_service.cli.client import connect

    async def ask() -> None:
        async with connect(address):
            typer.echo("SERVING")

    asyncio.run(ask())
