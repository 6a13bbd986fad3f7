"""`proviso history`: the messages of a session, as text or as JSON Lines."""

import sys
from typing import Annotated

import typer


def history(
    session: Annotated[str, typer.Argument(help="The session, as named by proviso chat --session.")],
    address: Annotated[str, typer.Option(help="The server, host:port.")] = "127.0.0.1:50051",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON line for each message, with the contract's field names.")
    ] = False,
) -> None:
    """Show the messages of a session, oldest first.

    Each answer says how its turn ended, which tools it called, and what its context was.
    """
    import asyncio

    asyncio.run(_run(session, address, as_json=as_json))


async def _run(session_id: str, address: str, *, as_json: bool) -> None:
    from proviso_client.history import json_lines, message_text
    from proviso_service.cli.client import connect
    from proviso_service.cli.output import printable
    from proviso_service.cli.sessions import pages_of_messages

    async with connect(address) as client:
        async for page in pages_of_messages(client, session_id):
            blocks = json_lines(page) if as_json else (f"{printable(message_text(message))}\n" for message in page)
            for block in blocks:
                sys.stdout.write(f"{block}\n")
