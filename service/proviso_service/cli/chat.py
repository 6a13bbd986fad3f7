"""`proviso chat`: a conversation about a matter, streamed."""

import sys
import uuid
from typing import TYPE_CHECKING, Annotated

import typer

from proviso_service.cli.problems import CommandError, UsageProblem

if TYPE_CHECKING:
    import asyncio

    from proviso_service.cli.conversation import Conversation


def chat(
    matter: Annotated[str, typer.Option(help="Name of the matter to talk about; none when left out.")] = "",
    document: Annotated[str, typer.Option(help="File name of the document on view.")] = "",
    session: Annotated[str, typer.Option(help="Conversation to go on with; a new one when left out.")] = "",
    message: Annotated[str | None, typer.Option(help="Ask this one message and end.")] = None,
    address: Annotated[str, typer.Option(help="The server, host:port.")] = "127.0.0.1:50051",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each event; needs --message.")] = False,
) -> None:
    """Talk to the assistant about a matter.

    Lines that begin with a slash are commands; /help lists them. Ctrl-C cancels the answer under way, a second one
    leaves; Ctrl-D ends the conversation.
    """
    if document and not matter:
        raise UsageProblem("--document needs --matter, the matter that holds it")
    if as_json and message is None:
        raise UsageProblem("--json needs --message, the message to ask")
    import asyncio

    from proviso_service.cli.conversation import Conversation

    session_id = session or f"cli-{uuid.uuid4().hex[:12]}"
    with asyncio.Runner() as runner:
        conversation = runner.run(Conversation.open(address, matter, document, session_id, as_json=as_json))
        try:
            if message is None:
                _talk(runner, conversation)
            else:
                raise typer.Exit(runner.run(conversation.ask(message)))
        finally:
            runner.run(conversation.close())


def _talk(runner: "asyncio.Runner", conversation: "Conversation") -> None:
    """Reads messages in the main thread, so that Ctrl-C at the prompt leaves at once."""
    conversation.greet()
    while True:
        try:
            message = input("\n> ")
        except EOFError:
            break
        if message.strip() in {"exit", "quit"}:
            break
        if message.strip():
            _ask(runner, conversation, message)
    conversation.part()


def _ask(runner: "asyncio.Runner", conversation: "Conversation", message: str) -> None:
    """A message, or a command. A failed call does not end the conversation."""
    try:
        runner.run(conversation.command(message) if message.startswith("/") else conversation.ask_next(message))
    except CommandError as error:
        sys.stderr.write(f"proviso: {error.message}\n")
